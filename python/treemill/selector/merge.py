"""What outputs of selectors may hold, and how two of a kind become one.

Arithmetic only: knows no worker, no session, no file. Libraries are recognised without being
imported: who has no histogram has no need of boost-histogram.
"""

from __future__ import annotations

import numbers
import sys
from collections import deque
from collections.abc import Callable, MutableMapping, MutableSet
from typing import Any

from ..errors import QueryError

__all__ = ["check", "check_neutral", "merge"]


def check(value: Any, name: str = "output") -> None:
    """Raises QueryError, naming the place, where something in `value` cannot be merged."""
    kind = _kind(value)
    if kind is None:
        raise QueryError(
            f"{name} is of type {type(value).__module__}.{type(value).__qualname__}, which nobody "
            "knows how to merge: use histograms, numbers, numpy or awkward arrays, dicts, lists, "
            "tuples, sets, text or Booleans that are the same in all chunks, or objects of your "
            "own with a method merge(other) or with +"
        )
    if kind is _DICT:
        for key, each in value.items():
            check(each, f"{name}[{key!r}]")


def check_neutral(value: Any, name: str = "output") -> None:
    """Raises QueryError where `value` would count again and again: outputs start once per worker
    and commit, so they have to start empty, or at zero."""
    check(value, name)
    kind = _kind(value)
    assert kind is not None
    if kind is _DICT:
        for key, each in value.items():
            check_neutral(each, f"{name}[{key!r}]")
    elif kind.filled is not None and kind.filled(value):
        raise QueryError(
            f"{name} does not start empty: what is in it after begin_worker would be added once "
            "for every worker and commit. Start at zero, and put constants into `inputs`"
        )


def merge(first: Any, second: Any, name: str = "output") -> Any:
    """One value of both. `first` may be changed, and must not be used any more; `second` stays as
    it is, though parts of it may live on in the result.

    Raises QueryError where they do not fit together, naming the place."""
    kind = _kind(first)
    if kind is None:
        check(first, name)
    assert kind is not None
    if first is None or second is None:  # a chunk without it, as ak.max of nothing
        return second if first is None else first
    other = _kind(second)
    if other is not kind and _ACCUMULATOR in (kind, other):
        return _with_accumulator(first, second, name)
    if other is not kind:
        raise QueryError(
            f"{name} is of type {type(first).__name__} in one place and of type "
            f"{type(second).__name__} in another"
        )
    if kind is _DICT:
        return _merge_dicts(first, second, name)
    try:
        return kind.merge(first, second)
    except Exception as error:
        raise QueryError(f"{name} cannot be merged: {type(error).__name__}: {error}") from error


def _with_accumulator(first: Any, second: Any, name: str) -> Any:
    """One of coffea's accumulators and what it may take, such as a number."""
    try:
        return first + second
    except Exception as error:
        raise QueryError(f"{name} cannot be merged: {type(error).__name__}: {error}") from error


class _Kind:
    def __init__(
        self,
        matches: Callable[[Any], bool],
        merge: Callable[[Any, Any], Any],
        filled: Callable[[Any], bool] | None,
    ) -> None:
        self.matches = matches
        self.merge = merge
        self.filled = filled
        """Whether a value would change what it is merged with; None: nobody can tell."""


def _kind(value: Any) -> _Kind | None:
    return next((kind for kind in _KINDS if kind.matches(value)), None)


def _merge_dicts(
    first: MutableMapping[Any, Any], second: MutableMapping[Any, Any], name: str
) -> MutableMapping[Any, Any]:
    for key, value in second.items():
        if key in first:
            first[key] = merge(first[key], value, f"{name}[{key!r}]")
        else:
            check(value, f"{name}[{key!r}]")
            first[key] = value
    return first


def _of(module: str, *names: str) -> Callable[[Any], bool]:
    """Whether a value is of one of these classes of a library, which may not be loaded."""

    def matches(value: Any) -> bool:
        loaded = sys.modules.get(module)
        kinds = tuple(getattr(loaded, name) for name in names if hasattr(loaded, name))
        return bool(kinds) and isinstance(value, kinds)

    return matches


def _is_number(value: Any) -> bool:
    if _of("numpy", "ndarray")(value):  # as ak.num(events, axis=0)
        return value.ndim == 0 and value.dtype.kind in "iufcm"
    return isinstance(value, numbers.Number)


def _is_array(value: Any) -> bool:
    return _of("numpy", "ndarray")(value) and value.dtype.kind in "iufcmV"


