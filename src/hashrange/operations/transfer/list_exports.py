"""ListExports: the exports of the last ninety days, of an account or of one table, the latest first."""

from __future__ import annotations

from typing import Any

from hashrange.engine.database import Database
from hashrange.limits import TRANSFERS_PAGE_MAX
from hashrange.operations.operation import Operation, Request
from hashrange.operations.transfer.lookup import is_about, page_of
from hashrange.transfer.transfer import EXPORT


def list_exports(db: Database, request: Request) -> dict[str, Any]:
    limit = request.get("MaxResults", TRANSFERS_PAGE_MAX)
    page, token = page_of(db, request, EXPORT, limit=limit, is_wanted=is_about(request.get("TableArn")))
    answer: dict[str, Any] = {
        "ExportSummaries": [
            {"ExportArn": each.arn, "ExportStatus": each.status, "ExportType": each.request["ExportType"]}
            for each in page
        ]
    }
    return answer if token is None else {**answer, "NextToken": token}


OPERATION = Operation(name="ListExports", run=list_exports)
