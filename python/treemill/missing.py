"""What a branch counts as in a file that lacks it: the user's choice, and the columns made of it.

Pure: knows names, values and Arrow, no file. The standard library suffices for the choice itself,
which is sent to workers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from .errors import QueryError

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


def column(name: str, value: Any, kind: Any, length: int, counts: Any = None) -> Any:
    """A pyarrow.Array of `length` times the default.

    `kind` is the branch's pyarrow.DataType in a file that has it; None where no file has: then the
    value says it (float64 for None and an empty list). `counts`: numpy integers, one per entry,
    where the file has the branch that counts the list's items: a number is given that many times.
    Raises QueryError where the default does not fit the type.
    """
    import numpy as np
    import pyarrow
    import pyarrow.types as t

    kind = _kind_of(value) if kind is None else kind
    if value is None:
        return pyarrow.nulls(length, kind)
    if t.is_list(kind) or t.is_large_list(kind):
        return _lists(name, value, kind, length, counts)
    try:
        if t.is_fixed_size_list(kind):
            items = [value] * kind.list_size if not isinstance(value, tuple) else list(value)
            if len(items) != kind.list_size:
                raise QueryError(f"the default of {name} needs {kind.list_size} items", branch=name)
            flat = _exactly(name, items, kind.value_type).take(
                pyarrow.array(np.tile(np.arange(len(items)), length))
            )
            return pyarrow.FixedSizeListArray.from_arrays(flat, type=kind)
        return pyarrow.repeat(_exactly(name, [value], kind)[0], length)
    except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError, pyarrow.ArrowNotImplementedError):
        raise _unfit(name, value, kind) from None


def _lists(name: str, value: Any, kind: Any, length: int, counts: Any) -> Any:
    import numpy as np
    import pyarrow
    import pyarrow.types as t

    if isinstance(value, str) or (not isinstance(value, tuple) and counts is None):
        raise QueryError(
            f"{name} is a list ({kind}) with no counter in this file, so its default is a list, "
            f"such as [], not {value!r}",
            branch=name,
        )
    if not isinstance(value, tuple):
        items, sizes = [value], np.asarray(counts, np.int64)
        flat = pyarrow.repeat(_exactly(name, items, kind.value_type)[0], int(sizes.sum()))
    else:
        sizes = np.full(length, len(value), np.int64)
        places = np.tile(np.arange(len(value)), length)
        flat = _exactly(name, list(value), kind.value_type).take(pyarrow.array(places))
    offsets = np.zeros(length + 1, np.int64 if t.is_large_list(kind) else np.int32)
    np.cumsum(sizes, out=offsets[1:])
    made = pyarrow.LargeListArray if t.is_large_list(kind) else pyarrow.ListArray
    return made.from_arrays(pyarrow.array(offsets), flat, type=kind)


def _exactly(name: str, values: list[Any], kind: Any) -> Any:
    """An array of the values in this type, where it holds them as they are."""
    import pyarrow
    import pyarrow.types as t

    if t.is_boolean(kind) != all(isinstance(v, bool) for v in values) and values:
        raise _unfit(name, values[0], kind)
    strings = [v for v in values if isinstance(v, str)]
    if strings and (t.is_floating(kind) or t.is_integer(kind)):
        raise _unfit(name, strings[0], kind)
    if t.is_floating(kind):
        values = [float(v) for v in values]
        # A default such as -99.9 is meant as the nearest float32; 1e300 is not.
        if any(math.isfinite(v) and abs(v) > _LARGEST[kind.bit_width] for v in values):
            raise _unfit(name, values[0], kind)
    elif any(isinstance(v, float) for v in values):
        raise _unfit(name, next(v for v in values if isinstance(v, float)), kind)
    try:
        if t.is_binary(kind) or t.is_large_binary(kind):
            values = [v.encode() for v in values]
        return pyarrow.array(values, kind)
    except (pyarrow.ArrowException, OverflowError, AttributeError, TypeError, ValueError):
        raise _unfit(name, values[0], kind) from None


_LARGEST = {16: 65504.0, 32: 3.4028234663852886e38, 64: math.inf}


def _unfit(name: str, value: Any, kind: Any) -> QueryError:
    return QueryError(
        f"the default of {name}, {value!r}, is no value of its type {kind}", branch=name
    )


def _kind_of(value: Any) -> Any:
    import pyarrow

    if isinstance(value, tuple):
        return pyarrow.list_(pyarrow.array(value).type if value else pyarrow.float64())
    return pyarrow.float64() if value is None else pyarrow.scalar(value).type


def _is_glob(name: str) -> bool:
    return any(sign in name for sign in "*?[")
