"""What each request may cost, for each version of Python, in budget.json. As a command, records what it costs now.

    PYTHONPATH=src:tests python -m cost.budget

Do so after a change that makes requests cheaper, or dearer for a reason, and commit the file with that change.
"""

from __future__ import annotations

import json
import platform
from dataclasses import asdict
from pathlib import Path

from cost.counting import Cost, cost_of
from cost.requests import actions, prepared

FILE = Path(__file__).with_name("budget.json")
VERSION = ".".join(platform.python_version_tuple()[:2])

Budget = dict[str, Cost]


def measured() -> Budget:
    return {name: cost_of(action) for name, action in actions(prepared()).items()}


def recorded() -> tuple[str, Budget]:
    """The version and the budget recorded for this Python, or else those of the newest one that is recorded."""
    versions = json.loads(FILE.read_text())
    version = VERSION if VERSION in versions else max(versions, key=lambda text: tuple(map(int, text.split("."))))
    return version, {name: Cost(**cost) for name, cost in versions[version].items()}


def record() -> None:
    versions = json.loads(FILE.read_text()) if FILE.exists() else {}
    versions[VERSION] = {name: asdict(cost) for name, cost in measured().items()}
    FILE.write_text(json.dumps(dict(sorted(versions.items())), indent=1) + "\n")


if __name__ == "__main__":
    record()
