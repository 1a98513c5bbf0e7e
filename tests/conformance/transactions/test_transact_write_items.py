"""TransactWriteItems: all or nothing."""

import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest
from botocore.exceptions import ClientError

from conformance.support.expect import error_of, invalid, not_found, refuses
from conformance.support.tables import unique_name, values, wire

CANCELLED = "Transaction cancelled, please refer cancellation reasons for specific reasons "
FAILED = {"Code": "ConditionalCheckFailed", "Message": "The conditional request failed"}
NONE = {"Code": "None"}
SAME_ITEM = "Transaction request cannot include multiple operations on one item"


@pytest.fixture
def act(client, hash_table):
    """Builds actions on the table."""

    class Actions:
        table = hash_table

        def put(self, item, **rest):
            return {"Put": {"TableName": hash_table.name, "Item": item, **rest}}

        def update(self, pk, expression, given=None, **rest):
            request = {"ExpressionAttributeValues": values(**given)} if given else {}
            update = {"TableName": hash_table.name, "Key": wire(pk=pk), "UpdateExpression": expression}
            return {"Update": {**update, **request, **rest}}

        def delete(self, pk, **rest):
            return {"Delete": {"TableName": hash_table.name, "Key": wire(pk=pk), **rest}}

        def check(self, pk, condition, **rest):
            check = {"TableName": hash_table.name, "Key": wire(pk=pk), "ConditionExpression": condition}
            return {"ConditionCheck": {**check, **rest}}

        def write(self, *actions, **rest):
            return client.transact_write_items(TransactItems=list(actions), **rest)

    return Actions()


def cancelled(act, *actions):
    """The message and the reasons of a transaction that must be cancelled."""
    with pytest.raises(ClientError) as caught:
        act.write(*actions)
    response = caught.value.response
    assert response["Error"]["Code"] == "TransactionCanceledException"
    return response["Error"]["Message"], response["CancellationReasons"]


def everything(table):
    return sorted(table.scan()["Items"], key=lambda item: item["pk"]["S"])


def test_every_kind_of_action_happens_together(act):
    act.table.fill([{"pk": "updated", "n": 1}, {"pk": "deleted"}, {"pk": "checked"}])
    act.write(
        act.put(wire(pk="put")),
        act.update("updated", "SET n = n + :one", {"one": 1}),
        act.delete("deleted"),
        act.check("checked", "attribute_exists(pk)"),
        act.update("created", "ADD n :one", {"one": 1}),
    )
    assert everything(act.table) == [
        wire(pk="checked"),
        wire(pk="created", n=1),
        wire(pk="put"),
        wire(pk="updated", n=2),
    ]


def test_every_failed_condition_is_told_and_nothing_happens(act):
    act.table.fill([{"pk": "a", "n": 1}, {"pk": "b"}])
    before = everything(act.table)
    message, reasons = cancelled(
        act,
        act.put(wire(pk="new")),
        act.put(wire(pk="a"), ConditionExpression="attribute_not_exists(pk)"),
        act.delete("b"),
        act.check("c", "attribute_exists(pk)"),
    )
    assert message == CANCELLED + "[None, ConditionalCheckFailed, None, ConditionalCheckFailed]"
    assert reasons == [NONE, FAILED, NONE, FAILED]
    assert everything(act.table) == before


def test_a_failed_condition_shows_its_item_on_request(act):
    item = wire(pk="a", n=1, m={"x": [1]})
    act.table.put_item(Item=item)
    shown = {"ReturnValuesOnConditionCheckFailure": "ALL_OLD"}
    _, reasons = cancelled(
        act,
        act.put(wire(pk="a"), ConditionExpression="attribute_not_exists(pk)", **shown),
        act.check("b", "attribute_exists(pk)", **shown),
    )
    assert reasons == [{**FAILED, "Item": item}, FAILED]


