"""Finds C's casts, `(unsigned int)x`, in a text that does not parse, and says what to write.
The language has none. TTree::Draw has none either: it refuses types of two words, and for types of
one word it warns and leaves the values as they are.

Pure text, standard library only. Knows types, no columns.
"""

from __future__ import annotations

import re

__all__ = ["cast_at"]

_CAST = re.compile(
    r"\(\s*(?:const\s+)?(?:std::)?(?P<type>[^\W\d]\w*(?:\s+[^\W\d]\w*)*)\s*\)\s*"
    r"|\bstatic_cast\s*<\s*(?P<other>[\w\s:]+?)\s*>\s*"
)
_NAMED = re.compile(
    r"(u?)(bool|char|short|int|long|float|double|size)(8|16|32|64)?_t", re.IGNORECASE
)
_OF_BITS = {"8": "char", "16": "short", "32": "int", "64": "long"}
_WORDS = {"signed", "unsigned", "char", "short", "int", "long", "float", "double", "bool"}
_FUNCTIONS = {"bool": "bool", "float": "float", "double": "float"}
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
    function = next((_FUNCTIONS[word] for word in words if word in _FUNCTIONS), "int")
    said = f"C's casts are not in the language; write {function}(…)"
    bits = next((_UNSIGNED[word] for word in words if word in _UNSIGNED), _INT)
    if "unsigned" not in words or bits == max(_UNSIGNED.values()):
        return said
    return f"{said}, or to let values wrap around (int(…) & {(1 << bits) - 1:#x})"
