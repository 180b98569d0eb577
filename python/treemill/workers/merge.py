"""Merges outputs of selectors: which kinds of values they may hold, and how two values of a kind
become one.

Arithmetic only: knows no worker, no session and no file. Classes of libraries are recognised
without an import: an output without histograms does not need boost-histogram.
"""

from __future__ import annotations

import numbers
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, MutableSet
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeGuard, TypeVar, overload

from ..errors import QueryError

if TYPE_CHECKING:
    import awkward
    import numpy as np
    from hist import Hist
    from numpy.typing import NDArray

    _Array = NDArray[Any]
    _Set = MutableSet[object]

__all__ = ["check", "check_neutral", "merge"]

V = TypeVar("V")
_Dict = MutableMapping[object, object]


def check(value: object, name: str = "output") -> None:
    """Raises QueryError, which names the place, if a part of `value` cannot be merged."""
    kind = _kind(value)
    if kind is None:
        raise QueryError(
            f"{name} is of type {type(value).__module__}.{type(value).__qualname__}, which "
            "cannot be merged: use histograms, numbers, numpy or awkward arrays, dicts, lists, "
            "tuples, sets, text or Booleans that are the same in all chunks, or objects of your "
            "own with a method merge(other) or with +"
        )
    if isinstance(value, MutableMapping):
        for key, each in value.items():
            check(each, f"{name}[{key!r}]")


def check_neutral(value: object, name: str = "output") -> None:
    """Raises QueryError if a part of `value` is not empty or zero. Outputs start empty for each
    worker and commit, so that a constant in them would be counted many times."""
    check(value, name)
    kind = _kind(value)
    assert kind is not None
    if isinstance(value, MutableMapping):
        for key, each in value.items():
            check_neutral(each, f"{name}[{key!r}]")
    elif kind.filled is not None and kind.filled(value):
        raise QueryError(
            f"{name} does not start empty: its contents after begin_worker would be added once for "
            "every worker and commit. Start at zero, and put constants into `inputs`"
        )


@overload
def merge(first: dict[str, V], second: Mapping[str, object], name: str = ...) -> dict[str, V]: ...
@overload
def merge(first: object, second: object, name: str = ...) -> object: ...
def merge(first: object, second: object, name: str = "output") -> object:
    """Merges two values into one. `first` may be changed, and must not be used afterwards. `second`
    is not changed, but the result may share parts with it.

    Raises QueryError, which names the place, if the two do not fit together."""
    kind = _kind(first)
    if kind is None:
        check(first, name)
    assert kind is not None
    if first is None or second is None:  # a chunk without a value, such as ak.max of nothing
        return second if first is None else first
    other = _kind(second)
    if other is not kind and _ACCUMULATOR in (kind, other):
        return _with_accumulator(first, second, name)
    if other is not kind:
        raise QueryError(
            f"{name} is of type {type(first).__name__} in one place and of type "
            f"{type(second).__name__} in another"
        )
    if isinstance(first, MutableMapping) and isinstance(second, MutableMapping):
        return _merge_dicts(first, second, name)
    try:
        merged: object = kind.merge(first, second)
        return merged
    except Exception as error:
        raise QueryError(f"{name} cannot be merged: {type(error).__name__}: {error}") from error


def _with_accumulator(first: Any, second: Any, name: str) -> object:
    """Adds a value to one of coffea's accumulators, which may take for instance numbers."""
    try:
        total: object = first + second
        return total
    except Exception as error:
        raise QueryError(f"{name} cannot be merged: {type(error).__name__}: {error}") from error


class _Kind(Generic[V]):
    """Values that are merged in the same way."""

    def __init__(
        self,
        matches: Callable[[object], bool],
        merge: Callable[[V, V], V],
        filled: Callable[[V], bool] | None,
    ) -> None:
        self.matches = matches
        self.merge = merge
        self.filled = filled
        """Whether a value would change what it is merged with; None if that is not known."""


def _kind(value: object) -> _Kind[Any] | None:
    known = _OF_TYPE.get(type(value))
    return known or next((kind for kind in _KINDS if kind.matches(value)), None)


def _merge_dicts(first: _Dict, second: _Dict, name: str) -> _Dict:
    for key, value in second.items():
        if key in first:
            first[key] = merge(first[key], value, f"{name}[{key!r}]")
        else:
            check(value, f"{name}[{key!r}]")
            first[key] = value
    return first


def _of(module: str, *names: str) -> Callable[[object], bool]:
    """A test whether a value is of one of these classes of a library. If the library is not loaded,
    no value is."""

    def matches(value: object) -> bool:
        loaded = sys.modules.get(module)
        kinds = tuple(getattr(loaded, name) for name in names if hasattr(loaded, name))
        return bool(kinds) and isinstance(value, kinds)

    return matches


def _is_numpys(value: object) -> TypeGuard[NDArray[np.generic]]:
    return _of("numpy", "ndarray")(value)


def _is_number(value: object) -> bool:
    if _is_numpys(value):  # of no dimensions, such as ak.num(events, axis=0)
        return value.ndim == 0 and value.dtype.kind in "iufcm"
    return isinstance(value, numbers.Number)


def _is_array(value: object) -> bool:
    return _is_numpys(value) and value.dtype.kind in "iufcmV"


def _is_constant(value: object) -> bool:
    # Booleans are not added, because the sum would not be a Boolean: a count is int(x).
    return value is None or isinstance(value, (str, bytes, bool)) or _of("numpy", "bool_")(value)


