"""What wrong requests are told, to the letter, in the newer wording."""

import pytest

from conformance.support.expect import ENVELOPE, error_of
from conformance.support.tables import values, wire

KEY = wire(pk="a", sk="b")
CONDITION = "Invalid ConditionExpression: "
UPDATE = "Invalid UpdateExpression: "
PROJECTION = "Invalid ProjectionExpression: "
FILTER = "Invalid FilterExpression: "


@pytest.fixture(scope="module")
def shared(create_table):
    table = create_table()
    yield table
    table.delete_table()


def given(expression, **attributes):
    """The values of those placeholders that an expression uses."""
    used = {name: value for name, value in attributes.items() if f":{name}" in expression}
    return {"ExpressionAttributeValues": values(**used)} if used else {}


CONDITIONS = {
    "": "The expression can not be empty;",
    "foo": 'Syntax error; token: "<EOF>", near: "foo"',
    "a = :s AND": 'Syntax error; token: "<EOF>", near: "AND"',
    "INVALID SYNTAX HERE": 'Syntax error; token: "SYNTAX", near: "INVALID SYNTAX HERE"',
    "!!! x": 'Syntax error; token: "!", near: "!!"',
    "((a = :s))": "The expression has redundant parentheses;",
    "foo(a)": "Invalid function name; function: foo",
    "Contains(a, :s)": "Invalid function name; function: Contains",
    "size(a)": "The function is not allowed to be used this way in an expression; function: size",
    "attribute_exists(a) = :s": (
        "The function is not allowed to be used this way in an expression; function: attribute_exists"
    ),
    "name = :s": "Attribute name is a reserved keyword; reserved keyword: name",
    "a.Status = :s": "Attribute name is a reserved keyword; reserved keyword: Status",
    "#x = :s": "An expression attribute name used in the document path is not defined; attribute name: #x",
    "a = :undefined": ("An expression attribute value used in expression is not defined; attribute value: :undefined"),
    "begins_with(a)": (
        "Incorrect number of operands for operator or function; operator or function: begins_with, "
        "number of operands: 1"
    ),
    "a.b[0] = a.b[0]": (
        "The first operand must be distinct from the remaining operands for this operator or function; "
        "operator: =, first operand: [a, b, [0]]"
    ),
    "attribute_exists(:s)": ("Operator or function requires a document path; operator or function: attribute_exists"),
    "a < :bool": "Incorrect operand type for operator or function; operator or function: <, operand type: BOOL",
    "begins_with(a, :n)": (
        "Incorrect operand type for operator or function; operator or function: begins_with, operand type: N"
    ),
    "attribute_type(a, :s)": (
        "Invalid attribute type name found; type: text, valid types: {B,NULL,SS,BOOL,L,BS,N,NS,S,M}"
    ),
    "a BETWEEN :five AND :n": (
        "The BETWEEN operator requires upper bound to be greater than or equal to lower bound; "
        "lower bound operand: AttributeValue: {N:5}, upper bound operand: AttributeValue: {N:1}"
    ),
    "a[99999999999999] = :s": "List index is not within the allowable range; index: [99999999999999]",
    "x" * 4097: "Expression size has exceeded the maximum allowed size; expression size: 4097",
}


@pytest.mark.parametrize("expression", CONDITIONS, ids=lambda text: text[:40] or "empty")
def test_a_wrong_condition_is_told_in_the_envelope(shared, expression):
    rest = given(expression, s="text", n=1, five=5, bool=True)
    message = CONDITION + CONDITIONS[expression]
    refused = ("ValidationException", ENVELOPE + message)
    assert error_of(shared.put_item, Item=KEY, ConditionExpression=expression, **rest) == refused
    assert error_of(shared.delete_item, Key=KEY, ConditionExpression=expression, **rest) == refused
    assert error_of(shared.update_item, Key=KEY, ConditionExpression=expression, **rest) == refused


@pytest.mark.parametrize("expression", CONDITIONS, ids=lambda text: text[:40] or "empty")
def test_a_wrong_filter_is_told_bare(shared, expression):
    rest = given(expression, s="text", n=1, five=5, bool=True)
    refused = ("ValidationException", FILTER + CONDITIONS[expression])
    assert error_of(shared.scan, FilterExpression=expression, **rest) == refused


