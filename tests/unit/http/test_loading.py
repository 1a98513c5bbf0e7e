"""Operations are loaded when they are asked for, and soon after the start in any case."""

import subprocess
import sys

import pytest

WITHOUT_DESCRIPTORS = """
import asyncio, importlib, os, resource, sys
from hashrange import app
from hashrange.operations import registry

modules = [f"hashrange.operations.{each}" for each in (*registry.CONTENTS, *registry.CLOUDWATCH_CONTENTS)]
assert not any(module in sys.modules for module in modules), "loaded before anybody asked"
app.LOAD_AFTER_SECONDS = 0
asyncio.run(app.load_the_rest())
assert all(module in sys.modules for module in modules)
resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))
try:
    os.open("/dev/null", os.O_RDONLY)
    raise AssertionError("there are descriptors")
except OSError:
    pass
for load in (*app.contents().values(), *app.cloudwatch_contents().values()):
    load()
for target in app.contents().values():
    target().plausible({})
registry.rest_operations()
for module in app.LOADED_LATE:
    importlib.import_module(module)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="has no such limit")
def test_once_everything_is_loaded_no_operation_needs_a_file_descriptor():
    run = subprocess.run([sys.executable, "-c", WITHOUT_DESCRIPTORS], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")
