"""Python callables, shell commands and HTTP endpoints are called, and their failures are only theirs."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import hashrange
from hashrange.triggers.call import Context, FunctionFailed, Functions, NotCalled
from hashrange.triggers.target import BadTarget, Target, function_name, parse_target

HERE = Path(__file__).parent
CONTEXT = Context("remember", "arn:aws:lambda:us-east-1:000000000000:function:remember", "request-1")
EVENT = b'{"Records":[]}'


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the processes of functions import the module beside this one."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join((str(HERE), str(Path(hashrange.__file__).parents[1]))))


@pytest.fixture
def functions() -> Iterator[Functions]:
    functions = Functions(seconds=10)
    yield functions
    functions.close()


def python(name: str) -> Target:
    return Target("python", f"handlers:{name}")


def test_a_python_function_keeps_its_process_between_calls(engine: Any, tmp_path: Path) -> None:
    engine.trigger("python:handlers:remember", BatchSize=1)
    seen = tmp_path / "seen"
    engine.put("1", "2", pk=str(seen))
    engine.deliver()
    lines = [line.split() for line in seen.read_text(encoding="utf-8").splitlines()]
    assert [line[1] for line in lines] == ["1", "2"]
    assert lines[0][0] == lines[1][0] != str(os.getpid())


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("fail", "ValueError: no such order"),
        ("die", "the process of the function ended"),
        ("answer_nonsense", "TypeError: Object of type object is not JSON serializable"),
        ("answer_not_a_number", "the response is not JSON"),
        ("missing", "the process of the function ended"),
    ],
)
def test_a_python_function_that_fails_fails_alone(functions: Functions, name: str, reason: str) -> None:
    with pytest.raises(FunctionFailed, match=reason):
        functions.call(python(name), EVENT, CONTEXT)
    event = b'{"Records":[{"dynamodb":{"SequenceNumber":"7"}}]}'
    answer = functions.call(python("report_last"), event, CONTEXT)
    assert answer == b'{"batchItemFailures":[{"itemIdentifier":"7"}]}'


def test_a_function_that_takes_too_long_is_ended() -> None:
    functions = Functions(seconds=0.5)
    for target in (python("sleep"), Target("command", "sleep 60")):
        with pytest.raises(FunctionFailed):
            functions.call(target, EVENT, CONTEXT)
    functions.close()


def test_a_command_has_the_event_on_its_standard_input(engine: Any, tmp_path: Path) -> None:
    engine.trigger(f"command:cat >> {tmp_path}/events; echo >> {tmp_path}/events", BatchSize=1)
    engine.put("1", "2")
    engine.deliver()
    assert (tmp_path / "events").read_text(encoding="utf-8").count('{"Records":[{"eventID"') == 2


def test_a_command_may_report_failures_and_fails_by_its_exit_code(functions: Functions) -> None:
    assert functions.call(Target("command", "cat"), EVENT, CONTEXT) == EVENT
    with pytest.raises(FunctionFailed, match="exit code 3"):
        functions.call(Target("command", "exit 3"), EVENT, CONTEXT)


def test_what_a_command_leaves_behind_is_ended_with_it(tmp_path: Path) -> None:
    functions = Functions(seconds=0.3)
    with pytest.raises(FunctionFailed):
        functions.call(Target("command", f"(sleep 0.6; touch '{tmp_path}/left') &"), EVENT, CONTEXT)
    time.sleep(0.6)
    assert not (tmp_path / "left").exists()


def test_nothing_is_started_once_the_functions_are_closed(functions: Functions) -> None:
    functions.close()
    with pytest.raises(NotCalled):
        functions.call(python("remember"), EVENT, CONTEXT)


def test_a_function_written_with_powertools_works(engine: Any, tmp_path: Path) -> None:
    pytest.importorskip("aws_lambda_powertools")
    engine.trigger("python:handlers:with_powertools", FunctionResponseTypes=["ReportBatchItemFailures"])
    seen = tmp_path / "seen"
    engine.put("1", pk=str(seen), amount={"N": "1.5"})
    engine.put("bad", "2", pk=str(seen), amount={"N": "2"})
    engine.deliver()
    assert seen.read_text(encoding="utf-8").split() == ["1", "3.0", "2", "4"]
    uuid = engine.mapping("List")["EventSourceMappings"][0]["UUID"]
    assert engine.result(uuid) == "PROBLEM: Function call failed"


def test_a_host_name_that_there_cannot_be_is_not_called(functions: Functions) -> None:
    with pytest.raises(NotCalled):
        functions.call(parse_target(f"http://{'x' * 64}.example/"), EVENT, CONTEXT)


def test_registered_functions_are_found_at_the_moment_of_the_call(watched: Any, consumer: Any) -> None:
    targets = {"ours": "http://127.0.0.1:9/"}
    engine = watched(functions=targets)
    engine.create_table(StreamSpecification={"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"})
    engine.trigger("arn:aws:lambda:us-east-1:000000000000:function:ours:live")
    engine.put("1")
    engine.deliver()
    targets["ours"] = consumer.url
    engine.clock.advance(1)
    engine.deliver()
    assert consumer.batches == [["1"]]
    targets.clear()
    engine.put("2")
    engine.deliver()
    assert consumer.batches == [["1"]]


@pytest.mark.parametrize(
    "text",
    [
        *("python:", "python:module", "python:os.system('x'):y", "command: ", "ftp://x/", "http://", "https:///x"),
        *(
            "http://[/",
            "http://x:99999/",
            "http://x:0/",
            "http://x:y/",
            "http://x/a b",
            "http://x/\n",
            "http://x/\u00e9",
        ),
    ],
)
def test_what_names_nothing_is_refused(text: str) -> None:
    with pytest.raises(BadTarget):
        parse_target(text)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("resize", "resize"),
        ("resize:live", "resize"),
        ("arn:aws:lambda:us-east-1:123456789012:function:resize", "resize"),
        ("arn:aws:lambda:us-east-1:123456789012:function:resize:$LATEST", "resize"),
        ("123456789012:function:resize", "resize"),
        ("a/b", None),
        ("arn:aws:sqs:us-east-1:123456789012:queue", None),
    ],
)
def test_functions_are_known_by_the_last_part_of_their_arn(text: str, name: str | None) -> None:
    assert function_name(text) == name


def test_a_function_does_not_see_the_secrets_of_the_server(
    functions: Functions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HASHRANGE_SECRET_ACCESS_KEY", "the server's")
    monkeypatch.setenv("HASHRANGE_KEYS_SECRET", "the server's")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "the function's")
    command = 'echo "\\"$HASHRANGE_SECRET_ACCESS_KEY|$HASHRANGE_KEYS_SECRET|$AWS_SECRET_ACCESS_KEY\\""'
    assert functions.call(Target("command", command), EVENT, CONTEXT) == b'"||the function\'s"'
