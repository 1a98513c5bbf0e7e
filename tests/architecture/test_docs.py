"""The documentation says what the code does."""

from __future__ import annotations

import argparse
import re
import tomllib
from pathlib import Path

import pytest

from architecture.source import DOCS, PACKAGE, ROOT
from hashrange.cli import manual
from hashrange.cli.main import build_parser
from hashrange.cli.options import SERVE_OPTIONS, settle
from hashrange.jobs.runner import JOBS
from hashrange.operations.registry import operations
from hashrange.operations.unsupported import ASKED_FOR
from hashrange.validation.operations import all_operation_names

PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")])
FENCED = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)


def page(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def test_generated_pages_are_current() -> None:
    assert manual.outdated(DOCS) == [], "run `make docs`"


def test_a_page_that_has_fallen_behind_is_noticed(tmp_path: Path) -> None:
    for name, build in manual.PAGES.items():
        (tmp_path / name).write_text(build(), encoding="utf-8")
    assert manual.outdated(tmp_path) == []
    limits = tmp_path / "limits.md"
    limits.write_text(limits.read_text(encoding="utf-8").replace("409,600", "409,601"), encoding="utf-8")
    (tmp_path / "cli.md").unlink()
    assert manual.outdated(tmp_path) == ["cli.md", "limits.md"]


def test_every_operation_is_listed_with_its_state() -> None:
    rows = dict(re.findall(r"^\| (\w+) \| (works|not yet) \|", page("operations.md"), re.MULTILINE))
    works = {operation.name for operation in operations()}
    known = {name for names in all_operation_names().values() for name in names}
    assert rows == {name: "works" if name in works else "not yet" for name in known}


def test_every_operation_has_a_sentence() -> None:
    rows = re.findall(r"^\| (\w+) \| works \| (.*?) \| ", page("operations.md"), re.MULTILINE)
    assert [name for name, sentence in rows if not sentence.endswith(".") or name in sentence.split()] == []


# What people call a feature, and an operation that is there only when the feature is.
FEATURES = {
    "PartiQL": "ExecuteStatement",
    "time to live": "UpdateTimeToLive",
    "backup": "CreateBackup",
    "point-in-time": "RestoreTableToPointInTime",
    "export": "ExportTableToPointInTime",
    "import": "ImportTable",
    "stream": "GetRecords",
    "Kinesis": "EnableKinesisStreamingDestination",
    "Contributor Insights": "UpdateContributorInsights",
    "vector": "SearchVectors",
}


WHERE_THE_REST_IS_LISTED = {
    "README.md": ("Not there yet:", "."),
    "docs/differences.md": ("there is no:", "\n\nA "),
}


@pytest.mark.parametrize("name", WHERE_THE_REST_IS_LISTED)
def test_the_features_said_to_be_missing_are_those_that_are(name: str) -> None:
    start, end = WHERE_THE_REST_IS_LISTED[name]
    text = (ROOT / name).read_text(encoding="utf-8")
    listed = text.partition(start)[2].partition(end)[0].replace("\n", " ")
    works = {operation.name for operation in operations()}
    said = {feature for feature in FEATURES if re.search(rf"\b{feature}", listed)}
    assert said == {feature for feature, operation in FEATURES.items() if operation not in works}


def test_what_is_refused_is_a_known_difference() -> None:
    assert [name for name in ASKED_FOR if f"`{name}`" not in page("differences.md")] == []


def test_every_command_has_its_help_on_the_page() -> None:
    commands = re.findall(r"^## hashrange (\w+)$", page("cli.md"), re.MULTILINE)
    for command in commands:
        assert f"usage: hashrange {command} " in page("cli.md")
    for other in ("serve", "check", "compact", "version"):
        assert other in commands


def test_the_example_configuration_changes_nothing(tmp_path: Path) -> None:
    example = re.search(r"```toml\n(.*?)```", page("configuration.md"), re.DOTALL)
    assert example is not None
    file = tmp_path / "hashrange.toml"
    file.write_text(example.group(1), encoding="utf-8")
    arguments = build_parser().parse_args(["serve", "--config", str(file)])
    defaults = argparse.Namespace(**{**vars(arguments), "config": None})
    assert settle(arguments, {}).values == settle(defaults, {}).values


def test_the_example_configuration_has_every_option() -> None:
    shown = re.search(r"```toml\n(.*?)```", page("configuration.md"), re.DOTALL)
    assert shown is not None
    everything = tomllib.loads(re.sub(r"^# ", "", shown.group(1), flags=re.MULTILINE))
    assert list(everything) == [option.name for option in SERVE_OPTIONS]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(path: Path) -> None:
    text = FENCED.sub("", path.read_text(encoding="utf-8"))
    targets = [link for link in re.findall(r"\]\(([^)\s]+)\)", text) if not link.startswith("http")]
    assert [target for target in targets if not leads_somewhere(path, target)] == []


def leads_somewhere(path: Path, target: str) -> bool:
    name, _, heading = target.partition("#")
    file = path.parent / name if name else path
    if not heading:
        return file.exists()
    headings = re.findall(r"^#+ (.*)$", file.read_text(encoding="utf-8"), re.MULTILINE)
    return heading in [re.sub(r"[^\w\- ]", "", each.lower()).replace(" ", "-") for each in headings]


@pytest.mark.parametrize("name", ["README.md", "docs/architecture.md"])
def test_every_folder_of_the_source_is_on_the_map(name: str) -> None:
    folders = [path.parent.name for path in PACKAGE.glob("*/__init__.py")]
    text = (ROOT / name).read_text(encoding="utf-8")
    assert [folder for folder in folders if not re.search(rf"^(?: *\w+/)* *{folder}/", text, re.MULTILINE)] == []


def test_every_job_is_introduced() -> None:
    names = [job.name.replace("-", "_") for job in JOBS]
    assert [name for name in names if f"[{name}](" not in page("architecture.md")] == []


def test_decisions_are_numbered_and_complete() -> None:
    decisions = sorted((DOCS / "decisions").glob("*.md"))
    assert [int(path.name[:4]) for path in decisions] == list(range(1, len(decisions) + 1))
    for path in decisions:
        text = path.read_text(encoding="utf-8")
        assert text.startswith(f"# {path.name[:4]} ")
        assert re.findall(r"^## (.*)$", text, re.MULTILINE) == ["Context", "Options", "Decision", "Cost"]
