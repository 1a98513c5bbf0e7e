"""The AWS SDK for JavaScript v3 with its document client, and ElectroDB on top of it."""

import json

from conformance.support import node
from conformance.support.tables import unique_name


def test_the_document_client_walks_through_the_api(server):
    table = unique_name()
    met = json.loads(node.run(node.PACKAGE / "walk.mjs", server, table))
    assert met == {
        "created": "CREATING",
        "createdAtIsADate": True,
        "exists": "SUCCESS",
        "stored": {
            "customer": "ann",
            "order": 1,
            "state": "open",
            "basket": [{"sku": "a", "count": 2}, {"sku": "b", "count": 1.5}],
            "tags": ["new", "paid"],
            "photo": [0, 1, 254, 255],
            "gift": False,
            "note": None,
        },
        "wire": {
            "L": [
                {"M": {"sku": {"S": "a"}, "count": {"N": "2"}}},
                {"M": {"sku": {"S": "b"}, "count": {"N": "1.5"}}},
            ]
        },
        "updated": {"basket": [{"count": 3}]},
        "conditionFailed": {
            "name": "ConditionalCheckFailedException",
            "message": "The conditional request failed",
            "Item": {"S": "open"},  # the document client leaves the members of errors as they are
        },
        "batch": [1, 3],
        "queried": [12, 11, 10, 9, 8, 7, 6, 5],
        "indexed": 13,
        "scanned": 26,
        "mismatch": "IdempotentParameterMismatchException",
        "transaction": [10, None],
        "cancelled": {
            "name": "TransactionCanceledException",
            "message": "Transaction cancelled, please refer cancellation reasons for specific reasons "
            "[None, ConditionalCheckFailed]",
            "CancellationReasons": [
                {"Code": "None"},
                {"Code": "ConditionalCheckFailed", "Message": "The conditional request failed", "Item": {"N": "10"}},
            ],
        },
        "invalid": {
            "name": "ValidationException",
            "message": "One or more parameter values were invalid: Missing the key order in the item",
        },
        "deleted": "open",
        "deleting": "DELETING",
        "missing": {
            "name": "ResourceNotFoundException",
            "message": f"Requested resource not found: Table: {table} not found",
        },
    }


def test_electrodb_keeps_entities_in_one_table(server):
    met = json.loads(node.run(node.PACKAGE / "electrodb.mjs", server, unique_name()))
    assert met == {
        "twice": "refused",
        "ann": {
            "id": "ann",
            "office": "north",
            "team": "red",
            "salary": 105,
            "skills": ["a", "b", "c"],
            "reviews": [{"score": 9}],
        },
        "blue": 10,
        "rich": ["ann", "e28", "e29"],
        "pages": [10, 10, 10, 1],
        "workplace": [31, 1],
        "transactions": [True, False],
        "desk": {"number": "1", "office": "north", "free": False},
        "left": 29,
    }
