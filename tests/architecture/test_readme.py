"""The examples of the README work as they stand, one after the other."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from architecture.source import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
ADDRESS = "http://127.0.0.1:8000"
REGION = "us-east-1"
OWN_REGION = "readme"  # where no other test has a table called orders
ORDER = "[{'customer': 'ada', 'placed': '2026-01-05', 'amount': Decimal('15')}]"


def example(language: str, server: str) -> str:
    block = re.search(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
    assert block is not None
    assert ADDRESS in block.group(1)
    assert REGION in block.group(1)
    return block.group(1).replace(ADDRESS, server).replace(REGION, OWN_REGION)


def run(*command: str) -> str:
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    finished = subprocess.run(
        command, env={**os.environ, "PATH": path}, capture_output=True, text=True, timeout=60, check=False
    )
    assert finished.returncode == 0, finished.stderr
    return finished.stdout


def test_the_examples_of_the_readme_work(server: str) -> None:
    assert run(sys.executable, "-c", example("python", server)).strip() == ORDER
    assert ORDER in README
    answers = run("bash", "-ec", example("bash", server))
    assert '"orders"' in answers
    assert '"N": "15"' in answers
