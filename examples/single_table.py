"""A shop in one table: users, products, orders and their lines.

Run a server (`hashrange serve`) and then `python examples/single_table.py`; AWS_ENDPOINT_URL names another endpoint.

Every item has a partition key PK and a sort key SK. What they hold depends on the kind of item, and so does what the
two global secondary indexes hold (*index overloading*):

    item      PK             SK                     GSI1PK             GSI1SK                GSI2PK     GSI2SK
    user      USER#ann       PROFILE
    e-mail    EMAIL#a@b.c    EMAIL
    product   PRODUCT#tea    PRODUCT                CATEGORY#drinks    PRICE#00000450#tea
    order     USER#ann       ORDER#2026-03-01#o1    ORDER#o1           ORDER                 OPEN#3     2026-03-01#o1
    line      ORDER#o1       LINE#tea               PRODUCT#tea        ORDER#2026-03-01#o1

One query then answers each question of the shop, whatever the size of the table:

    the user and all of their orders       PK = USER#ann
    a user's orders of March               PK = USER#ann, SK begins with ORDER#2026-03
    the lines of an order                  PK = ORDER#o1
    the orders that contain a product      GSI1PK = PRODUCT#tea        (adjacency list: a line, seen from its other end)
    the products of a category by price    GSI1PK = CATEGORY#drinks    (composite, padded sort key)
    the orders not shipped yet             GSI2, every shard           (sparse: shipped orders are not in it)
"""

import os
import uuid
import zlib
from concurrent.futures import ThreadPoolExecutor

import boto3
from boto3.dynamodb.conditions import Key
from botocore.exceptions import ClientError

SHARDS = 4  # partitions that share the load of the one busy key "open orders"

dynamodb = boto3.resource(
    "dynamodb",
    endpoint_url=os.environ.get("AWS_ENDPOINT_URL", "http://127.0.0.1:8000"),
    region_name=os.environ.get("AWS_REGION", "us-east-1"),
    aws_access_key_id=os.environ.get("AWS_ACCESS_KEY_ID", "anybody"),
    aws_secret_access_key=os.environ.get("AWS_SECRET_ACCESS_KEY", "anything"),
)
transact = dynamodb.meta.client.transact_write_items


def create_shop():
    """A table whose keys say nothing about what is kept in it."""

    def index(name):
        return {
            "IndexName": name,
            "KeySchema": [
                {"AttributeName": f"{name}PK", "KeyType": "HASH"},
                {"AttributeName": f"{name}SK", "KeyType": "RANGE"},
            ],
            "Projection": {"ProjectionType": "ALL"},
        }

    keys = ("PK", "SK", "GSI1PK", "GSI1SK", "GSI2PK", "GSI2SK")
    table = dynamodb.create_table(
        TableName=f"shop-{uuid.uuid4().hex}",
        BillingMode="PAY_PER_REQUEST",
        KeySchema=[{"AttributeName": "PK", "KeyType": "HASH"}, {"AttributeName": "SK", "KeyType": "RANGE"}],
        AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in keys],
        GlobalSecondaryIndexes=[index("GSI1"), index("GSI2")],
    )
    table.wait_until_exists()
    return table


# Users: an e-mail address belongs to one of them.


def add_user(shop, name, email):
    """Only keys are unique, so the address is an item of its own, and both are written or none."""
    new = "attribute_not_exists(PK)"
    user = {"PK": f"USER#{name}", "SK": "PROFILE", "name": name, "email": email}
    claim = {"PK": f"EMAIL#{email}", "SK": "EMAIL", "user": name}
    transact(
        TransactItems=[
            {"Put": {"TableName": shop.name, "Item": user, "ConditionExpression": new}},
            {"Put": {"TableName": shop.name, "Item": claim, "ConditionExpression": new}},
        ]
    )


# Products: sorted by price within their category, changed under a version.


def price_key(sku, cents):
    """Numbers inside a string sort as numbers if they have the same width."""
    return f"PRICE#{cents:08}#{sku}"


def add_product(shop, sku, category, cents, stock):
    shop.put_item(
        Item={
            "PK": f"PRODUCT#{sku}",
            "SK": "PRODUCT",
            "GSI1PK": f"CATEGORY#{category}",
            "GSI1SK": price_key(sku, cents),
            "sku": sku,
            "cents": cents,
            "stock": stock,
            "version": 1,
        }
    )


