"""Rewrites C's `&&`, `||` and `!`, which users of TTree::Draw write, as Python's operators, and has
treeformula.py rewrite the rest of TTreeFormula's words. Finds C's casts in what does not parse.

Pure: text to text, with a map from each place of the new text to the user's own. Knows only the
tokens that keep strings and names whole, and no grammar.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from unicodedata import normalize

from ..errors import QueryError
from . import tokens, treeformula
from .tokens import LANGUAGE, Dialect, Piece

__all__ = ["Rewritten", "cast_at", "dimensions", "rewrite"]

_TOKENS = re.compile(
    r"""
      (?P<string> '''(?:\\.|[^\\])*?''' | \"\"\"(?:\\.|[^\\])*?\"\"\"
                | '(?:\\.|[^'\\\n])*' | "(?:\\.|[^"\\\n])*" )
    | (?P<quoted> `[^`\n]+` )
    | (?P<hash> \# )
    | (?P<space> \\?\r?\n | [\r\t\f\v] )
    | (?P<and> && )
    | (?P<or> \|\| )
    | (?P<bang> !(?!=) )
    | (?P<empty> (?<=\[)(?=\s*\]) )
    | (?P<open> [(\[{] )
    | (?P<close> [)\]}] )
    | (?P<comma> , )
    | (?P<dollar> [^\W\d]\w*\$ )
    | (?P<strstr> \bstrstr(?=\s*\() )
    | (?P<scoped> (?<!\w)(?<!::)[^\W\d]\w*+(?:::[^\W\d]\w*+)++(?=\s*\() )
    | (?P<size> @[^\W\d][\w.]*\.(?:size|GetEntries|GetEntriesFast)\(\)
              | (?<![\w.])[^\W\d][\w.]*+@\.size\(\) )
    | (?P<keyword> (?<=\.)(?:from|class|def|del|global|import|pass|raise|return|try|while|with)
                  \b )
    | (?P<word> [^\W\d]\w* )
    | (?P<method> (?:->\s*[^\W\d]|\.[A-Z])\w*(?=\s*\() | \.[a-z]\w*(?=\s*\(\s*\)) | -> )
    | (?P<power> \^ )
    | (?P<bit> [&|] )
    | (?P<question> \? )
    | (?P<colon> : )
    | (?P<foreign> [$`@] )
    """,
    re.VERBOSE | re.DOTALL,
)

_PYTHON = re.compile(r"(?:[\w +*/%<>=]|-(?!>)|\.(?![^\W\d]))*+", re.ASCII)
"""A text that has no token that could be rewritten: names, numbers and operators."""

# Signs of other languages, and what to write here.
_FOREIGN = {
    "$": "names with $ are TTree::Draw's; write sum(x), len(x), min(x) or max(x), and the name of "
    'a variable of your program without it, with params={"cut": cut}',
    "`": "` begins a column's name, and no other ` ends it",
    "@": "@ has no meaning here; the size of a collection is len(x), and a variable of your "
    'program is named without it, with params={"cut": cut}',
}
_NAME_WITH_HASH = re.compile(r"(?<![\w.])[\w.]*#[\w.#]*")
_OPERATORS = {"and": " and ", "or": " or "}
_OF_TREE_FORMULA = {"dollar", "strstr", "scoped", "size", "method", "empty", "question"}
_OF_DIALECTS = {*_OF_TREE_FORMULA, "power", "bit"}

_MAX_NESTING = 100


@dataclass(frozen=True)
class Rewritten:
    """The text for Python's parser, and how to come back from it."""

    text: str
    """One line of Python."""
    bangs: frozenset[int]
    """Places in `text` where a `~` stands for the user's `!`."""
    names: Mapping[str, str]
    """Columns' names, by the words that stand for them in `text`: names in backticks, and those
    that Python would spell otherwise."""
    _places: list[int] | None
    """The user's character for each byte of `text` in UTF-8, and for its end. None: `text` is the
    user's own, in ASCII."""

    def place(self, byte: int) -> int:
        """The character in the user's text for a byte of `text` in UTF-8."""
        if self._places is None:
            return byte
        return self._places[min(max(byte, 0), len(self._places) - 1)]


