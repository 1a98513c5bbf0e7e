"""ListImports: the imports of the last ninety days, of an account or of one table, the latest first."""

from __future__ import annotations

from typing import Any

from hashrange.engine.database import Database
from hashrange.limits import TRANSFERS_PAGE_MAX
from hashrange.operations.operation import Operation, Request
from hashrange.operations.transfer.import_description import summarize_import
from hashrange.operations.transfer.lookup import is_about, page_of
from hashrange.transfer.transfer import IMPORT


def list_imports(db: Database, request: Request) -> dict[str, Any]:
    limit = request.get("PageSize", TRANSFERS_PAGE_MAX)
    page, token = page_of(db, request, IMPORT, limit=limit, is_wanted=is_about(request.get("TableArn")))
    answer: dict[str, Any] = {"ImportSummaryList": [summarize_import(each) for each in page]}
    return answer if token is None else {**answer, "NextToken": token}


OPERATION = Operation(name="ListImports", run=list_imports)
