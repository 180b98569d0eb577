"""Rewrites what TTreeFormula has and Python has not: functions with `$`, functions of `TMath::` and
other namespaces, `c ? a : b`, `@x.size()`, `x[]`, and methods of ROOT's vectors. What means
something else once it is parsed is in syntax_tree.py.

Pure: pieces of text to pieces of text, each with its place in the user's own. Knows brackets and
commas, no grammar, no branch and no type.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NoReturn

from ..errors import QueryError
from .function_registry import ENTRIES, OWN_ENTRY, OWN_LOCAL_ENTRY
from .tokens import (
    Bracket,
    Dialect,
    Node,
    Piece,
    colon,
    first_of,
    has_text,
    indexes,
    inside,
    start_of,
    stop_of,
    tree,
)

__all__ = ["translate"]

# Tables of TTreeFormula's functions and ROOT's methods, and what each is in the language. Knows
# no grammar, no branch and no type. A template has the arguments as {0}, {1} …; the translator
# puts each in parentheses.

# As in TTreeFormula they take all items, those of lists in lists too; the extreme of none is 0.
DOLLAR = {
    "Sum$": ("sum(flatten(", "))", 1),
    "Length$": ("len(flatten(", "))", 1),
    "Max$": ("fill_missing(max(flatten(", ")), 0)", 1),
    "Min$": ("fill_missing(min(flatten(", ")), 0)", 1),
    "MaxIf$": ("fill_missing(max(flatten((", ")!=0])), 0)", 2),
    "MinIf$": ("fill_missing(min(flatten((", ")!=0])), 0)", 2),
    "Alt$": ("fill_missing(", ")", 2),
}
INSTEAD = {
    "Iteration$": "Iteration$ is an item's place in its list: write Jet_pt[:2] for the first "
    "items, or [i for i, j in enumerate(Jet)] for the places",
    "Entries$": "Entries$ is known in drawings alone: write the dataset's num_entries as a number",
    "LocalEntries$": "treemill does not know LocalEntries$: write the number of entries",
    "Length$": "Length$ needs its list: write Length$(x) or len(x)",
    "LocalEntry$": "LocalEntry$ is a number and takes no argument",
    "Entry$": "Entry$ is a number and takes no argument",
}


def _same(*names: str) -> dict[str, tuple[str, int]]:
    """Functions of one argument whose names differ from the language's by capitals only."""
    return {name: (f"{name.lower()}({{0}})", 1) for name in names}


_TMATH: dict[str, tuple[str, int]] = {
    **_same("Abs", "Sqrt", "Exp", "Log", "Log2", "Log10", "Sin", "Cos", "Tan", "ASin", "ACos"),
    **_same("ATan", "SinH", "CosH", "TanH", "ASinH", "ACosH", "ATanH", "Floor", "Ceil", "IsNaN"),
    "ATan2": ("atan2({0}, {1})", 2),
    "Hypot": ("hypot({0}, {1})", 2),
    "Min": ("min({0}, {1})", 2),
    "Max": ("max({0}, {1})", 2),
    "Power": ("pow({0}, {1})", 2),
    "Sq": ("square({0})", 1),
    "Finite": ("isfinite({0})", 1),
    "Nint": ("rint({0})", 1),
    "FloorNint": ("floor({0})", 1),
    "CeilNint": ("ceil({0})", 1),
    "Odd": ("({0} % 2 != 0)", 1),
    "Even": ("({0} % 2 == 0)", 1),
    "Sign": ("copysign({0}, {1})", 2),
    "Range": ("clip({2}, {0}, {1})", 3),
    "Gaus": ("exp(-0.5*(({0} - {1})/{2})**2)", 3),
}
# In C++'s own namespace; ROOT knows fewer of them.
_STD = {
    **{f"std::{name}": (f"{name}({{0}})", 1) for name in ("abs", "fabs", "sqrt", "exp", "log")},
    **{f"std::{name}": (f"{name}({{0}})", 1) for name in ("log10", "sin", "cos", "tan", "asin")},
    **{f"std::{name}": (f"{name}({{0}})", 1) for name in ("acos", "atan", "sinh", "cosh", "tanh")},
    **{f"std::{name}": (f"{name}({{0}})", 1) for name in ("floor", "ceil", "isnan", "cbrt")},
    **{f"std::{name}": (f"{name}({{0}}, {{1}})", 2) for name in ("min", "max", "pow", "atan2")},
    **{f"std::{name}": (f"{name}({{0}}, {{1}})", 2) for name in ("hypot", "fmod")},
}
_ANGLES = {
    "TVector2::Phi_mpi_pi": ("({0} - 2*pi*floor(({0} + pi)/(2*pi)))", 1),
    "TVector2::Phi_0_2pi": ("({0} - 2*pi*floor({0}/(2*pi)))", 1),
}
SCOPED = {**{f"TMath::{name}": value for name, value in _TMATH.items()}, **_STD, **_ANGLES}
"""Functions of C++'s namespaces: template and number of arguments."""

