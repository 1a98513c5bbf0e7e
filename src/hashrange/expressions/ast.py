"""The tree of an expression, whatever it was written in.

The parsers of this package build these nodes from expression text; other grammars (PartiQL, the older parameters
such as KeyConditions) build the same nodes and get the same checks and the same evaluation. So a constant may stand
in the tree itself, and an attribute name needs no placeholder.
"""

from __future__ import annotations

from dataclasses import dataclass

from hashrange.values.types import AttributeValue


@dataclass(frozen=True, slots=True)
class NamePlaceholder:
    """`#name`: one path element whose attribute name comes with the request."""

    text: str


PathElement = str | int | NamePlaceholder


@dataclass(frozen=True, slots=True)
class Path:
    """A document path: an attribute, then steps into maps (names) and lists (indexes)."""

    elements: tuple[PathElement, ...]


@dataclass(frozen=True, slots=True)
class ValuePlaceholder:
    """`:value`: a constant that comes with the request."""

    text: str


@dataclass(frozen=True, slots=True)
class Constant:
    """A constant that the tree itself holds, normalised."""

    value: AttributeValue


@dataclass(frozen=True, slots=True)
class Function:
    """A function call. Some are conditions (`contains`), some are operands (`size`, `if_not_exists`)."""

    name: str
    arguments: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """A sum or a difference, in the value of a SET action only."""

    operator: str
    left: Operand
    right: Operand


Operand = Path | ValuePlaceholder | Constant | Function | Arithmetic


@dataclass(frozen=True, slots=True)
class Comparison:
    operator: str
    left: Operand
    right: Operand


@dataclass(frozen=True, slots=True)
class Between:
    operand: Operand
    lower: Operand
    upper: Operand


@dataclass(frozen=True, slots=True)
class Membership:
    """`operand IN (option, ...)`."""

    operand: Operand
    options: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class Not:
    condition: ConditionNode


@dataclass(frozen=True, slots=True)
class And:
    conditions: tuple[ConditionNode, ...]


@dataclass(frozen=True, slots=True)
class Or:
    conditions: tuple[ConditionNode, ...]


Leaf = Comparison | Between | Membership | Function
ConditionNode = Leaf | Not | And | Or


@dataclass(frozen=True, slots=True)
class SetAction:
    target: Path
    value: Operand


@dataclass(frozen=True, slots=True)
class RemoveAction:
    target: Path


@dataclass(frozen=True, slots=True)
class AddAction:
    """`legacy` marks an action of AttributeUpdates, which also appends to lists and words its errors differently."""

    target: Path
    value: Operand
    legacy: bool = False


@dataclass(frozen=True, slots=True)
class DeleteAction:
    target: Path
    value: Operand
    legacy: bool = False


Action = SetAction | RemoveAction | AddAction | DeleteAction


@dataclass(frozen=True, slots=True)
class UpdateNode:
    actions: tuple[Action, ...]


@dataclass(frozen=True, slots=True)
class ProjectionNode:
    paths: tuple[Path, ...]


Node = Operand | ConditionNode | Action | UpdateNode | ProjectionNode
