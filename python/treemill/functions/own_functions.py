"""What the core and the readers of users' functions share: what the core asks a function for,
what tells one from another, and their exceptions in words.
"""

from __future__ import annotations

import inspect
import linecache
import os
import re
import traceback
from collections.abc import Callable, Sequence
from types import CodeType, MethodType
from typing import TYPE_CHECKING, Protocol, TypeAlias

from ..checkpoint.digest import digest_and_exact, number_of
from ..errors import UnsupportedError
from ..language.function_registry import identity_here

__all__ = [
    "Given",
    "NoList",
    "Output",
    "UserFunction",
    "identity_of",
    "of_items",
    "parameter_count",
    "parameter_names",
    "place_of",
    "title_of",
    "without_colours",
    "words",
]

# What the core asks a function of the user's own for (crates/treemill-py/src/own_functions.rs).
# Pure: knows no function, no compiler and no array library.

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Values: TypeAlias = NDArray[np.generic]
    Handed: TypeAlias = ArrayLike | list[bytes] | tuple[ArrayLike, ArrayLike]
    """An argument as the core hands it over: a buffer of numbers, a list of bytes for texts, or the
    items of lists with their offsets. The type of the parameter says which one it is."""


UserFunction: TypeAlias = Callable[..., object]

Given = tuple[str, bool]
"""The type of an argument, and whether it is a constant. The types are `bool int uint float str`;
of lists, `bools ints uints floats strs`."""

Output = tuple[str | None, str, int | None]
"""What is given: its name, or None if it is all; `bool`, `int` or `float`; the number of the list
that its items are in, or None if it is one value."""

_OF_ITEMS = {f"{name}s": name for name in ("bool", "int", "uint", "float", "str")}


class NoList:
    """A model, which has outputs by number and is not iterated over."""

    def __iter__(self) -> None:
        raise TypeError("a model is no list: its outputs are model[0] to model[n - 1]")


class OwnFunction(Protocol):
    """A function before it is known with what it is called."""

    def fitted(self, given: Sequence[Given]) -> FittedFunction:
        """The function for arguments of these types. Raises QueryError if there is none."""


class FittedFunction(Protocol):
    """A function of arguments of certain types."""

    @property
    def parameters(self) -> Sequence[tuple[str, str]]:
        """Names, and what the core hands over: `str int float ints floats`."""

    @property
    def outputs(self) -> Sequence[Output]:
        """The output."""

    @property
    def address(self) -> int | None:
        """The address of the compiled batch (treemill-native's kernels.rs). If None, `call` is
        called."""

    def call(self, rows: int, arguments: Sequence[Handed]) -> tuple[list[Values], list[Values]]:
        """The outputs for this many rows, and the lengths of the lists."""

    def why(self, rows: int, arguments: Sequence[Handed]) -> str:
        """Why the compiled batch has failed for these arguments."""


def of_items(name: str) -> tuple[str, bool]:
    """The type of one value, and whether this is a list of them."""
    return _OF_ITEMS.get(name, name), name in _OF_ITEMS


# What tells one function of the user's own from another.


def identity_of(kind: str, function: Callable[..., object], about: object) -> str:
    """A text that is equal for equal functions. One whose code and data have no digest is equal to
    itself only."""
    try:
        everywhere, here = digest_and_exact((function, about))
        return identity_here(f"{kind} {everywhere}", here)
    except UnsupportedError:
        parts: tuple[object, ...] = (function,)
        if isinstance(function, MethodType):  # each use of its name makes another one
            parts = function.__self__, function.__func__
        numbers = "-".join(str(number_of(each)) for each in parts)
        return f"{kind} {os.getpid()}-{numbers} {about}"


# Exceptions of users' functions in words: what was raised, at which of the user's lines. Pure:
# standard library only.

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