CONSTANTS = {
    "TMath::Pi": "pi",
    "TMath::TwoPi": "(2*pi)",
    "TMath::PiOver2": "(pi/2)",
    "TMath::PiOver4": "(pi/4)",
    "TMath::E": "e",
    "TMath::DegToRad": "(pi/180)",
    "TMath::RadToDeg": "(180/pi)",
    "TMath::Sqrt2": "sqrt(2)",
    "TMath::Ln10": "log(10)",
    "TMath::LogE": "log10(e)",
    "TMath::Infinity": "inf",
}
"""TMath's constants, which are called without arguments."""

METHODS = {
    **dict.fromkeys(("Pt", "Perp", "pt"), "pt"),
    **dict.fromkeys(("Eta", "PseudoRapidity", "eta"), "eta"),
    **dict.fromkeys(("Phi", "phi"), "phi"),
    **dict.fromkeys(("M", "mass"), "mass"),
    **dict.fromkeys(("E", "Energy", "T", "energy"), "energy"),
    **dict.fromkeys(("Px", "X", "px"), "px"),
    **dict.fromkeys(("Py", "Y", "py"), "py"),
    **dict.fromkeys(("Pz", "Z", "pz"), "pz"),
    **dict.fromkeys(("P", "p"), "p"),
    **dict.fromkeys(("Rapidity", "rapidity"), "rapidity"),
    **dict.fromkeys(("Theta", "theta"), "theta"),
    "M2": "mass2",
    "Mag": "Mag",
    "Mag2": "Mag2",
    "Perp2": "pt2",
    "CosTheta": "costheta",
    "Et": "et",
    "Mt": "mt",
    "Beta": "beta",
    "Gamma": "gamma",
}
"""Methods without arguments of ROOT's vectors, as attributes."""
TWO_VECTORS = {
    "DeltaR": "deltaR",
    "DrEtaPhi": "deltaR",
    "DeltaPhi": "deltaphi",
    "Angle": "deltaangle",
    "Dot": "dot",
}
"""Methods that take another vector."""


_NUMBERS = {"Entry$": OWN_ENTRY, "LocalEntry$": OWN_LOCAL_ENTRY}
_KEYWORDS = re.compile(r"\b(for|if|else|lambda)\b")
_WORDS = re.compile(r"\b(for|if|else|lambda|not|in)\b")
# A name with dots at the end of a text, tried at the start of each word only: the time is linear.
_NAME = re.compile(r"(?<!\w)[^\W\d]\w*+(?:\.[^\W\d]\w*+)*\s*$")
_BEFORE_OPERANDS = {"and", "or", "not", "in", "if", "else"}
_MOST_CHOICES = 60
_MOST_WRITTEN = 100_000
"""Characters of what functions stand for, beyond those that the user wrote."""