def _is_constant(value: Any) -> bool:
    # A sum of truth values is no truth value: a count is int(x).
    return value is None or isinstance(value, (str, bytes, bool)) or _of("numpy", "bool_")(value)


def _same(first: Any, second: Any) -> Any:
    """What says something of all chunks rather than of each: text, Booleans."""
    if first == second:
        return first
    raise ValueError(
        f"it is {first!r} in one chunk and {second!r} in another, and neither text nor Booleans "
        "are added: make it a key of a dict, or put it into a list or a set"
    )


def _add_arrays(first: Any, second: Any) -> Any:
    if first.shape != second.shape:
        raise ValueError(f"arrays of shapes {first.shape} and {second.shape} are not added")
    if first.dtype.names is not None:
        raise ValueError("arrays of records are not added")
    import numpy as np

    made = first + second
    if made.dtype.kind in "iu" and _has_overflown(first, second, made):
        if made.dtype.itemsize == 8:
            raise OverflowError("a sum of integers is larger than 64 bits")
        made = np.add(first, second, dtype=np.int64)
    return made


def _has_overflown(first: Any, second: Any, made: Any) -> bool:
    first, second = first.astype(made.dtype), second.astype(made.dtype)
    if made.dtype.kind == "u":
        return bool((made < first).any())
    return bool((((first ^ made) & (second ^ made)) < 0).any())


def _add_numbers(first: Any, second: Any) -> Any:
    """numpy's integers of few bits do not wrap around."""
    if isinstance(first, int) and isinstance(second, int):
        return first + second
    first, second = (x[()] if hasattr(x, "ndim") else x for x in (first, second))
    if not (isinstance(first, numbers.Integral) and isinstance(second, numbers.Integral)):
        return first + second
    import numpy as np

    exact = int(first) + int(second)
    with np.errstate(over="ignore"):
        made: Any = first + second
    return made if int(made) == exact else exact


def _unite(first: Any, second: Any) -> Any:
    first |= second
    return first


def _adds(value: Any) -> bool:
    """Whether it is of a class that says itself what + means. What libraries of arrays and tables
    mean by it is not what is wanted of two chunks."""
    kind = type(value)
    known = kind.__module__.partition(".")[0] in _LIBRARIES
    return hasattr(kind, "__add__") and not known and not isinstance(value, tuple)


_LIBRARIES = {"builtins", "numpy", "awkward", "pandas", "polars", "pyarrow", "xarray", "dask"}


def _concatenate(first: Any, second: Any) -> Any:
    import awkward as ak

    return ak.concatenate([first, second])


def _add_histograms(first: Any, second: Any) -> Any:
    return first + second


def _extend(first: Any, second: Any) -> Any:
    first.extend(second)
    return first


def _append(first: tuple[Any, ...], second: tuple[Any, ...]) -> tuple[Any, ...]:
    return first + second


def _call_merge(first: Any, second: Any) -> Any:
    made = first.merge(second)
    return first if made is None else made


def _call_add(first: Any, second: Any) -> Any:
    first.add(second)
    return first


def _has(*methods: str) -> Callable[[Any], bool]:
    def matches(value: Any) -> bool:
        return not isinstance(value, type) and all(
            callable(getattr(value, method, None)) for method in methods
        )

    return matches


def _some_bins(value: Any) -> bool:
    view = value.view(flow=True)
    names = view.dtype.names
    parts = [view] if names is None else [view[name] for name in names]
    return any(bool((part != 0).any()) for part in parts)


_DICT = _Kind(lambda value: isinstance(value, MutableMapping), lambda a, b: a, None)
_ACCUMULATOR = _Kind(_has("add", "identity"), _call_add, None)
"""coffea's."""

# The first that matches counts. A table: a new kind of value is a line here.
_KINDS = (
    _DICT,
    _Kind(_of("boost_histogram", "Histogram"), _add_histograms, _some_bins),
    _Kind(_is_constant, _same, None),
    _Kind(_is_number, _add_numbers, lambda value: bool(value != 0)),
    _Kind(_is_array, _add_arrays, lambda value: bool(value.any())),
    _Kind(lambda value: isinstance(value, list | deque), _extend, bool),
    _Kind(lambda value: type(value) is tuple, _append, bool),
    _Kind(lambda value: isinstance(value, MutableSet | frozenset), _unite, bool),
    _Kind(_of("awkward", "Array"), _concatenate, lambda value: len(value) > 0),
    _Kind(_has("merge"), _call_merge, None),
    _ACCUMULATOR,
    _Kind(_adds, lambda a, b: a + b, None),
)