def get_product(shop, sku):
    return shop.get_item(Key={"PK": f"PRODUCT#{sku}", "SK": "PRODUCT"}, ConsistentRead=True)["Item"]


def change_price(shop, product, cents):
    """Optimistic locking: the change happens only if nobody changed the product since it was read."""
    shop.update_item(
        Key={"PK": product["PK"], "SK": product["SK"]},
        UpdateExpression="SET cents = :cents, GSI1SK = :key, version = version + :one",
        ConditionExpression="version = :version",
        ExpressionAttributeValues={
            ":cents": cents,
            ":key": price_key(product["sku"], cents),
            ":one": 1,
            ":version": product["version"],
        },
    )


def products_of(shop, category, cheaper_than):
    condition = Key("GSI1PK").eq(f"CATEGORY#{category}") & Key("GSI1SK").lt(price_key("", cheaper_than))
    return [item["sku"] for item in shop.query(IndexName="GSI1", KeyConditionExpression=condition)["Items"]]


# Orders: written together with their lines, while the stock lasts.


def shard_of(order_id):
    return f"OPEN#{zlib.crc32(order_id.encode()) % SHARDS}"


def place_order(shop, order_id, user, date, lines):
    """One transaction: the user exists, every product is in stock and is taken from it, the order is written."""
    order = {
        "PK": f"USER#{user}",
        "SK": f"ORDER#{date}#{order_id}",
        "GSI1PK": f"ORDER#{order_id}",
        "GSI1SK": "ORDER",
        "GSI2PK": shard_of(order_id),
        "GSI2SK": f"{date}#{order_id}",
        "id": order_id,
    }
    actions = [
        {"Put": {"TableName": shop.name, "Item": order, "ConditionExpression": "attribute_not_exists(PK)"}},
        {
            "ConditionCheck": {
                "TableName": shop.name,
                "Key": {"PK": f"USER#{user}", "SK": "PROFILE"},
                "ConditionExpression": "attribute_exists(PK)",
            }
        },
    ]
    for sku, quantity in lines.items():
        line = {
            "PK": f"ORDER#{order_id}",
            "SK": f"LINE#{sku}",
            "GSI1PK": f"PRODUCT#{sku}",
            "GSI1SK": f"ORDER#{date}#{order_id}",
            "id": order_id,
            "sku": sku,
            "quantity": quantity,
        }
        take = {
            "TableName": shop.name,
            "Key": {"PK": f"PRODUCT#{sku}", "SK": "PRODUCT"},
            "UpdateExpression": "SET stock = stock - :quantity",
            "ConditionExpression": "stock >= :quantity",
            "ExpressionAttributeValues": {":quantity": quantity},
        }
        actions += [{"Put": {"TableName": shop.name, "Item": line}}, {"Update": take}]
    # The token makes it safe to send the same order again when an answer was lost. It is unique within the account.
    transact(TransactItems=actions, ClientRequestToken=f"{shop.name[-8:]}-{order_id}")


def ship_order(shop, user, date, order_id):
    """Without its index keys the order leaves the sparse index."""
    shop.update_item(
        Key={"PK": f"USER#{user}", "SK": f"ORDER#{date}#{order_id}"},
        UpdateExpression="REMOVE GSI2PK, GSI2SK SET shipped = :true",
        ConditionExpression="attribute_exists(GSI2PK)",
        ExpressionAttributeValues={":true": True},
    )


def open_orders(shop):
    """Ask every shard at once and merge the answers by date."""

    def ask(shard):
        return shop.query(IndexName="GSI2", KeyConditionExpression=Key("GSI2PK").eq(f"OPEN#{shard}"))["Items"]

    with ThreadPoolExecutor(SHARDS) as threads:
        found = [item for items in threads.map(ask, range(SHARDS)) for item in items]
    return [item["id"] for item in sorted(found, key=lambda item: item["GSI2SK"])]


def user_with_orders(shop, user):
    """The profile and the orders share a partition: one query, newest order first."""
    items = shop.query(KeyConditionExpression=Key("PK").eq(f"USER#{user}"), ScanIndexForward=False)["Items"]
    return items[0]["name"], [item["id"] for item in items[1:]]