def test_what_the_item_makes_impossible_is_a_reason_too(act):
    act.table.put_item(Item=wire(pk="a", s="text"))
    message, reasons = cancelled(
        act,
        act.put(wire(pk="b")),
        act.update("a", "SET n = absent"),
        act.update("c", "SET s = :one + s", {"one": 1}),
    )
    assert message == CANCELLED + "[None, ValidationError, None]"
    assert reasons == [
        NONE,
        {
            "Code": "ValidationError",
            "Message": "The provided expression refers to an attribute that does not exist in the item",
        },
        NONE,
    ]
    assert act.table.scan()["Count"] == 1


SCHEMA_PROBLEMS = {
    "a key of the wrong type": (
        lambda act: act.put(wire(pk=1)),
        "One or more parameter values were invalid: Type mismatch for key pk expected: S actual: N",
    ),
    "a missing key": (
        lambda act: act.put(wire(other=1)),
        "One or more parameter values were invalid: Missing the key pk in the item",
    ),
    "a key that does not match": (
        lambda act: {"Delete": {"TableName": act.table.name, "Key": wire(pk=1)}},
        "The provided key element does not match the schema",
    ),
    "a path that is not there": (
        lambda act: act.update("a", "SET x.y = :v", {"v": 1}),
        "The document path provided in the update expression is invalid for update",
    ),
}


@pytest.mark.parametrize("case", SCHEMA_PROBLEMS)
def test_what_does_not_fit_the_schema_cancels(act, case):
    action, message = SCHEMA_PROBLEMS[case]
    _, reasons = cancelled(act, action(act), act.put(wire(pk="innocent")))
    assert reasons == [{"Code": "ValidationError", "Message": message}, NONE]


