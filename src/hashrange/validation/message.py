"""Words broken constraints: one list of up to ten entries, in the older and the newer wording."""

from __future__ import annotations

from collections.abc import Sequence

from hashrange.errors import ValidationException
from hashrange.validation import wording
from hashrange.validation.constraints import Violation
from hashrange.validation.echo import echo
from hashrange.validation.schema import Schema


def constraint_error(schema: Schema, operation: str, found: Sequence[Violation]) -> ValidationException:
    """The error for what was found in a request of the operation. There must be something."""
    reported = in_entry_order(operation, after_empty_table_name(found))
    older = told(reported, [older_entry(schema, violation) for violation in reported])
    if operation not in wording.NEWER_OPERATIONS:
        return ValidationException(older)
    alone = [violation for violation in reported if (operation, violation.path.members) in wording.ALONE_IN_NEWER]
    if alone and not has_empty_table_name(reported):
        reported = alone
    newer = told(reported, [newer_entry(schema, violation) for violation in reported])
    return ValidationException(older, newer=newer)


def told(violations: Sequence[Violation], entries: Sequence[str | None]) -> str:
    """The list of those that have an entry; if none has, the first one's own sentence."""
    listed = [entry for entry in entries if entry is not None][: wording.ENTRIES_MAX]
    if not listed:
        first = violations[0]
        return wording.SENTENCES[first.shape.name, first.constraint].text
    plural = "" if len(listed) == 1 else "s"
    return f"{len(listed)} validation error{plural} detected: {'; '.join(listed)}"


def older_entry(schema: Schema, violation: Violation) -> str | None:
    if (violation.shape.name, violation.constraint) in wording.SENTENCES:
        return None
    value = "null" if violation.value is None else f"'{echo(schema, violation.shape, violation.value)}'"
    return f"Value {value} at '{violation.path.older}' failed to satisfy constraint: {violation.text}"


def newer_entry(schema: Schema, violation: Violation) -> str | None:
    shape, constraint = violation.shape.name, violation.constraint
    if constraint == "enum" and shape in wording.NEWER_ENTRIES:
        return wording.NEWER_ENTRIES[shape]
    sentence = wording.SENTENCES.get((shape, constraint))
    if sentence is not None and not sentence.newer_lists:
        return None
    if constraint in wording.NEWER_CONSTRAINTS and (shape, constraint) not in wording.UNCHANGED_IN_NEWER:
        return f"Value at '{violation.path.newer}' failed to satisfy constraint: {violation.text}"
    return older_entry(schema, violation)


def in_entry_order(operation: str, found: Sequence[Violation]) -> list[Violation]:
    order = wording.ENTRY_ORDER.get(operation, ())

    def rank(violation: Violation) -> int:
        """The first named place that holds this one; without any, after all that are named."""
        inside = f"{violation.path.members}."
        return next((index for index, name in enumerate(order) if inside.startswith(f"{name}.")), len(order))

    return sorted(found, key=rank)


def after_empty_table_name(found: Sequence[Violation]) -> Sequence[Violation]:
    """An empty table name stops the list: then its length is all that is reported."""
    return [violation for violation in found if is_empty_table_name(violation)] or found


def has_empty_table_name(found: Sequence[Violation]) -> bool:
    return any(is_empty_table_name(violation) for violation in found)


def is_empty_table_name(violation: Violation) -> bool:
    return violation.path.members == "TableName" and violation.value == "" and violation.constraint == "min"
