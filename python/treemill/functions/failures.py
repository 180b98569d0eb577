"""Exceptions of users' functions in words: what was raised, at which of the user's lines.

Pure: standard library only.
"""

from __future__ import annotations

import inspect
import linecache
import os
import re
import traceback
from collections.abc import Callable
from types import CodeType

__all__ = [
    "parameter_count",
    "parameter_names",
    "place_of",
    "title_of",
    "without_colours",
    "words",
]

_VARIABLE = inspect.CO_VARARGS
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


def words(error: BaseException, function: Callable[..., object]) -> str:
    """The exception, with the last of the user's lines that it has passed."""
    said = str(error)
    text = type(error).__name__ + (f": {said}" if said else "")
    frames = traceback.extract_tb(error.__traceback__)
    own = _file_of(function)
    mine = [frame for frame in frames if frame.filename == own]
    if not mine:
        # Code that it calls may be in a module of the user's.
        mine = [frame for frame in frames if "site-packages" not in frame.filename][1:]
    if not mine:
        return f"{text} ({place_of(function)})"
    last = mine[-1]
    line = last.line or linecache.getline(last.filename, last.lineno or 0).strip()
    shown = f": {line}" if line else ""
    return f"{text} ({os.path.basename(last.filename)}, line {last.lineno}{shown})"


def place_of(function: Callable[..., object]) -> str:
    """Returns where the function is defined."""
    code = _code_of(function)
    if code is None:
        return title_of(function)
    return f"{os.path.basename(code.co_filename)}, line {code.co_firstlineno}"


def title_of(function: Callable[..., object]) -> str:
    """Returns what messages call the function."""
    name = getattr(function, "__name__", None) or type(function).__name__
    return "a lambda" if name == "<lambda>" else str(name)


def parameter_names(function: Callable[..., object], count: int) -> list[str]:
    """The names of the arguments."""
    code = getattr(getattr(function, "py_func", function), "__code__", None)
    known = list(code.co_varnames[: code.co_argcount]) if code is not None else []
    return [known[i] if i < len(known) else f"argument {i + 1}" for i in range(count)]


def parameter_count(function: Callable[..., object]) -> int | None:
    """Returns how many arguments it takes; None if that is not one number."""
    code = getattr(getattr(function, "py_func", function), "__code__", None)
    if code is None or code.co_flags & _VARIABLE or getattr(function, "__defaults__", None):
        return None
    return int(code.co_argcount)


def without_colours(text: str) -> str:
    """The text as it is without a terminal."""
    return _COLOURS.sub("", text)


def _file_of(function: Callable[..., object]) -> str | None:
    code = _code_of(function)
    return None if code is None else code.co_filename


def _code_of(function: Callable[..., object]) -> CodeType | None:
    """Its own code, or that of its class's method."""
    code = getattr(function, "__code__", None)
    if code is None:
        code = getattr(vars(type(function)).get("__call__"), "__code__", None)
    return code if isinstance(code, CodeType) else None