REFUSED = {
    "an empty key": (
        lambda act: act.put(wire(pk="")),
        "One or more parameter values are not valid. The AttributeValue for a key attribute "
        "cannot contain an empty string value. Key: pk",
    ),
    "a number that is none": (
        lambda act: act.put({"pk": {"S": "a"}, "n": {"N": "x"}}),
        "The parameter cannot be converted to a numeric value: x",
    ),
    "a syntax error": (
        lambda act: act.check("a", "foo"),
        'Invalid ConditionExpression: Syntax error; token: "<EOF>", near: "foo"',
    ),
    "a value that is not used": (
        lambda act: act.update("a", "SET n = :one", {"one": 1, "two": 2}),
        "Value provided in ExpressionAttributeValues unused in expressions: keys: {:two}",
    ),
    "an item that is too large": (
        lambda act: act.put(wire(pk="a", v="x" * 409_600)),
        "Item size has exceeded the maximum allowed size",
    ),
    "two actions in one": (
        lambda act: {**act.put(wire(pk="a")), **act.delete("b")},
        "TransactItems can only contain one of Check, Put, Update or Delete",
    ),
    "no action": (lambda act: {}, "TransactItems can only contain one of Check, Put, Update or Delete"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_the_request_itself_shows_to_be_wrong_is_refused_at_once(act, case):
    action, message = REFUSED[case]
    with invalid(message):
        act.write(act.put(wire(pk="innocent")), action(act))
    assert act.table.scan()["Count"] == 0


def test_an_item_may_be_meant_once(act):
    with invalid(SAME_ITEM):
        act.write(act.put(wire(pk="a")), act.check("a", "attribute_not_exists(pk)"))


def test_a_condition_check_has_a_condition(act, client):
    check = {"TableName": act.table.name, "Key": wire(pk="a")}
    assert error_of(client.transact_write_items, TransactItems=[{"ConditionCheck": check}]) == (
        "ValidationException",
        "1 validation error detected: Value null at 'transactItems.1.member.conditionCheck.conditionExpression' "
        "failed to satisfy constraint: Member must not be null",
    )


def test_a_hundred_actions_are_enough(act, client):
    many = [act.put(wire(pk=str(number))) for number in range(101)]
    act.write(*many[:100])
    assert act.table.scan()["Count"] == 100
    code, message = error_of(client.transact_write_items, TransactItems=many)
    assert code == "ValidationException"
    assert message.endswith(
        "at 'transactItems' failed to satisfy constraint: Member must have length less than or equal to 100"
    )
    code, message = error_of(client.transact_write_items, TransactItems=[])
    assert message == (
        "1 validation error detected: Value '[]' at 'transactItems' failed to satisfy constraint: "
        "Member must have length greater than or equal to 1"
    )


def test_four_megabytes_are_enough(act, client):
    many = [act.put(wire(pk=str(number), v="x" * 400_000)) for number in range(11)]
    act.write(*many[:10])
    code, message = error_of(client.transact_write_items, TransactItems=many)
    assert code == "ValidationException"
    assert "size cannot exceed" in message
    act.write(*(act.delete(str(number)) for number in range(10)))
    assert act.table.scan()["Count"] == 0


def test_a_transaction_spans_tables(act, table):
    act.write(act.put(wire(pk="a")), {"Put": {"TableName": table.name, "Item": wire(pk="a", sk="b")}})
    assert act.table.scan()["Count"] == table.scan()["Count"] == 1
    with not_found():
        act.write(act.put(wire(pk="x")), {"Put": {"TableName": unique_name(), "Item": wire(pk="a")}})
    assert act.table.scan()["Count"] == 1


def test_a_token_makes_a_transaction_happen_once(act):
    token = str(uuid.uuid4())
    action = act.update("a", "ADD n :one", {"one": 1})
    capacity = {"ReturnConsumedCapacity": "TOTAL", "ClientRequestToken": token}
    first = act.write(action, **capacity)["ConsumedCapacity"]
    assert first == [{"TableName": act.table.name, "CapacityUnits": 2.0, "WriteCapacityUnits": 2.0}]
    again = act.write(action, **capacity)["ConsumedCapacity"]
    assert again == [{"TableName": act.table.name, "CapacityUnits": 2.0, "ReadCapacityUnits": 2.0}]
    assert act.table.get(pk="a") == wire(pk="a", n=1)


def test_a_token_belongs_to_its_transaction(act):
    token = str(uuid.uuid4())
    act.write(act.put(wire(pk="a")), ClientRequestToken=token)
    with pytest.raises(ClientError) as caught:
        act.write(act.put(wire(pk="b")), ClientRequestToken=token)
    assert caught.value.response["Error"]["Code"] == "IdempotentParameterMismatchException"
    assert act.table.scan()["Count"] == 1


def test_a_cancelled_transaction_may_be_tried_again_with_its_token(act):
    token = str(uuid.uuid4())
    action = act.put(wire(pk="b"), ConditionExpression="attribute_not_exists(pk)")
    act.table.put_item(Item=wire(pk="b"))
    with pytest.raises(ClientError):
        act.write(action, ClientRequestToken=token)
    act.table.delete_item(Key=wire(pk="b"))
    act.write(action, ClientRequestToken=token)
    assert act.table.scan()["Count"] == 1


def test_a_token_has_at_most_36_characters(act):
    token = "x" * 37
    with refuses(
        "ValidationException",
        f"1 validation error detected: Value '{token}' at 'clientRequestToken' failed to satisfy constraint: "
        "Member must have length less than or equal to 36",
    ):
        act.write(act.put(wire(pk="a")), ClientRequestToken=token)


def test_transfers_never_lose_money(act):
    accounts = [str(number) for number in range(4)]
    act.table.fill([{"pk": name, "balance": 100} for name in accounts])

    def transfer(number):
        """Why the transfer did not happen, if it did not."""
        source, target = accounts[number % 4], accounts[(number * 7 + 1) % 4]
        if source == target:
            return None
        amount = {"amount": number % 30 + 1}
        take = act.update(source, "SET balance = balance - :amount", amount, ConditionExpression="balance >= :amount")
        give = act.update(target, "SET balance = balance + :amount", amount)
        try:
            act.write(take, give)
        except ClientError as error:
            return error.response["CancellationReasons"]
        return None

    with ThreadPoolExecutor(8) as threads:
        assert all(reasons in (None, [FAILED, NONE]) for reasons in threads.map(transfer, range(150)))
    balances = [int(item["balance"]["N"]) for item in act.table.scan()["Items"]]
    assert sum(balances) == 400
    assert min(balances) >= 0
