"""What a branch counts as in a file that lacks it: the user's choice, and the columns made of it.

Pure: knows names, values and kinds of columns, no file. The standard library suffices for the
choice itself, which is sent to workers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from ..arrays.kinds import STRING, Kind, number
from ..errors import QueryError

__all__ = ["ERROR", "Missing", "column", "policy"]

_NOTHING = object()


@dataclass(frozen=True)
class Missing:
    """Defaults by name or glob; the first that fits a branch counts, plain names before globs."""

    defaults: tuple[tuple[str, Any], ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Those that are no globs."""
        return tuple(name for name, _ in self.defaults if not _is_glob(name))

    def has(self, branch: str) -> bool:
        """Whether there is a default for the branch."""
        return self._find(branch) is not _NOTHING

    def __getitem__(self, branch: str) -> Any:
        value = self._find(branch)
        if value is _NOTHING:
            raise KeyError(branch)
        return value

    def _find(self, branch: str) -> Any:
        for name, value in self.defaults:
            if name == branch:
                return value
        for name, value in self.defaults:
            if _is_glob(name) and fnmatchcase(branch, name):
                return value
        return _NOTHING


ERROR = Missing()
"""A branch that a file lacks is an error."""


def policy(missing: Any) -> Missing:
    """From what the user gives: "error", or a mapping of branch names or globs to defaults: a
    number, a bool, a string, a list of numbers, or None for missing values."""
    if isinstance(missing, Missing):
        return missing
    if missing is None or missing == "error":
        return ERROR
    if not isinstance(missing, Mapping):
        raise QueryError(
            'missing is "error" or a mapping of branches to defaults, such as {"Jet_btag": -1.0}, '
            f"not {missing!r}"
        )
    defaults = []
    for name, value in missing.items():
        if not isinstance(name, str):
            raise QueryError(f"the names in missing are strings, not {name!r}")
        if isinstance(value, (list, tuple)):
            value = tuple(_plain(name, each) for each in value)
            if any(each is None or isinstance(each, str) for each in value):
                raise QueryError(f"the default of {name}, a list, has more than numbers in it")
        else:
            value = _plain(name, value)
        defaults.append((name, value))
    return Missing(tuple(defaults))


def _plain(name: str, value: Any) -> Any:
    if hasattr(value, "item") and getattr(value, "ndim", None) == 0:
        value = value.item()  # numpy's numbers
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise QueryError(
        f"the default of {name} is a number, a bool, a string, a list of numbers or None, "
        f"not {type(value).__name__}"
    )


def column(name: str, value: Any, kind: Kind | None, length: int, counts: Any = None) -> Any:
    """A core.Column of `length` times the default.

    `kind` is the branch's in a file that has it; None where no file has: then the value says it
    (float64 for None and an empty list). `counts`: numpy integers, one per entry, where the file
    has the branch that counts the list's items: a number is given that many times. Raises
    QueryError where the default does not fit the kind.
    """
    import numpy as np

    from ..arrays.columns import empty, made, picked  # heavy: numpy

    kind = (_kind_of(value) if kind is None else kind).given()
    if value is None:
        return picked(made(empty(kind)), np.full(length, -1))
    if kind.form == "list":
        return _lists(name, value, kind, length, counts)
    if kind.form == "array":
        items = [value] * kind.size if not isinstance(value, tuple) else list(value)
        if len(items) != kind.size:
            raise QueryError(f"the default of {name} needs {kind.size} items", branch=name)
        flat = _exactly(name, items * length, kind.item)
        return made(("regular", kind.size, length, flat))
    return picked(made(_exactly(name, [value], kind)), np.zeros(length))


def _lists(name: str, value: Any, kind: Kind, length: int, counts: Any) -> Any:
    import numpy as np

    from ..arrays.columns import made, picked  # heavy: numpy

    if isinstance(value, str) or (not isinstance(value, tuple) and counts is None):
        raise QueryError(
            f"{name} is a list ({kind}) with no counter in this file, so its default is a list, "
            f"such as [], not {value!r}",
            branch=name,
        )
    is_list = isinstance(value, tuple)
    items = list(value) if is_list else [value]
    sizes = np.full(length, len(items)) if is_list else np.asarray(counts, np.int64)
    places = np.tile(np.arange(len(items)), length) if is_list else np.zeros(int(sizes.sum()))
    flat = picked(made(_exactly(name, items, kind.item)), places)
    offsets = np.zeros(length + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    return made(("list", offsets, flat.nodes()))


def _exactly(name: str, values: list[Any], kind: Kind) -> Any:
    """A node of the values in this kind, where it holds them as they are."""
    import numpy as np

    if not values:
        from ..arrays.columns import empty  # heavy: numpy

        return empty(kind.given())
    fits = _FITS.get(kind.form if kind.form != "number" else kind.dtype.rstrip("123468"))
    unfit = next((each for each in values if fits is None or not fits(each, kind)), _NOTHING)
    if unfit is not _NOTHING:
        raise QueryError(
            f"the default of {name}, {unfit!r}, is no value of its type {kind}", branch=name
        )
    if kind.form == "number":
        return np.array(values, kind.dtype)
    texts = [text.encode() for text in values]
    offsets = np.cumsum([0, *map(len, texts)])
    return "string", offsets, np.frombuffer(b"".join(texts), np.uint8)


def _is_float(value: Any, kind: Kind) -> bool:
    # A default such as -99.9 is meant as the nearest float32; 1e300 is not.
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return is_number and (not math.isfinite(value) or abs(value) <= _LARGEST[kind.bits])


def _is_integer(value: Any, kind: Kind) -> bool:
    low = -(1 << (kind.bits - 1)) if kind.is_signed else 0
    is_integer = isinstance(value, int) and not isinstance(value, bool)
    return is_integer and low <= value < low + (1 << kind.bits)


_LARGEST = {16: 65504.0, 32: 3.4028234663852886e38, 64: math.inf}
_FITS: dict[str, Callable[[Any, Kind], bool]] = {
    "float": _is_float,
    "int": _is_integer,
    "uint": _is_integer,
    "bool": lambda value, kind: isinstance(value, bool),
    "string": lambda value, kind: isinstance(value, str),
}


def _kind_of(value: Any) -> Kind:
    if isinstance(value, tuple):
        kinds = {_kind_of(each).dtype for each in value}
        return Kind("list", parts=(number(kinds.pop() if len(kinds) == 1 else "float64"),))
    if isinstance(value, str):
        return STRING
    return number(_TYPES[type(value)])


_TYPES: dict[type, str] = {bool: "bool", int: "int64", float: "float64", type(None): "float64"}


def _is_glob(name: str) -> bool:
    return any(sign in name for sign in "*?[")
