"""Running JavaScript: the packages are installed once into a cache, and scripts run beside them."""

import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "javascript"
MANIFESTS = ("package.json", "package-lock.json")
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "hashrange"
INSTALL = ("npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline")


def installed():
    """A folder with node_modules in it. Skips the test where Node.js or its packages cannot be had."""
    for program in ("node", "npm"):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")
    digest = hashlib.sha256(b"".join((PACKAGE / name).read_bytes() for name in MANIFESTS)).hexdigest()
    folder = CACHE / f"javascript-{digest[:16]}"
    if not folder.exists():
        install(folder)
    return folder


def install(folder):
    """Fill the folder in one step, so that no other process ever sees half of it."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE) as scratch:
        for name in MANIFESTS:
            shutil.copy(PACKAGE / name, scratch)
        result = subprocess.run(INSTALL, cwd=scratch, capture_output=True, text=True)
        if result.returncode != 0:
            reason = "; ".join(line for line in result.stderr.splitlines() if line.startswith("npm error"))
            pytest.skip(f"the JavaScript packages cannot be installed: {reason[:120]}")
        filled = Path(scratch, "filled")
        filled.mkdir()
        shutil.move(Path(scratch, "node_modules"), filled)
        try:
            filled.rename(folder)
        except OSError:  # another process was quicker
            assert folder.exists()


def run(script, endpoint, *arguments):
    """What a script prints. It is copied, because Node.js looks for packages beside the script."""
    with tempfile.TemporaryDirectory(dir=installed()) as folder:
        copy = shutil.copy(script, folder)
        environment = {
            **os.environ,
            "AWS_ENDPOINT_URL": endpoint,
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_REGION": "us-east-1",
        }
        command = ("node", copy, *arguments)
        result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout
