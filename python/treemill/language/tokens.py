"""Pieces of an expression's text, each with its place in the user's own, and their brackets as a
tree. Knows brackets, commas and colons, no name and no grammar.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from ..frozen import frozen

__all__ = [
    "ALIAS",
    "DRAW",
    "LANGUAGE",
    "Bracket",
    "Dialect",
    "Node",
    "Piece",
    "colon",
    "dimensions",
    "first_of",
    "has_text",
    "indexes",
    "inside",
    "start_of",
    "stop_of",
    "tree",
]

# Whose words an expression is written in: those of the language itself, or those of TTreeFormula,
# as TTree::Draw and TTree::SetAlias take them. Data only: what a dialect's words become is said
# by the modules that translate them.


@frozen
class Dialect:
    """What the signs of an expression mean."""

    formula: bool = False
    """Whether `^` is the power, `%` C's remainder, and `&` and `|` bind more loosely than
    comparisons, as in TTreeFormula. If not, signs mean what they do in Python."""
    has_entries: bool = False
    """Whether `Entries$` is known."""
    has_chains: bool = True
    """Whether `a < b < c` is read as Python reads it. If not, it is refused, because TTreeFormula
    reads `(a < b) < c`."""


LANGUAGE = Dialect()
"""What users write in queries."""
DRAW = Dialect(formula=True, has_entries=True)
"""What users write in drawings, as for TTree::Draw."""
ALIAS = Dialect(formula=True, has_chains=False)
"""What stands in files, written by TTree::SetAlias."""


class Piece(NamedTuple):
    """Some text that goes to the parser. `at` is the place of its first character in the user's
    text. If it `stays`, the other characters follow there; if not, all of it is at that place."""

    text: str
    at: int
    stays: bool = True
    kind: str = ""


@dataclass(frozen=True)
class Bracket:
    """A pair of brackets, with the segments between its commas."""

    open: Piece
    segments: list[list[Node]]
    commas: list[Piece]
    close: Piece


Node = Piece | Bracket


def tree(pieces: list[Piece]) -> tuple[list[list[Node]], list[Piece]]:
    """Gives the segments and the commas between them. The parser refuses brackets that do not
    match."""
    stack: list[tuple[Piece | None, list[list[Node]], list[Piece]]] = [(None, [[]], [])]
    for piece in pieces:
        opened, segments, commas = stack[-1]
        if piece.kind == "open":
            stack.append((piece, [[]], []))
        elif piece.kind == "close" and opened is not None:
            stack.pop()
            stack[-1][1][-1].append(Bracket(opened, segments, commas, piece))
        elif piece.kind == "comma":
            commas.append(piece)
            segments.append([])
        else:
            segments[-1].append(piece)
    while len(stack) > 1:
        opened, segments, commas = stack.pop()
        assert opened is not None
        inner = stack[-1][1][-1]
        inner.append(opened)
        for segment, comma in zip(segments, [*commas, None], strict=True):
            inner += segment if comma is None else [*segment, comma]
    return stack[0][1], stack[0][2]


def colon(nodes: list[Node], at: int) -> int | None:
    """The place of the `:` that belongs to the `?` at `at`."""
    depth = 0
    for place in range(at, len(nodes)):
        node = nodes[place]
        if isinstance(node, Piece) and node.kind in ("question", "colon"):
            depth += 1 if node.kind == "question" else -1
            if depth == 0:
                return place
    return None


def has_text(nodes: list[Node]) -> bool:
    """True if there is anything but blanks."""
    return any(isinstance(node, Bracket) or node.text.strip() for node in nodes)


def indexes(node: Node) -> bool:
    """True if it is `[…]`."""
    return isinstance(node, Bracket) and node.open.text == "["


def inside(node: Node) -> list[Node]:
    """The nodes in a bracket, without its commas."""
    return [each for part in node.segments for each in part] if isinstance(node, Bracket) else []


def first_of(node: Node) -> Piece:
    """The piece of a node that errors point at."""
    return node.open if isinstance(node, Bracket) else node


def start_of(node: Node) -> int:
    """Returns the token's first place in the user's text."""
    return node.open.at if isinstance(node, Bracket) else node.at


def stop_of(node: Node) -> int:
    """The place after it in the user's text."""
    piece = node.close if isinstance(node, Bracket) else node
    return piece.at + (len(piece.text) if piece.stays else 1)


def dimensions(pieces: Iterable[Piece]) -> list[tuple[int, int]]:
    """The ranges [start, stop) of the expressions of TTree::Draw's "z:y:x", x first. They end at
    colons that are outside of brackets and belong to no lambda and no ?."""
    depth = claimed = start = stop = 0
    ranges = []
    in_lambda = False
    for piece in pieces:
        stop = piece.at + len(piece.text)
        if piece.kind in ("open", "close"):
            depth += 1 if piece.kind == "open" else -1
        elif depth == 0 and piece.kind == "question":
            claimed += 1
        elif depth == 0 and piece.kind == "colon":
            if in_lambda:
                in_lambda = False
            elif claimed:
                claimed -= 1
            else:
                ranges.append((start, piece.at))
                start = stop
        elif depth == 0 and re.search(r"\blambda\b", piece.text):
            in_lambda = True
    return [*ranges, (start, stop)][::-1]
