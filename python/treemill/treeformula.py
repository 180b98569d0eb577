"""What TTreeFormula has and Python has not, rewritten in the language: functions with `$`,
`TMath::`, `c ? a : b`, `@x.size()`, and `y:x`.

Pure: pieces of text to pieces of text, each of which knows its place in the user's own. Knows
brackets and commas, no grammar, no branch and no type.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, NoReturn

from .errors import QueryError

__all__ = ["Piece", "dimensions", "translate"]


class Piece(NamedTuple):
    """Some text that goes to the parser. `at` is the place in the user's text of its first
    character; the others follow it there if it `stays`, else all are at that place."""

    text: str
    at: int
    stays: bool = True
    kind: str = ""


@dataclass(frozen=True)
class _Bracket:
    """From an opening bracket to its closing one: what is between the commas."""

    open: Piece
    segments: list[list[_Node]]
    commas: list[Piece]
    close: Piece


_Node = Piece | _Bracket

# As TTreeFormula: the extreme of no items is 0.
_FUNCTIONS = {
    "Sum$": ("sum(", ")", 1),
    "Length$": ("len(", ")", 1),
    "Max$": ("fill_missing(max(", "), 0)", 1),
    "Min$": ("fill_missing(min(", "), 0)", 1),
    "MaxIf$": ("fill_missing(max((", "]), 0)", 2),
    "MinIf$": ("fill_missing(min((", "]), 0)", 2),
    "Alt$": ("fill_missing(", ")", 2),
}
_NUMBERS = {"Entry$": "entry_number", "LocalEntry$": "local_entry_number"}
_INSTEAD = {
    "Iteration$": "Iteration$ is an item's place in its list: write Jet_pt[:2] for the first "
    "items, or [i for i, j in enumerate(Jet)] for the places",
    "Entries$": "Entries$ is not known: write the dataset's num_entries as a number",
    "Length$": "Length$ needs its list: write Length$(x) or len(x)",
}
_TMATH = {
    **{name: name.lower() for name in ("Abs", "Sqrt", "Exp", "Log", "Log2", "Log10", "Sin", "Cos")},
    **{name: name.lower() for name in ("Tan", "ASin", "ACos", "ATan", "ATan2", "SinH", "CosH")},
    **{name: name.lower() for name in ("TanH", "ASinH", "ACosH", "ATanH", "Hypot", "Min", "Max")},
    **{name: name.lower() for name in ("Floor", "Ceil", "IsNaN")},
    "Power": "pow",
    "Sq": "square",
    "Finite": "isfinite",
}
_TMATH_CONSTANTS = {
    "Pi": "pi",
    "TwoPi": "(2*pi)",
    "PiOver2": "(pi/2)",
    "E": "e",
    "DegToRad": "(pi/180)",
    "RadToDeg": "(180/pi)",
}
_KEYWORDS = re.compile(r"\b(for|if|else|lambda)\b")
_MOST_CHOICES = 60


def translate(text: str, pieces: list[Piece]) -> list[Piece]:
    """The pieces of `text` with all that is TTreeFormula's own rewritten. Raises QueryError for
    what has no counterpart, with what to write instead."""
    if sum(piece.kind == "question" for piece in pieces) > _MOST_CHOICES:
        message = f"more than {_MOST_CHOICES} times a ? b : c; define() parts of it as columns"
        raise QueryError(message, text=text)
    return list(_Translator(text).segments(*_tree(pieces)))


def _tree(pieces: list[Piece]) -> tuple[list[list[_Node]], list[Piece]]:
    """Segments and commas between them. Brackets that do not match are left to the parser."""
    stack: list[tuple[Piece | None, list[list[_Node]], list[Piece]]] = [(None, [[]], [])]
    for piece in pieces:
        opened, segments, commas = stack[-1]
        if piece.kind == "open":
            stack.append((piece, [[]], []))
        elif piece.kind == "close" and opened is not None:
            stack.pop()
            stack[-1][1][-1].append(_Bracket(opened, segments, commas, piece))
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


class _Translator:
    def __init__(self, text: str) -> None:
        self.text = text

    def refuse(self, message: str, piece: Piece) -> NoReturn:
        stop = piece.at + max(len(piece.text), 1)
        raise QueryError(message, text=self.text, span=(piece.at, stop))

    def segments(self, segments: list[list[_Node]], commas: list[Piece]) -> Iterator[Piece]:
        yield from self.segment(segments[0])
        for comma, segment in zip(commas, segments[1:], strict=True):
            yield comma
            yield from self.segment(segment)

    def segment(self, nodes: list[_Node]) -> Iterator[Piece]:
        for at, node in enumerate(nodes):
            if isinstance(node, Piece) and node.kind == "question":
                yield from self.choice(nodes, at)
                return
        yield from self.plain(nodes)

    def choice(self, nodes: list[_Node], at: int) -> Iterator[Piece]:
        """`c ? a : b` as `(a) if (c) else (b)`."""
        question = nodes[at]
        assert isinstance(question, Piece)
        for node in nodes:
            if isinstance(node, Piece) and _KEYWORDS.search(node.text):
                self.refuse(
                    "put c ? a : b in parentheses beside for, if, else and lambda", question
                )
        between = _colon(nodes, at)
        if between is None:
            self.refuse("C's a ? b : c lacks its ':'; Python writes b if a else c", question)
        condition, yes, no = nodes[:at], nodes[at + 1 : between], nodes[between + 1 :]
        if not all(map(_has_text, (condition, yes, no))):
            self.refuse("C's a ? b : c lacks a part", question)
        start = _start(condition[0])
        yield Piece("((", start, False)
        yield from self.segment(yes)
        yield Piece(")", _stop(yes[-1]), False)
        yield Piece(" if (", start, False)
        yield from self.segment(condition)
        yield Piece(")", _stop(condition[-1]), False)
        yield Piece(" else (", _start(no[0]), False)
        yield from self.segment(no)
        yield Piece("))", _stop(no[-1]), False)

    def plain(self, nodes: list[_Node]) -> Iterator[Piece]:
        skip: _Node | None = None
        for at, node in enumerate(nodes):
            if node is skip:
                continue
            if isinstance(node, _Bracket):
                yield node.open
                yield from self.segments(node.segments, node.commas)
                yield node.close
                continue
            handler = _HANDLERS.get(node.kind)
            if handler is None:
                yield node
                continue
            following = next((n for n in nodes[at + 1 :] if _has_text([n])), None)
            bracket = following if isinstance(following, _Bracket) else None
            if bracket is not None and bracket.open.text != "(":
                bracket = None
            yield from handler(self, node, bracket)
            skip = bracket

    def dollar(self, name: Piece, bracket: _Bracket | None) -> Iterator[Piece]:
        if name.text in _NUMBERS and bracket is None:
            yield Piece(_NUMBERS[name.text], name.at, False)
            return
        if name.text not in _FUNCTIONS or bracket is None:
            self.refuse(_INSTEAD.get(name.text, self.unknown(name.text)), name)
        before, after, count = _FUNCTIONS[name.text]
        if len(bracket.segments) != count or not all(map(_has_text, bracket.segments)):
            self.refuse(f"{name.text} takes {count} argument{'s' * (count > 1)}", name)
        first = bracket.segments[0]
        if name.text == "Alt$" and not (isinstance(first[-1], _Bracket) and _indexes(first[-1])):
            self.refuse("Alt$(x[i], instead) takes one item; of lists write what is meant", name)
        end = bracket.close.at
        yield from _opening(before, name.at, bracket.open.at)
        yield from self.segment(first)
        if count == 2:
            comma = bracket.commas[0].at
            yield Piece(", " if name.text == "Alt$" else ")[", comma, False)
            yield from self.segment(bracket.segments[1])
        # The 0 of `fill_missing(…, 0)` stands at the closing bracket, the last sign behind it.
        yield Piece(after[:-1], end, False)
        yield Piece(after[-1], end + (len(after) > 1), False)

    @staticmethod
    def unknown(name: str) -> str:
        known = ", ".join(_FUNCTIONS)
        return f"{name} is not known; of TTree::Draw's functions there are {known}"

    def tmath(self, name: Piece, bracket: _Bracket | None) -> Iterator[Piece]:
        short = name.text.removeprefix("TMath::")
        if short in _TMATH_CONSTANTS and bracket is not None:
            yield Piece(_TMATH_CONSTANTS[short], name.at, False)
            return
        if short not in _TMATH or bracket is None:
            self.refuse(f"{name.text} is not known; there are {', '.join(_TMATH)}", name)
        yield Piece(_TMATH[short], name.at, False)
        yield bracket.open
        yield from self.segments(bracket.segments, bracket.commas)
        yield bracket.close

    def size(self, name: Piece, bracket: _Bracket | None) -> Iterator[Piece]:
        column = name.text[1:].split(".")[0]
        yield from _opening("len(", name.at, name.at + 1)
        yield Piece(column, name.at + 1)
        yield Piece(")", name.at + 1 + len(column), False)
        if bracket is not None:
            self.refuse("a size is a number and cannot be called", name)


_HANDLERS: dict[str, Callable[[_Translator, Piece, _Bracket | None], Iterable[Piece]]] = {
    "dollar": _Translator.dollar,
    "tmath": _Translator.tmath,
    "size": _Translator.size,
}


def _opening(words: str, at: int, bracket: int) -> Iterator[Piece]:
    """`f(g(`: names at the user's name, brackets at the user's bracket."""
    for part in re.findall(r"\w+|\W", words):
        yield Piece(part, bracket if part == "(" else at, False)


def _colon(nodes: list[_Node], at: int) -> int | None:
    """Where the `:` of the `?` at `at` is."""
    depth = 0
    for place in range(at, len(nodes)):
        node = nodes[place]
        if isinstance(node, Piece) and node.kind in ("question", "colon"):
            depth += 1 if node.kind == "question" else -1
            if depth == 0:
                return place
    return None


def _has_text(nodes: list[_Node]) -> bool:
    return any(isinstance(node, _Bracket) or node.text.strip() for node in nodes)


def _indexes(bracket: _Bracket) -> bool:
    return bracket.open.text == "["


def _start(node: _Node) -> int:
    return node.open.at if isinstance(node, _Bracket) else node.at


def _stop(node: _Node) -> int:
    piece = node.close if isinstance(node, _Bracket) else node
    return piece.at + (len(piece.text) if piece.stays else 1)


def dimensions(pieces: Iterable[Piece]) -> list[tuple[int, int]]:
    """The places of the expressions of TTree::Draw's "z:y:x", as [start, stop), x first: what is
    between the colons outside of brackets and lambdas that no ? has claimed."""
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
