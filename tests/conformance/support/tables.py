"""Tables of a test's own, described in one line, and items in plain Python."""

import uuid
from functools import partial

from boto3.dynamodb.types import TypeSerializer

BATCH = 25
_serialize = TypeSerializer().serialize


def wire(**attributes):
    """Attributes as DynamoDB JSON."""
    return {name: _serialize(value) for name, value in attributes.items()}


def values(**attributes):
    """ExpressionAttributeValues as DynamoDB JSON."""
    return {f":{name}": _serialize(value) for name, value in attributes.items()}


def unique_name(prefix="t"):
    return f"{prefix}-{uuid.uuid4().hex}"


def parse_key(text):
    """The key schema and types of `pk / sk:N`: partition key, a slash, sort key; strings unless a type is given.

    A global secondary index may have several attributes on either side.
    """
    schema, types = [], {}
    for part, kind in zip(text.split("/"), ("HASH", "RANGE"), strict=False):
        for attribute in part.split():
            name, _, attribute_type = attribute.partition(":")
            schema.append({"AttributeName": name, "KeyType": kind})
            types[name] = attribute_type or "S"
    return schema, types


def parse_projection(projection):
    """ALL, KEYS_ONLY, or the names of the attributes to include."""
    if isinstance(projection, str):
        return {"ProjectionType": projection}
    return {"ProjectionType": "INCLUDE", "NonKeyAttributes": list(projection)}


def table_request(key, *, local=None, global_=None, **options):
    """A CreateTable request. Indexes are `name=key` or `name=(key, projection)`."""
    schema, types = parse_key(key)
    request = {"TableName": unique_name(), "KeySchema": schema, "BillingMode": "PAY_PER_REQUEST"}
    for member, given in (("LocalSecondaryIndexes", local), ("GlobalSecondaryIndexes", global_)):
        for name, description in (given or {}).items():
            text, projection = (description, "ALL") if isinstance(description, str) else description
            index_schema, index_types = parse_key(text)
            types.update(index_types)
            index = {"IndexName": name, "KeySchema": index_schema, "Projection": parse_projection(projection)}
            request.setdefault(member, []).append(index)
    request["AttributeDefinitions"] = definitions(types)
    return {**request, **options}


def definitions(types):
    return [{"AttributeName": name, "AttributeType": kind} for name, kind in types.items()]


class Table:
    """A table and the client to use it with: `table.put_item(Item=…)` is the client's call with the table's name."""

    def __init__(self, client, name):
        self.client = client
        self.name = name

    def __getattr__(self, operation):
        return partial(getattr(self.client, operation), TableName=self.name)

    def fill(self, items):
        """Put many items, given in plain Python."""
        requests = [{"PutRequest": {"Item": wire(**item)}} for item in items]
        for start in range(0, len(requests), BATCH):
            answer = self.client.batch_write_item(RequestItems={self.name: requests[start : start + BATCH]})
            assert answer["UnprocessedItems"] == {}

    def get(self, **key):
        """The item with this key, as DynamoDB JSON; None if there is none."""
        return self.get_item(Key=wire(**key), ConsistentRead=True).get("Item")


def pages(call, **request):
    """Every page of a Query or Scan, following LastEvaluatedKey to the end."""
    while True:
        page = call(**request)
        yield page
        if "LastEvaluatedKey" not in page:
            return
        request["ExclusiveStartKey"] = page["LastEvaluatedKey"]


def all_items(call, **request):
    return [item for page in pages(call, **request) for item in page["Items"]]
