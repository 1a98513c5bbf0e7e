"""Where buckets are, as the person who starts the server says."""

from __future__ import annotations

import pytest

from hashrange.capacity.board import LocalBoard
from hashrange.cli.main import build_parser
from hashrange.cli.options import ConfigurationError, settle
from hashrange.cli.serve import settings_of


def database(*arguments: str) -> tuple[str | None, str | None]:
    settings = settings_of(settle(build_parser().parse_args(["serve", *arguments]), {}), LocalBoard()).database
    return settings.buckets, settings.s3_endpoint


def test_buckets_lie_beside_the_data_unless_told_otherwise() -> None:
    assert database("--data", "/srv/db") == ("/srv/hashrange-buckets", None)
    assert database("--data", "/srv/db", "--buckets", "/mnt/b") == ("/mnt/b", None)
    assert database("--memory") == (None, None)
    assert database("--memory", "--buckets", "b") == ("b", None)
    assert database("--memory", "--s3-endpoint", "http://127.0.0.1:9000") == (None, "http://127.0.0.1:9000")


@pytest.mark.parametrize(
    "arguments", [("--s3-endpoint", "127.0.0.1:9000"), ("--s3-endpoint", "http://s3", "--buckets", "b")]
)
def test_what_cannot_work_is_refused(arguments: tuple[str, ...]) -> None:
    with pytest.raises(ConfigurationError):
        database(*arguments)