def translate(text: str, pieces: list[Piece], dialect: Dialect) -> list[Piece]:
    """Rewrites the pieces of `text` that are TTreeFormula's own; in a dialect of TTreeFormula's,
    also its signs that mean something else to Python. Raises QueryError for what has no
    counterpart, with what to write instead."""
    if sum(piece.kind == "question" for piece in pieces) > _MOST_CHOICES:
        message = f"more than {_MOST_CHOICES} times a ? b : c; define() parts of it as columns"
        raise QueryError(message, text=text)
    done: list[Piece] = []
    written, most = 0, 2 * len(text) + _MOST_WRITTEN
    for piece in _Translator(text, dialect).segments(*tree(pieces)):
        written += len(piece.text)
        # If an argument stands twice, its own arguments stand four times.
        if written > most:
            message = "with the functions that it calls the expression is too large"
            raise QueryError(f"{message}; define() parts of it as columns", text=text)
        done.append(piece)
    return done


class _Translator:
    def __init__(self, text: str, dialect: Dialect) -> None:
        self.text = text
        self.dialect = dialect

    def refuse(self, message: str, piece: Piece) -> NoReturn:
        stop = piece.at + max(len(piece.text), 1)
        raise QueryError(message, text=self.text, span=(piece.at, stop))

    def segments(self, segments: list[list[Node]], commas: list[Piece]) -> Iterator[Piece]:
        yield from self.segment(segments[0])
        for comma, segment in zip(commas, segments[1:], strict=True):
            yield comma
            yield from self.segment(segment)

    def segment(self, nodes: list[Node]) -> Iterator[Piece]:
        for at, node in enumerate(nodes):
            if isinstance(node, Piece) and node.kind == "question":
                yield from self.choice(nodes, at)
                return
        if self.dialect.formula and any(isinstance(n, Piece) and n.kind == "bit" for n in nodes):
            yield from self.loosely(nodes, ["or", "and", "|", "&"])
        else:
            yield from self.plain(nodes)

    def loosely(self, nodes: list[Node], operators: list[str]) -> Iterator[Piece]:
        """Puts brackets as C reads `a & b == c`, `(a) & (b == c)`. `operators`: in the order in
        which they bind, the loosest first."""
        if not operators:
            yield from self.plain(nodes)
            return
        for node in nodes:
            if isinstance(node, Piece) and _WORDS.search(node.text) and not node.kind:
                self.refuse("put a & b and a | b in parentheses beside Python's words", node)
        first, *others = operators
        parts: list[list[Node]] = [[]]
        between = []
        for node in nodes:
            if isinstance(node, Piece) and first in (node.kind, node.text):
                between.append(node)
                parts.append([])
            else:
                parts[-1].append(node)
        for part, operator in zip(parts, [None, *between], strict=True):
            if operator is not None:
                yield operator
            if not between or not has_text(part):
                yield from self.loosely(part, others)
                continue
            yield Piece("(", start_of(part[0]), False)
            yield from self.loosely(part, others)
            yield Piece(")", stop_of(part[-1]), False)

    def choice(self, nodes: list[Node], at: int) -> Iterator[Piece]:
        """Writes `c ? a : b` as `(a) if (c) else (b)`."""
        question = nodes[at]
        assert isinstance(question, Piece)
        for node in nodes:
            if isinstance(node, Piece) and _KEYWORDS.search(node.text):
                self.refuse(
                    "put c ? a : b in parentheses beside for, if, else and lambda", question
                )
        between = colon(nodes, at)
        if between is None:
            self.refuse("C's a ? b : c lacks its ':'; Python writes b if a else c", question)
        condition, yes, no = nodes[:at], nodes[at + 1 : between], nodes[between + 1 :]
        if not all(map(has_text, (condition, yes, no))):
            self.refuse("C's a ? b : c lacks a part", question)
        start = start_of(condition[0])
        yield Piece("((", start, False)
        yield from self.segment(yes)
        yield Piece(")", stop_of(yes[-1]), False)
        yield Piece(" if (", start, False)
        yield from self.segment(condition)
        yield Piece(")", stop_of(condition[-1]), False)
        yield Piece(" else (", start_of(no[0]), False)
        yield from self.segment(no)
        yield Piece("))", stop_of(no[-1]), False)

    def plain(self, nodes: list[Node]) -> Iterator[Piece]:
        nodes = self.every(nodes)
        skip: Node | None = None
        for at, node in enumerate(nodes):
            if node is skip:
                continue
            if isinstance(node, Bracket):
                yield from self.bracket(node)
                continue
            if node.kind == "power":
                yield Piece("**", node.at, False) if self.dialect.formula else node
                continue
            handler = _HANDLERS.get(node.kind)
            if handler is None:
                yield node
                continue
            following = next((n for n in nodes[at + 1 :] if has_text([n])), None)
            bracket = following if isinstance(following, Bracket) else None
            if bracket is not None and bracket.open.text != "(":
                bracket = None
            yield from handler(self, node, bracket)
            skip = bracket

    def bracket(self, node: Bracket) -> Iterator[Piece]:
        yield node.open
        yield from self.segments(node.segments, node.commas)
        yield node.close

    def every(self, nodes: list[Node]) -> list[Node]:
        """Writes `x[]` as `x`, and `x[][1]`, an item of each of the lists in x, as a
        comprehension."""
        done: list[Node] = []
        at = 0
        while at < len(nodes):
            node = nodes[at]
            at += 1
            if not (indexes(node) and not has_text(inside(node))) or _begins(done):
                done.append(node)
                continue
            # The name that is indexed, with its dots, ends the piece before.
            if indexes(done[-1]) and not (at < len(nodes) and indexes(nodes[at])):
                continue
            before = done.pop()
            name = _NAME.search(before.text) if isinstance(before, Piece) else None
            if name is None:
                self.refuse("[] goes after a branch's name", first_of(node))
            assert isinstance(before, Piece)
            indices = []
            while at < len(nodes) and indexes(nodes[at]):
                indices.append(nodes[at])
                at += 1
            while indices and not has_text(inside(indices[-1])):
                indices.pop()
            place = before.at + name.start()
            column = Piece(name.group(), place)
            done.append(Piece(before.text[: name.start()], before.at))
            if not indices:
                done.append(column)
            elif len(indices) == 1:
                done.append(Piece("[item_", place, False))
                done += [indices[0], Piece(" for item_ in ", place, False), column]
                done.append(Piece("]", place + len(column.text), False))
            else:
                self.refuse("write x[][i] with one index after []", first_of(node))
        return done

    def arguments(self, name: Piece, bracket: Bracket, count: int) -> list[list[Node]]:
        """The arguments of a function that takes this many."""
        if len(bracket.segments) != count or not all(map(has_text, bracket.segments)):
            self.refuse(f"{name.text} takes {count} argument{'s' * (count > 1)}", name)
        return bracket.segments

    def template(self, name: Piece, bracket: Bracket, template: str, count: int) -> Iterator[Piece]:
        """Writes a function by its template. What the user did not write is placed at its name."""
        segments = self.arguments(name, bracket, count)
        stop = bracket.close.at
        parts = re.split(r"\{(\d)\}", template)
        for number, part in enumerate(parts):
            if number % 2:
                yield Piece("(", name.at, False)
                yield from self.segment(segments[int(part)])
                yield Piece(")", stop, False)
            elif part:
                last = number == len(parts) - 1
                yield from _opening(part, stop if last else name.at, bracket.open.at)

    def dollar(self, name: Piece, bracket: Bracket | None) -> Iterator[Piece]:
        if name.text == "Entries$" and bracket is None and self.dialect.has_entries:
            yield Piece(ENTRIES, name.at, False)
            return
        if name.text in _NUMBERS and bracket is None:
            yield Piece(_NUMBERS[name.text], name.at, False)
            return
        if name.text not in DOLLAR or bracket is None:
            self.refuse(INSTEAD.get(name.text, self.unknown(name.text)), name)
        before, after, count = DOLLAR[name.text]
        first, *others = self.arguments(name, bracket, count)
        if name.text == "Alt$" and not indexes(first[-1]):
            self.refuse("Alt$(x[i], instead) takes one item; of lists write what is meant", name)
        end = bracket.close.at
        yield from _opening(before, name.at, bracket.open.at)
        yield from self.segment(first)
        for comma, other in zip(bracket.commas, others, strict=True):
            yield Piece(", " if name.text == "Alt$" else ")[(", comma.at, False)
            yield from self.segment(other)
        # The 0 of `fill_missing(…, 0)` is placed at the closing bracket, the last sign after it.
        yield Piece(after[:-1], end, False)
        yield Piece(after[-1], end + (len(after) > 1), False)

    @staticmethod
    def unknown(name: str) -> str:
        known = ", ".join(DOLLAR)
        return f"treemill does not know {name}; of TTree::Draw's functions it knows {known}"

    def scoped(self, name: Piece, bracket: Bracket | None) -> Iterator[Piece]:
        if (
            name.text in CONSTANTS
            and bracket is not None
            and not any(map(has_text, bracket.segments))
        ):
            yield Piece(CONSTANTS[name.text], name.at, False)
            return
        if name.text == "TMath::Gaus" and bracket is not None and len(bracket.segments) == 1:
            yield from self.template(name, bracket, "exp(-0.5*{0}**2)", 1)
            return
        if name.text not in SCOPED or bracket is None:
            scope = name.text.split("::")[0] + "::"
            known = [n for n in (*SCOPED, *CONSTANTS) if n.startswith(scope)]
            there = f"; there are {', '.join(known)}" if known else ""
            self.refuse(f"treemill does not know {name.text}{there}", name)
        yield from self.template(name, bracket, *SCOPED[name.text])

    def method(self, name: Piece, bracket: Bracket | None) -> Iterator[Piece]:
        """Writes `.Pt()` as `.pt`, and `->` as a dot."""
        called = name.text.lstrip(".->").strip()
        empty = bracket is not None and not any(map(has_text, bracket.segments))
        if called in METHODS and empty:
            yield Piece(f".{METHODS[called]}", name.at, False)
            return
        if called in TWO_VECTORS and bracket is not None:
            called = TWO_VECTORS[called]
        elif called in ("size", "GetEntries") and empty:
            self.refuse("the size of a list is len(x) or Length$(x)", name)
        yield Piece(f".{called}", name.at, name.text.startswith("."))
        if bracket is not None:
            yield from self.bracket(bracket)

    def contains(self, name: Piece, _: Bracket | None) -> Iterator[Piece]:
        instead = "compare with ==, or with several: name in ['ee', 'emu']"
        self.refuse(f"strstr is not in the language: {instead}", name)

    def size(self, name: Piece, bracket: Bracket | None) -> Iterator[Piece]:
        # Not len(x), which has one number for each list in a list of lists.
        column = name.text.replace("@", "").rsplit(".", 1)[0]
        yield from _opening("sum(", name.at, name.at + 1)
        yield Piece("1 for item_ in ", name.at, False)
        yield Piece(column, name.at + name.text.startswith("@"))
        yield Piece(")", name.at + name.text.startswith("@") + len(column), False)
        if bracket is not None:
            self.refuse("a size is a number and cannot be called", name)


_HANDLERS: dict[str, Callable[[_Translator, Piece, Bracket | None], Iterable[Piece]]] = {
    "dollar": _Translator.dollar,
    "scoped": _Translator.scoped,
    "method": _Translator.method,
    "size": _Translator.size,
    "strstr": _Translator.contains,
}


def _begins(before: list[Node]) -> bool:
    """True if an operand comes next, so that a bracket is a list and not an index."""
    if not before:
        return True
    last = before[-1]
    if not isinstance(last, Piece):
        return False
    name = _NAME.search(last.text)
    return name is None or name.group().strip() in _BEFORE_OPERANDS


def _opening(words: str, at: int, bracket: int) -> Iterator[Piece]:
    """Pieces of `f(g(`: names are placed at the user's name, brackets at the user's bracket."""
    for part in re.findall(r"\w+|\W", words):
        yield Piece(part, bracket if part == "(" else at, False)