UPDATES = {
    "": "The expression can not be empty;",
    "SET a = :s,": 'Syntax error; token: "<EOF>", near: ","',
    "ADD hits : incr": 'Syntax error; token: ":", near: "hits : incr"',
    "SET a = :n + :n - :n": 'Syntax error; token: "-", near: ":n - :n"',
    "SET a = :n SET b = :n": 'The "SET" section can only be used once in an update expression;',
    "SET a = size(b)": "Invalid function name; function: size",
    "SET a = :n, a.b = :n": (
        "Two document paths overlap with each other; must remove or rewrite one of these paths; "
        "path one: [a], path two: [a, b]"
    ),
    "SET a.b = :n REMOVE a[1]": (
        "Two document paths conflict with each other; must remove or rewrite one of these paths; "
        "path one: [a, b], path two: [a, [1]]"
    ),
    "ADD a :s": "Incorrect operand type for operator or function; operator: ADD, operand type: STRING",
    "DELETE a :n": "Incorrect operand type for operator or function; operator: DELETE, operand type: NUMBER",
    "SET a = :s + :n": "Incorrect operand type for operator or function; operator or function: +, operand type: S",
    "SET a = list_append(:n, b)": (
        "Incorrect operand type for operator or function; operator or function: list_append, operand type: N"
    ),
    "SET a = if_not_exists(:n, :n)": (
        "Operator or function requires a document path; operator or function: if_not_exists"
    ),
    "SET data = :n": "Attribute name is a reserved keyword; reserved keyword: data",
    "x" * 4097: "Expression size has exceeded the maximum allowed size;",
}


@pytest.mark.parametrize("expression", UPDATES, ids=lambda text: text[:40] or "empty")
def test_a_wrong_update_is_told_in_the_envelope(shared, expression):
    rest = given(expression, s="text", n=1)
    refused = ("ValidationException", ENVELOPE + UPDATE + UPDATES[expression])
    assert error_of(shared.update_item, Key=KEY, UpdateExpression=expression, **rest) == refused


PROJECTIONS = {
    "": "The expression can not be empty;",
    "a,": 'Syntax error; token: "<EOF>", near: ","',
    "l[a]": 'Syntax error; token: "a", near: "[a]"',
    "a, #x": "An expression attribute name used in the document path is not defined; attribute name: #x",
    "a, a.b": (
        "Two document paths overlap with each other; must remove or rewrite one of these paths; "
        "path one: [a], path two: [a, b]"
    ),
    "a.b, a[1]": (
        "Two document paths conflict with each other; must remove or rewrite one of these paths; "
        "path one: [a, b], path two: [a, [1]]"
    ),
    ".".join("a" * 33): "The document path has too many nesting levels; nesting levels: 33",
    "a, comment": "Attribute name is a reserved keyword; reserved keyword: comment",
}


@pytest.mark.parametrize("expression", PROJECTIONS, ids=lambda text: text[:40] or "empty")
def test_a_wrong_projection_is_told_bare(shared, expression):
    refused = ("ValidationException", PROJECTION + PROJECTIONS[expression])
    assert error_of(shared.get_item, Key=KEY, ProjectionExpression=expression) == refused
    assert error_of(shared.scan, ProjectionExpression=expression) == refused


