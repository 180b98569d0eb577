"""What the core asks a function of the user's own for (crates/treemill-py/src/own_functions.rs).

Pure: knows no function, no compiler and no array library.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Values: TypeAlias = NDArray[np.generic]
    Handed: TypeAlias = ArrayLike | list[bytes] | tuple[ArrayLike, ArrayLike]
    """An argument as the core hands it over: a buffer of numbers, a list of bytes for texts, or the
    items of lists with their offsets. The type of the parameter says which one it is."""

__all__ = ["FittedFunction", "Given", "Output", "OwnFunction", "UserFunction", "of_items"]

UserFunction: TypeAlias = Callable[..., object]

Given = tuple[str, bool]
"""The type of an argument, and whether it is a constant. The types are `bool int uint float str`;
of lists, `bools ints uints floats strs`."""

Output = tuple[str | None, str, int | None]
"""What is given: its name, or None if it is all; `bool`, `int` or `float`; the number of the list
that its items are in, or None if it is one value."""

_OF_ITEMS = {f"{name}s": name for name in ("bool", "int", "uint", "float", "str")}


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
        """The address of the compiled batch (crates/treemill-kernels). If None, `call` is
        called."""

    def call(self, rows: int, arguments: Sequence[Handed]) -> tuple[list[Values], list[Values]]:
        """The outputs for this many rows, and the lengths of the lists."""

    def why(self, rows: int, arguments: Sequence[Handed]) -> str:
        """Why the compiled batch has failed for these arguments."""


def of_items(name: str) -> tuple[str, bool]:
    """The type of one value, and whether this is a list of them."""
    return _OF_ITEMS.get(name, name), name in _OF_ITEMS
