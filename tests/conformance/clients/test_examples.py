"""The examples do what they show; they assert it themselves."""

import os
import subprocess
import sys
from pathlib import Path

from conformance.support import node

EXAMPLES = Path(__file__).parents[3] / "examples"


def test_the_single_table_example_works_in_python(server):
    environment = {**os.environ, "AWS_ENDPOINT_URL": server}
    script = EXAMPLES / "single_table.py"
    result = subprocess.run((sys.executable, script), env=environment, capture_output=True, text=True, timeout=60)
    assert (result.returncode, result.stdout) == (0, "The shop works.\n"), result.stderr


def test_the_single_table_example_works_in_javascript(server):
    assert node.run(EXAMPLES / "single-table.mjs", server) == "The shop works.\n"