PLACEHOLDERS = {
    "empty names": (
        {"ConditionExpression": "a = b", "ExpressionAttributeNames": {}},
        "ExpressionAttributeNames must not be empty",
    ),
    "empty values": (
        {"ConditionExpression": "a = b", "ExpressionAttributeValues": {}},
        "ExpressionAttributeValues must not be empty",
    ),
    "a name without its mark": (
        {"ConditionExpression": "a = b", "ExpressionAttributeNames": {"x": "y"}},
        'ExpressionAttributeNames contains invalid key: Syntax error; key: "x"',
    ),
    "a value without its mark": (
        {"ConditionExpression": "a = b", "ExpressionAttributeValues": {"x": {"S": "y"}}},
        'ExpressionAttributeValues contains invalid key: Syntax error; key: "x"',
    ),
    "names without expression": (
        {"ExpressionAttributeNames": {"#x": "y"}},
        "ExpressionAttributeNames can only be specified when using expressions",
    ),
    "values without expression": (
        {"ExpressionAttributeValues": {":x": {"S": "y"}}},
        "ExpressionAttributeValues can only be specified when using expressions",
    ),
    "names that nobody uses": (
        {"ConditionExpression": "attribute_exists(a)", "ExpressionAttributeNames": {"#x": "y", "#z": "z"}},
        "Value provided in ExpressionAttributeNames unused in expressions: keys: {#x, #z}",
    ),
    "values that nobody uses": (
        {"ConditionExpression": "attribute_exists(a)", "ExpressionAttributeValues": {":x": {"S": "y"}}},
        "Value provided in ExpressionAttributeValues unused in expressions: keys: {:x}",
    ),
    "a value that is none": (
        {"ConditionExpression": "a = :x", "ExpressionAttributeValues": {":x": {"N": "y"}}},
        "The parameter cannot be converted to a numeric value: y",
    ),
}


@pytest.mark.parametrize("case", PLACEHOLDERS)
def test_wrong_placeholders_are_told_in_the_envelope(shared, case):
    request, message = PLACEHOLDERS[case]
    refused = ("ValidationException", ENVELOPE + message)
    assert error_of(shared.put_item, Item=KEY, **request) == refused
    assert error_of(shared.delete_item, Key=KEY, **request) == refused
    assert error_of(shared.update_item, Key=KEY, **request) == refused


CONSTRAINTS = {
    "no table name": (
        "put_item",
        {"Item": KEY, "TableName": None},
        "1 validation error detected: Value null at 'tableName' failed to satisfy constraint: Member must not be null",
    ),
    "empty table name": (
        "put_item",
        {"Item": KEY, "TableName": "", "ReturnConsumedCapacity": "wrong"},
        "1 validation error detected: Value at 'TableName' failed to satisfy constraint: "
        "Member must have length greater than or equal to 1",
    ),
    "strange table name": (
        "get_item",
        {"Key": KEY, "TableName": "a;b"},
        "1 validation error detected: Value 'a;b' at 'tableName' failed to satisfy constraint: "
        "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+",
    ),
    "ReturnValues": (
        "update_item",
        {"Key": KEY, "ReturnValues": "wrong", "ReturnConsumedCapacity": "wrong"},
        "1 validation error detected: Failed to satisfy constraint: Member must satisfy enum value set: "
        "[ALL_OLD, UPDATED_OLD, ALL_NEW, UPDATE_NEW, NONE]",
    ),
    "ReturnConsumedCapacity": (
        "put_item",
        {"Item": KEY, "ReturnConsumedCapacity": "wrong"},
        "1 validation error detected: Value 'wrong' at 'returnConsumedCapacity' failed to satisfy constraint: "
        "Member must satisfy enum value set: [INDEXES, TOTAL, NONE]",
    ),
    "no item and no known capacity": (
        "put_item",
        {"ReturnConsumedCapacity": "wrong"},
        "2 validation errors detected: Value 'wrong' at 'returnConsumedCapacity' failed to satisfy constraint: "
        "Member must satisfy enum value set: [INDEXES, TOTAL, NONE]; Value null at 'item' failed to satisfy "
        "constraint: Member must not be null",
    ),
    "Limit of a scan": (
        "scan",
        {"Limit": 0},
        "1 validation error detected: Value at 'Limit' failed to satisfy constraint: "
        "Member must have value greater than or equal to 1",
    ),
    "Limit of a query": (
        "query",
        {"Limit": 0, "KeyConditionExpression": "pk = :v", "ExpressionAttributeValues": values(v="a")},
        "1 validation error detected: Value at 'Limit' failed to satisfy constraint: "
        "Member must have value greater than or equal to 1",
    ),
}


@pytest.mark.parametrize("case", CONSTRAINTS)
def test_members_out_of_bounds_are_listed(shared, case):
    operation, request, message = CONSTRAINTS[case]
    call = getattr(shared.client, operation)
    request = {name: value for name, value in {"TableName": shared.name, **request}.items() if value is not None}
    assert error_of(call, **request) == ("ValidationException", message)