def rewrite(text: str, dialect: Dialect = LANGUAGE) -> Rewritten:
    """Rewrites `&&`, `||` as `and`, `or`, `!` as a marked `~` (which binds as tightly as C's `!`),
    line ends as blanks, names in backticks as words, and TTreeFormula's own words as the
    language's. In a dialect of TTreeFormula's, `^` is the power, and `&` and `|` bind as loosely as
    C's. Raises QueryError for brackets that are nested too deeply and for signs that the language
    does not have."""
    if _PYTHON.fullmatch(text):
        return Rewritten(text, frozenset(), {}, None)
    pieces = [_checked(text, piece) for piece in _nested(text, _pieces(text))]
    kinds = {piece.kind for piece in pieces}
    names = {p.text.strip(): _name_at(text, p.at) for p in pieces if p.kind == "quoted"}
    if kinds & (_OF_DIALECTS if dialect.formula else _OF_TREE_FORMULA):
        pieces = treeformula.translate(text, pieces, dialect)
    elif text.isascii() and not kinds & {*_OPERATORS, "bang", "space", "quoted"}:
        return Rewritten(text, frozenset(), {}, None)
    return _joined(text, pieces, names)


def dimensions(text: str) -> list[str]:
    """The expressions of TTree::Draw's "y:x" or "z:y:x", x first; any other text is one
    expression."""
    return [text[start:stop].strip() for start, stop in tokens.dimensions(_pieces(text))]


def _pieces(text: str) -> Iterator[Piece]:
    """Splits the text into tokens and what is between them."""
    done, word = 0, _stand_in(text)
    for token in _TOKENS.finditer(text):
        kind, at = str(token.lastgroup), token.start()
        if kind == "word":
            if token.group().isascii() or normalize("NFKC", token.group()) == token.group():
                continue  # part of what is between tokens
            kind = "quoted"
        elif kind == "keyword":
            kind = "quoted"  # a member that has the name of one of Python's statements
        if done < at:
            yield Piece(text[done:at], done)
        done = token.end()
        if kind in _OPERATORS:
            yield Piece(_OPERATORS[kind], at, False, kind)
        elif kind == "bang":
            yield Piece("~", at, True, kind)
        elif kind == "space":
            yield Piece(" " * (done - at), at, True, kind)
        elif kind == "quoted":
            yield Piece(f" {word}{at}", at, False, kind)
            if text[done : done + 1].isalnum() or text[done : done + 1] in ("_", "`"):
                yield Piece(" ", done, False)
        else:
            yield Piece(token.group(), at, True, kind)
    if done < len(text):
        yield Piece(text[done:], done)


def _stand_in(text: str) -> str:
    """The beginning of words that stand for names, which the text does not contain."""
    start = "quoted"
    while start in text:
        start += "_"
    return start


def _name_at(text: str, at: int) -> str:
    token = _TOKENS.match(text, at)
    assert token is not None
    return token.group().strip("`")


def _nested(text: str, pieces: Iterator[Piece]) -> Iterator[Piece]:
    """The same pieces. Raises QueryError if brackets are nested too deeply."""
    depth = 0
    for piece in pieces:
        depth += (piece.kind == "open") - (piece.kind == "close")
        if depth > _MAX_NESTING:
            raise QueryError(
                f"brackets are nested more than {_MAX_NESTING} deep",
                text=text,
                span=(piece.at, piece.at + 1),
            )
        yield piece


