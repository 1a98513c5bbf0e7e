"""The grammar of projections: document paths, separated by commas."""

from __future__ import annotations

from hashrange.expressions.ast import ProjectionNode
from hashrange.expressions.kinds import Kind
from hashrange.expressions.parser import Parser, check_paths
from hashrange.expressions.tokens import END


def parse_projection(text: str, kind: Kind) -> ProjectionNode:
    """The tree of a projection, after all checks that need only its text."""
    parser = Parser(text, kind)
    paths = [parser.path()]
    while parser.take_if(","):
        paths.append(parser.path())
    parser.expect(END)
    root = ProjectionNode(tuple(paths))
    check_paths(root, kind)
    return root
