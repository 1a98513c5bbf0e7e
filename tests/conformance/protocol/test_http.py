"""The HTTP side of the protocol: headers, health, CORS, compression, strangers."""

import gzip
import json
import re
import zlib
from http.client import HTTPConnection
from urllib.parse import urlsplit

import pytest

from conformance.support.tables import wire
from conformance.support.wire import JSON, SIGNED

UNKNOWN = b"<UnknownOperationException/>\n"


def test_an_answer_has_the_headers_that_sdks_look_at(http):
    answer = http.call("ListTables", {})
    assert answer.status == 200
    assert re.fullmatch("[0-9A-Z]{52}", answer.headers["x-amzn-requestid"])
    assert answer.headers["x-amz-crc32"] == str(zlib.crc32(answer.body))
    assert answer.headers["content-type"] == "application/x-amz-json-1.0"
    assert answer.headers["content-length"] == str(len(answer.body))
    assert answer.headers["server"] == "Server"
    assert answer.headers["date"].endswith("GMT")


def test_an_error_has_the_same_headers(http):
    answer = http.call("GetItem", {})
    assert answer.status == 400
    assert re.fullmatch("[0-9A-Z]{52}", answer.headers["x-amzn-requestid"])
    assert answer.headers["x-amz-crc32"] == str(zlib.crc32(answer.body))
    assert answer.headers["content-type"] == "application/x-amz-json-1.0"


def test_every_answer_has_an_id_of_its_own(http):
    ids = {http.call("ListTables", {}).headers["x-amzn-requestid"] for _ in range(20)}
    assert len(ids) == 20


def test_plain_json_is_spoken_too(http):
    answer = http.call("DescribeLimits", {}, Content_Type="application/json")
    assert answer.status == 200
    assert answer.headers["content-type"] == "application/json"


def test_tagging_is_answered_with_an_empty_body(http, table):
    arn = table.describe_table()["Table"]["TableArn"]
    answer = http.call("TagResource", {"ResourceArn": arn, "Tags": [{"Key": "a", "Value": "b"}]})
    assert (answer.status, answer.body) == (200, b"")
    assert answer.headers["x-amz-crc32"] == "0"


def test_the_root_tells_that_the_server_is_healthy(http):
    answer = http.send("GET")
    assert answer.status == 200
    assert re.fullmatch(rb"healthy: dynamodb\.[a-z0-9-]+\.amazonaws\.com ", answer.body)


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH"])
def test_other_methods_find_nothing(http, method):
    answer = http.send(method)
    assert (answer.status, answer.body) == (404, UNKNOWN)


@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded", "application/xml", None])
def test_foreign_content_types_find_nothing(http, content_type):
    answer = http.call("ListTables", {}, Content_Type=content_type)
    assert (answer.status, answer.body) == (404, UNKNOWN)


def test_browsers_are_welcome(http):
    origin = {"Origin": "http://localhost:3000"}
    assert http.call("ListTables", {}, **origin).headers["access-control-allow-origin"] == "*"
    assert http.call("GetItem", {}, **origin).headers["access-control-allow-origin"] == "*"
    assert "access-control-allow-origin" not in http.call("ListTables", {}).headers


def test_a_preflight_allows_what_it_asks_for(http):
    answer = http.send(
        "OPTIONS",
        Origin="http://localhost:3000",
        Access_Control_Request_Method="POST",
        Access_Control_Request_Headers="x-amz-target,authorization",
    )
    assert answer.status == 200
    assert answer.headers["access-control-allow-origin"] == "*"
    assert answer.headers["access-control-allow-headers"] == "x-amz-target,authorization"
    assert answer.headers["access-control-max-age"] == "172800"
    assert "POST" in answer.headers["access-control-allow-methods"]


def test_a_request_may_be_compressed(http):
    body = gzip.compress(json.dumps({"Limit": 1}).encode())
    answer = http.call("ListTables", body, Content_Encoding="gzip")
    assert answer.status == 200
    assert "TableNames" in answer.json


def test_a_long_answer_is_compressed_if_the_client_can_read_it(http, hash_table):
    hash_table.put_item(Item=wire(pk="long", v="x" * 5000))
    hash_table.put_item(Item=wire(pk="short", v="x" * 10))

    def get(pk, **headers):
        return http.call("GetItem", {"TableName": hash_table.name, "Key": wire(pk=pk)}, **headers)

    packed = get("long", Accept_Encoding="gzip, deflate")
    assert packed.headers["content-encoding"] == "gzip"
    assert packed.headers["x-amz-crc32"] == str(zlib.crc32(packed.body))
    assert len(packed.body) < 1000
    assert packed.json == {"Item": wire(pk="long", v="x" * 5000)}
    assert "content-encoding" not in get("long").headers
    assert "content-encoding" not in get("short", Accept_Encoding="gzip").headers


def test_sixteen_megabytes_are_enough(http):
    answer = http.call("ListTables", b" " * (16 * 1024 * 1024 + 1))
    assert answer.status == 413


def test_answers_come_in_order_on_one_connection(server):
    connection = HTTPConnection(urlsplit(server).netloc, timeout=10)
    headers = {**SIGNED, "Content-Type": JSON}
    for operation, member in (("ListTables", "TableNames"), ("DescribeLimits", "AccountMaxReadCapacityUnits")) * 3:
        connection.request("POST", "/", b"{}", {**headers, "X-Amz-Target": f"DynamoDB_20120810.{operation}"})
        assert member in json.loads(connection.getresponse().read())
    connection.close()
