"""Where options come from, and what the small commands print."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from crash.client import Client
from crash.server import Server, hashrange
from hashrange import __version__
from hashrange.cli.main import build_parser, is_compiled
from hashrange.cli.options import SERVE_OPTIONS, ConfigurationError, settle


def endpoint_region(server: Server) -> str:
    """The region as the server tells it when it starts."""
    found = re.search(r'region_name="([^"]+)"', "\n".join(server.lines))
    return found[1] if found else server.hears(lambda line: "region_name=" in line).split('"')[-2]


def test_version_is_one_line() -> None:
    build = ", compiled" if is_compiled() else ""
    assert hashrange("version") == (0, f"hashrange {__version__}{build}\n", "")


def test_help_lists_the_commands_with_examples() -> None:
    code, output, errors = hashrange("--help")
    assert (code, errors) == (0, "")
    for word in ("serve", "check", "compact", "version", "examples:"):
        assert word in output


def test_help_of_serve_tells_every_option_with_its_default_and_variable() -> None:
    code, output, errors = hashrange("serve", "--help", env={"COLUMNS": "400"})
    assert (code, errors) == (0, "")
    text = " ".join(output.split())
    for option in SERVE_OPTIONS:
        has_default = option.default is not None and option.default is not False
        default = f"(default: {option.default}) " if has_default else ""
        assert f"{option.flag} " in text
        assert f"{default}[{option.environment}]" in text
    assert "[HASHRANGE_CONFIG]" in text


@pytest.mark.parametrize("command", ["check", "compact", "version"])
def test_every_command_has_help(command: str) -> None:
    code, output, _ = hashrange(command, "--help")
    assert code == 0
    assert output.startswith(f"usage: hashrange {command} [-h]")


def test_the_file_wins_over_the_default(tmp_path: Path) -> None:
    (tmp_path / "hashrange.toml").write_text('data = "x"\nmemory = true\n')
    code, _, errors = hashrange("serve", cwd=tmp_path)
    assert (code, errors) == (2, "hashrange: Choose one of --data and --memory.\n")
    (tmp_path / "hashrange.toml").write_text('region = "eu-file-1"\nidle-timeout = 7\n')
    with Server(tmp_path / "data", cwd=tmp_path) as server:
        assert endpoint_region(server) == "eu-file-1"


def test_the_environment_wins_over_the_file(tmp_path: Path) -> None:
    (tmp_path / "other.toml").write_text('region = "eu-file-1"\n')
    env = {"HASHRANGE_REGION": "eu-environment-1", "HASHRANGE_CONFIG": "other.toml"}
    with Server(tmp_path / "data", cwd=tmp_path, env=env) as server:
        assert endpoint_region(server) == "eu-environment-1"


def test_the_command_line_wins_over_both(tmp_path: Path) -> None:
    (tmp_path / "other.toml").write_text('region = "eu-file-1"\n')
    env = {"HASHRANGE_REGION": "eu-environment-1"}
    options = ("--region", "eu-line-1", "--config", "other.toml")
    with Server(tmp_path / "data", *options, cwd=tmp_path, env=env) as server:
        assert endpoint_region(server) == "eu-line-1"


def test_the_file_chosen_on_the_command_line_wins_over_the_one_in_the_environment(tmp_path: Path) -> None:
    (tmp_path / "chosen.toml").write_text('region = "eu-chosen-1"\n')
    env = {"HASHRANGE_CONFIG": "missing.toml"}
    with Server(tmp_path / "data", "--config", "chosen.toml", cwd=tmp_path, env=env) as server:
        assert endpoint_region(server) == "eu-chosen-1"


def test_a_server_in_memory_leaves_nothing_on_disk(tmp_path: Path) -> None:
    with Server(None, cwd=tmp_path) as server, Client(server.port) as client:
        assert client("ListTables") == {"TableNames": []}
        assert server.stop() == 0
    assert list(tmp_path.iterdir()) == []


def test_a_missing_directory_is_made_and_belongs_to_its_owner_only(tmp_path: Path) -> None:
    data = tmp_path / "deep" / "down" / "data"
    with Server(data) as server:
        assert server.stop() == 0
    assert data.stat().st_mode & 0o777 == 0o700
    assert {path.name for path in data.iterdir()} == {"data.mdb", "lock.mdb", "hashrange.lock"}


def test_where_the_data_is_is_one_question(tmp_path: Path) -> None:
    file = tmp_path / "options.toml"
    file.write_text('data = "from-file"\n', encoding="utf-8")

    def settled(*arguments: str, **environment: str) -> tuple[str | None, bool]:
        options = settle(build_parser().parse_args(["serve", "--config", str(file), *arguments]), environment)
        return options.data, options.memory

    assert settled() == ("from-file", False)
    assert settled("--memory") == (None, True)
    assert settled(HASHRANGE_MEMORY="1") == (None, True)
    assert settled("--data", "here", HASHRANGE_MEMORY="1") == ("here", False)
    with pytest.raises(ConfigurationError, match="Choose one of --data and --memory"):
        settled("--data", "here", "--memory")