def _same(first: V, second: V) -> V:
    """Checks values that describe all chunks alike: text and Booleans."""
    if first == second:
        return first
    raise ValueError(
        f"it is {first!r} in one chunk and {second!r} in another, and neither text nor Booleans "
        "are added: make it a key of a dict, or put it into a list or a set"
    )


def _add_arrays(first: _Array, second: _Array) -> _Array:
    if first.shape != second.shape:
        raise ValueError(f"arrays of shapes {first.shape} and {second.shape} are not added")
    if first.dtype.names is not None:
        raise ValueError("arrays of records are not added")
    import numpy as np

    added: _Array = first + second
    if added.dtype.kind in "iu" and _has_overflown(first, second, added):
        if added.dtype.itemsize == 8:
            raise OverflowError("a sum of integers is larger than 64 bits")
        added = np.add(first, second, dtype=np.int64)
    return added


def _has_overflown(first: _Array, second: _Array, added: _Array) -> bool:
    first, second = first.astype(added.dtype), second.astype(added.dtype)
    if added.dtype.kind == "u":
        return bool((added < first).any())
    return bool((((first ^ added) & (second ^ added)) < 0).any())


def _add_numbers(first: Any, second: Any) -> object:
    """Adds numbers. numpy's integers of few bits become wider where they would overflow."""
    if isinstance(first, int) and isinstance(second, int):
        return first + second
    first, second = (x[()] if _is_numpys(x) else x for x in (first, second))
    if not (isinstance(first, numbers.Integral) and isinstance(second, numbers.Integral)):
        total: object = first + second
        return total
    import numpy as np

    exact = int(first) + int(second)
    with np.errstate(over="ignore"):
        added: Any = first + second
    return exact if int(added) != exact else added


def _unite(first: _Set, second: _Set) -> _Set:
    first |= second
    return first


def _adds(value: object) -> bool:
    """True if the value's class defines +. Libraries of arrays and tables do not count: their +
    does not merge what two chunks have given."""
    kind = type(value)
    known = kind.__module__.partition(".")[0] in _LIBRARIES
    return hasattr(kind, "__add__") and not known and not isinstance(value, tuple)


_LIBRARIES = {"builtins", "numpy", "awkward", "pandas", "polars", "pyarrow", "xarray", "dask"}


def _concatenate(first: awkward.Array, second: awkward.Array) -> awkward.Array:
    import awkward as ak

    return ak.concatenate([first, second])


class _Adds(Protocol):
    """A value whose class defines +."""

    def __add__(self, other: object, /) -> _Adds: ...


class _Merges(Protocol):
    """A value with a method that merges, in place or not."""

    def merge(self, other: object, /) -> _Merges | None: ...


class _Accumulates(Protocol):
    """One of coffea's accumulators."""

    def add(self, other: object, /) -> None: ...


class _Extends(Protocol):
    """A list or a deque."""

    def __len__(self) -> int: ...
    def extend(self, other: Iterable[object], /) -> None: ...
    def __iter__(self) -> Iterator[object]: ...


def _add(first: _Adds, second: _Adds) -> _Adds:
    return first + second


def _extend(first: _Extends, second: _Extends) -> _Extends:
    first.extend(second)
    return first


def _append(first: tuple[object, ...], second: tuple[object, ...]) -> tuple[object, ...]:
    return first + second


def _call_merge(first: _Merges, second: _Merges) -> _Merges:
    result = first.merge(second)
    return first if result is None else result


def _call_add(first: _Accumulates, second: _Accumulates) -> _Accumulates:
    first.add(second)
    return first


def _has(*methods: str) -> Callable[[object], bool]:
    def matches(value: object) -> bool:
        return not isinstance(value, type) and all(
            callable(getattr(value, method, None)) for method in methods
        )

    return matches


def _some_bins(value: Hist) -> bool:
    view = value.view(flow=True)
    names = view.dtype.names
    parts = [view] if names is None else [view[name] for name in names]
    return any(bool((part != 0).any()) for part in parts)


_DICT: _Kind[Any] = _Kind(lambda value: isinstance(value, MutableMapping), lambda a, b: a, None)
_CONSTANT: _Kind[Any] = _Kind(_is_constant, _same, None)
_NUMBER: _Kind[Any] = _Kind(_is_number, _add_numbers, lambda value: bool(value != 0))
_LIST: _Kind[Any] = _Kind(lambda value: isinstance(value, list | deque), _extend, bool)
_ACCUMULATOR = _Kind(_has("add", "identity"), _call_add, None)
"""coffea's accumulators."""

# The first kind that matches a value counts.
_KINDS: tuple[_Kind[Any], ...] = (
    _DICT,
    _Kind(_of("boost_histogram", "Histogram"), _add, _some_bins),
    _CONSTANT,
    _NUMBER,
    _Kind(_is_array, _add_arrays, lambda value: bool(value.any())),
    _LIST,
    _Kind(lambda value: type(value) is tuple, _append, bool),
    _Kind(lambda value: isinstance(value, MutableSet | frozenset), _unite, bool),
    _Kind(_of("awkward", "Array"), _concatenate, lambda value: len(value) > 0),
    _Kind(_has("merge"), _call_merge, None),
    _ACCUMULATOR,
    _Kind(_adds, _add, None),
)

_OF_TYPE: dict[type, _Kind[Any]] = {
    **dict.fromkeys([int, float, complex], _NUMBER),
    **dict.fromkeys([bool, str, bytes, type(None)], _CONSTANT),
    dict: _DICT,
    list: _LIST,
}
"""The kinds of the commonest types, which need no search."""