def _checked(text: str, piece: Piece) -> Piece:
    if piece.kind == "hash":
        name = next(m for m in _NAME_WITH_HASH.finditer(text) if m.end() > piece.at)
        example = name.group() if 1 < len(name.group()) < 80 else "Muon#0.index"
        message = f"# stands in names only, and such names in backticks: `{example}`"
        raise QueryError(message, text=text, span=name.span())
    if piece.kind == "foreign":
        raise QueryError(_FOREIGN[piece.text], text=text, span=(piece.at, piece.at + 1))
    return piece


def _joined(text: str, pieces: list[Piece], names: Mapping[str, str]) -> Rewritten:
    places: list[int] = []
    bangs: set[int] = set()
    for piece in pieces:
        size = len(piece.text)
        if piece.kind == "bang":
            bangs.add(len(places))
        places.extend(range(piece.at, piece.at + size) if piece.stays else [piece.at] * size)
    places.append(len(text))
    result = "".join(piece.text for piece in pieces)
    if result.isascii():
        return Rewritten(result, frozenset(bangs), names, places)
    by_byte: list[int] = []
    byte_bangs: set[int] = set()
    for i, character in enumerate(result):
        if i in bangs:
            byte_bangs.add(len(by_byte))
        # The parser refuses lone surrogates, with a better message.
        by_byte.extend([places[i]] * len(character.encode("utf-8", "surrogatepass")))
    by_byte.append(len(text))
    return Rewritten(result, frozenset(byte_bangs), names, by_byte)


# Finds C's casts, `(unsigned int)x`, in a text that does not parse, and says what to write. The
# language has none. TTree::Draw has none either: it refuses types of two words, and for types of
# one word it warns and leaves the values as they are.

_CAST = re.compile(
    r"\(\s*(?:const\s+)?(?:std::)?(?P<type>[^\W\d]\w*(?:\s+[^\W\d]\w*)*)\s*\)\s*"
    r"|\bstatic_cast\s*<\s*(?P<other>[\w\s:]+?)\s*>\s*"
)
_NAMED = re.compile(
    r"(u?)(bool|char|short|int|long|float|double|size)(8|16|32|64)?_t", re.IGNORECASE
)
_OF_BITS = {"8": "char", "16": "short", "32": "int", "64": "long"}
_WORDS = {"signed", "unsigned", "char", "short", "int", "long", "float", "double", "bool"}
_CAST_FUNCTIONS = {"bool": "bool", "float": "float", "double": "float"}
_UNSIGNED = {"char": 8, "short": 16, "long": 64}
_INT = 32


def cast_at(text: str, place: int) -> tuple[tuple[int, int], str] | None:
    """The span of the cast at the place of the parser's error, and a message; None if there is no
    cast."""
    for cast in _CAST.finditer(text):
        if cast.start() <= place <= cast.end():
            words = (cast["type"] or cast["other"].removeprefix("std::")).split()
            words = [word for name in words for word in _spelled(name)]
            if _WORDS.issuperset(words):
                stop = cast.start() + len(cast.group().rstrip())
                return (cast.start(), stop), _said(words)
    return None


def _spelled(name: str) -> list[str]:
    """Spells a type of ROOT's or of the standard library's (`ULong64_t`, `size_t`) in C's words."""
    known = _NAMED.fullmatch(name)
    if known is None:
        return [name]
    sign, kind, bits = (part and part.lower() for part in known.groups())
    if kind == "size":
        return ["unsigned", "long"]
    return [*(["unsigned"] if sign else []), _OF_BITS[bits] if kind == "int" and bits else kind]


def _said(words: list[str]) -> str:
    function = next((_CAST_FUNCTIONS[word] for word in words if word in _CAST_FUNCTIONS), "int")
    said = f"C's casts are not in the language; write {function}(…)"
    bits = next((_UNSIGNED[word] for word in words if word in _UNSIGNED), _INT)
    if "unsigned" not in words or bits == max(_UNSIGNED.values()):
        return said
    return f"{said}, or to let values wrap around (int(…) & {(1 << bits) - 1:#x})"