def orders_of(shop, user, month):
    condition = Key("PK").eq(f"USER#{user}") & Key("SK").begins_with(f"ORDER#{month}")
    return [item["id"] for item in shop.query(KeyConditionExpression=condition)["Items"]]


def lines_of(shop, order_id):
    condition = Key("PK").eq(f"ORDER#{order_id}")
    return {item["sku"]: item["quantity"] for item in shop.query(KeyConditionExpression=condition)["Items"]}


def find_order(shop, order_id):
    condition = Key("GSI1PK").eq(f"ORDER#{order_id}")
    return shop.query(IndexName="GSI1", KeyConditionExpression=condition)["Items"][0]


def orders_with(shop, sku):
    condition = Key("GSI1PK").eq(f"PRODUCT#{sku}")
    return [item["id"] for item in shop.query(IndexName="GSI1", KeyConditionExpression=condition)["Items"]]


def refused(function, *arguments):
    """The error code of a call that must not succeed, and the reasons if it was a transaction."""
    try:
        function(*arguments)
    except ClientError as error:
        reasons = error.response.get("CancellationReasons", [])
        return error.response["Error"]["Code"], [reason["Code"] for reason in reasons]
    raise AssertionError("this should have been refused")


def main():
    shop = create_shop()
    try:
        walk(shop)
    finally:
        shop.delete()
    print("The shop works.")


def walk(shop):
    add_user(shop, "ann", "ann@example.com")
    add_user(shop, "bob", "bob@example.com")
    taken = refused(add_user, shop, "eve", "ann@example.com")
    assert taken == ("TransactionCanceledException", ["None", "ConditionalCheckFailed"])
    assert "Item" not in shop.get_item(Key={"PK": "USER#eve", "SK": "PROFILE"})

    for sku, category, cents, stock in (
        ("tea", "drinks", 450, 10),
        ("wine", "drinks", 1200, 3),
        ("water", "drinks", 90, 100),
        ("bread", "food", 320, 5),
    ):
        add_product(shop, sku, category, cents, stock)
    assert products_of(shop, "drinks", cheaper_than=1000) == ["water", "tea"]

    # Two clerks change the price of the same bottle; the second one has to look again.
    seen = get_product(shop, "wine")
    change_price(shop, seen, 990)
    assert refused(change_price, shop, seen, 1500) == ("ConditionalCheckFailedException", [])
    assert get_product(shop, "wine")["cents"] == 990
    assert products_of(shop, "drinks", cheaper_than=1000) == ["water", "tea", "wine"]

    place_order(shop, "o1", "ann", "2026-03-01", {"tea": 2, "bread": 1})
    place_order(shop, "o2", "ann", "2026-03-20", {"wine": 3})
    place_order(shop, "o3", "ann", "2026-04-02", {"tea": 1})
    place_order(shop, "o4", "bob", "2026-03-05", {"tea": 5, "water": 10})
    place_order(shop, "o4", "bob", "2026-03-05", {"tea": 5, "water": 10})  # the answer was lost, so it is sent again
    assert get_product(shop, "tea")["stock"] == 2

    # There is no more wine: nothing of the order is written, and no bread is taken.
    out_of_stock = refused(place_order, shop, "o5", "bob", "2026-03-21", {"bread": 1, "wine": 1})
    assert out_of_stock == ("TransactionCanceledException", ["None"] * 5 + ["ConditionalCheckFailed"])
    assert lines_of(shop, "o5") == {}
    assert get_product(shop, "bread")["stock"] == 4

    assert user_with_orders(shop, "ann") == ("ann", ["o3", "o2", "o1"])
    assert orders_of(shop, "ann", "2026-03") == ["o1", "o2"]
    assert lines_of(shop, "o4") == {"tea": 5, "water": 10}
    assert find_order(shop, "o4")["PK"] == "USER#bob"
    assert orders_with(shop, "tea") == ["o1", "o4", "o3"]

    assert open_orders(shop) == ["o1", "o4", "o2", "o3"]
    ship_order(shop, "ann", "2026-03-01", "o1")
    ship_order(shop, "bob", "2026-03-05", "o4")
    assert open_orders(shop) == ["o2", "o3"]
    assert refused(ship_order, shop, "ann", "2026-03-01", "o1") == ("ConditionalCheckFailedException", [])


if __name__ == "__main__":
    main()
