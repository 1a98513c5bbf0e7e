"""Plain HTTP to the server, for what no SDK would ever send."""

import gzip
import http.client
import json
from dataclasses import dataclass
from urllib.parse import urlsplit

AUTHORIZATION = (
    "AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/dynamodb/aws4_request, "
    "SignedHeaders=host;x-amz-date, Signature=0000000000000000000000000000000000000000000000000000000000000000"
)
SIGNED = {"Authorization": AUTHORIZATION, "X-Amz-Date": "20260101T000000Z"}
JSON = "application/x-amz-json-1.0"


@dataclass
class Answer:
    """What came back: `headers` have lower-case names, `body` is as sent."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self):
        packed = self.headers.get("content-encoding") == "gzip"
        return json.loads(gzip.decompress(self.body) if packed else self.body)


class Wire:
    """Sends one request at a time, each on a connection of its own."""

    def __init__(self, endpoint):
        self.address = urlsplit(endpoint).netloc

    def send(self, method, url="/", body=b"", **headers):
        """Header names are written with underscores."""
        connection = http.client.HTTPConnection(self.address, timeout=10)
        try:
            named = {name.replace("_", "-"): value for name, value in headers.items() if value is not None}
            connection.request(method, url, body, named)
            response = connection.getresponse()
            answered = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, answered, response.read())
        finally:
            connection.close()

    def call(self, operation, request, **headers):
        """An API call as an SDK makes it, unless a header says otherwise."""
        body = request if isinstance(request, bytes) else json.dumps(request).encode()
        usual = {"X_Amz_Target": f"DynamoDB_20120810.{operation}", "Content_Type": JSON}
        signed = {name.replace("-", "_"): value for name, value in SIGNED.items()}
        return self.send("POST", body=body, **{**usual, **signed, **headers})
