"""Writes `model/<service>.json` from botocore's service models: `python -m hashrange.validation.generate`.

The files are committed, so a running server needs neither botocore nor its documentation-laden models.
Only what requests need is kept: the operations, and every shape that an operation's input can reach; of the companion
services also what their outputs can reach, but only of the operations that there are.
A test generates them again and fails when they have fallen behind the installed botocore.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import botocore  # type: ignore[import-untyped]
from botocore.loaders import Loader  # type: ignore[import-untyped]

from hashrange.validation.schema import COMPANIONS, SERVICES, model_path

CONSTRAINTS = ("required", "min", "max", "pattern", "enum")


def compact_shape(shape: Mapping[str, Any]) -> dict[str, Any]:
    """One shape without its documentation; members keep the order of the model."""
    compact: dict[str, Any] = {"type": shape["type"]}
    if "members" in shape:
        compact["members"] = {name: member["shape"] for name, member in shape["members"].items()}
    for part in ("key", "value", "member"):
        if part in shape:
            compact[part] = shape[part]["shape"]
    compact.update((name, shape[name]) for name in CONSTRAINTS if shape.get(name) not in (None, []))
    return compact


def references(shape: Mapping[str, Any]) -> list[str]:
    """The names of the shapes that a compact shape is made of."""
    parts = [shape[part] for part in ("key", "value", "member") if part in shape]
    return [*shape.get("members", {}).values(), *parts]


def reachable_shapes(shapes: Mapping[str, Any], roots: list[str]) -> dict[str, Any]:
    """Every shape that the roots lead to, in the order of their names."""
    found: dict[str, Any] = {}
    waiting = list(roots)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = compact_shape(shapes[name])
            waiting.extend(references(found[name]))
    return dict(sorted(found.items()))


def generated_model(service: str) -> dict[str, Any]:
    """The content of `model/<service>.json`, from the installed botocore."""
    source = Loader().load_service_model(service, "service-2")
    operations = {
        name: {"input": operation["input"]["shape"], "output": operation.get("output", {}).get("shape")}
        for name, operation in sorted(source["operations"].items())
        if service in SERVICES or name in COMPANIONS[service]
    }
    roots = [operation["input"] for operation in operations.values()]
    if service in COMPANIONS:
        roots += [operation["output"] for operation in operations.values() if operation["output"] is not None]
    return {
        "botocore": botocore.__version__,
        "operations": operations,
        "shapes": reachable_shapes(source["shapes"], roots),
    }


def model_text(model: Mapping[str, Any]) -> str:
    """JSON with one operation or shape to a line, so that a change of the model reads well as a difference."""
    sections = [f'"botocore": {json.dumps(model["botocore"])}']
    for section in ("operations", "shapes"):
        lines = [f"  {json.dumps(name)}: {json.dumps(content)}" for name, content in model[section].items()]
        sections.append(f'"{section}": {{\n' + ",\n".join(lines) + "\n}")
    return "{\n" + ",\n".join(sections) + "\n}\n"


def main() -> None:
    for service in (*SERVICES, *COMPANIONS):
        model_path(service).write_text(model_text(generated_model(service)), encoding="utf-8")


if __name__ == "__main__":
    main()
