"""C's `&&`, `||` and `!`, for those who come from TTree::Draw, rewritten as Python's operators.

Pure text to text, with a map that leads every place of the new text back to the user's own. Knows
tokens only as far as it must to leave strings alone; grammar is the parser's affair.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from .errors import QueryError

__all__ = ["Rewritten", "rewrite"]

_TOKENS = re.compile(
    r"""
      (?P<string> '''(?:\\.|[^\\])*?''' | \"\"\"(?:\\.|[^\\])*?\"\"\"
                | '(?:\\.|[^'\\\n])*' | "(?:\\.|[^"\\\n])*" )
    | (?P<comment> \#[^\n]* )
    | (?P<space> \\?\r?\n | [\r\t\f\v] )
    | (?P<and> && )
    | (?P<or> \|\| )
    | (?P<bang> !(?!=) )
    | (?P<open> [(\[{] )
    | (?P<close> [)\]}] )
    | (?P<foreign> [$?`@] )
    """,
    re.VERBOSE | re.DOTALL,
)

# What people write who think in another language, and what they should write here.
_FOREIGN = {
    "$": "names with $ are TTree::Draw's; write sum(x), len(x), min(x) or max(x)",
    "?": "C's a ? b : c is written b if a else c",
    "`": "` has no meaning here",
    "@": "@ has no meaning here; the size of a collection is len(x)",
}

_MAX_NESTING = 100


@dataclass(frozen=True)
class Rewritten:
    """The text for Python's parser, and how to come back from it."""

    text: str
    """One line of Python."""
    bangs: frozenset[int]
    """Places in `text` where a `~` stands for the user's `!`."""
    _places: list[int] | None
    """Per byte of `text` in UTF-8, and its end: the user's character. None: the same."""

    def place(self, byte: int) -> int:
        """The character in the user's text for a byte of `text` in UTF-8."""
        if self._places is None:
            return byte
        return self._places[min(max(byte, 0), len(self._places) - 1)]


def rewrite(text: str) -> Rewritten:
    """`text` with `&&`, `||` as `and`, `or`, `!` as a marked `~` (which binds as tightly as C's
    `!`), and comments and line ends as blanks. Raises QueryError for brackets nested too deeply and
    for signs that the language does not have."""
    pieces: list[str] = []
    places: list[int] = []
    bangs: set[int] = set()
    done = depth = length = 0

    def add(piece: str, at: int, stays: bool) -> None:
        nonlocal length
        pieces.append(piece)
        places.extend(range(at, at + len(piece)) if stays else [at] * len(piece))
        length += len(piece)

    for token in _TOKENS.finditer(text):
        kind, at = token.lastgroup, token.start()
        if kind == "string":
            continue
        if kind == "open":
            depth += 1
            if depth > _MAX_NESTING:
                raise QueryError(
                    f"brackets are nested more than {_MAX_NESTING} deep",
                    text=text,
                    span=token.span(),
                )
            continue
        if kind == "close":
            depth -= 1
            continue
        if kind == "foreign":
            raise QueryError(_FOREIGN[token.group()], text=text, span=token.span())
        add(text[done:at], done, True)
        done = token.end()
        if kind == "and" or kind == "or":
            add(f" {kind} ", at, False)
        elif kind == "bang":
            bangs.add(length)
            add("~", at, True)
        else:
            add(" " * len(token.group()), at, True)
    if not pieces and text.isascii():
        return Rewritten(text, frozenset(), None)
    add(text[done:], done, True)
    places.append(len(text))
    result = "".join(pieces)
    if result.isascii():
        return Rewritten(result, frozenset(bangs), places)
    by_byte: list[int] = []
    byte_bangs: set[int] = set()
    for i, character in enumerate(result):
        if i in bangs:
            byte_bangs.add(len(by_byte))
        # A lone surrogate is refused by the parser; here it only must not raise.
        by_byte.extend([places[i]] * len(character.encode("utf-8", "surrogatepass")))
    by_byte.append(len(text))
    return Rewritten(result, frozenset(byte_bangs), by_byte)
