"""Functions of the language for one event: of lists, of numbers, and those that make lists."""

import bisect
import itertools
import math
import statistics
from collections.abc import Callable
from typing import Any

from . import vectors
from .values import (
    MISSING,
    Element,
    choose,
    divide,
    each,
    each_even_missing,
    is_whole,
    present,
    wrap,
)


def _sum(values: list[Any]) -> Any:
    total: Any = 0
    for _, v in present(values):
        total = total + v
    return wrap(total) if isinstance(total, int) else total


def _prod(values: list[Any]) -> Any:
    product: Any = 1
    for _, v in present(values):
        product = product * v
    return wrap(product) if isinstance(product, int) else product


def _interp(x: Any, xs: list[float], ys: list[float]) -> Any:
    def run(v: Any) -> float:
        v = float(v)
        if not xs[0] <= v <= xs[-1]:
            return v if math.isnan(v) else float(ys[0] if v < xs[0] else ys[-1])
        i = min(bisect.bisect_right(xs, v), len(xs) - 1)
        share = (v - xs[i - 1]) / (xs[i] - xs[i - 1])
        return ys[i - 1] + share * (ys[i] - ys[i - 1])

    return each(run, x)


def _in_ranges(x: Any, ends: list[int]) -> Any:
    pairs = list(zip(ends[::2], ends[1::2], strict=True))
    return each(lambda v: any(first <= v <= last for first, last in pairs), x)


def _digitize(x: Any, edges: list[float], right: bool = False) -> Any:
    place = bisect.bisect_left if right else bisect.bisect_right
    return each(lambda v: len(edges) if _nan(v) else place(edges, v), x)


def _take(table: list[Any], index: Any) -> Any:
    return each(lambda i: table[i] if 0 <= i < len(table) else MISSING, index)


def _mean(values: list[Any]) -> Any:
    there = [float(v) for _, v in present(values)]
    return sum(there, 0.0) / len(there) if there else MISSING


def _nan(x: Any) -> bool:
    return isinstance(x, float) and math.isnan(x)


def best(keys: list[Any], least: bool) -> int | None:
    """The place of the least or greatest key, the first of equals; NaN counts only where there is
    nothing else."""
    found: tuple[int, Any] | None = None
    for i, key in present(keys):
        if found is not None:
            old = found[1]
            closer = key < old if least else key > old
            if not closer and not (_nan(old) and not _nan(key)):
                continue
        found = (i, key)
    return None if found is None else found[0]


def _extreme(least: bool) -> Callable[..., Any]:
    def of_several(*args: Any) -> Any:
        def pick(a: Any, b: Any) -> Any:
            if _nan(a) or _nan(b):
                return math.nan
            chosen = a if a == b or (a < b) == least else b
            return float(chosen) if isinstance(a, float) or isinstance(b, float) else chosen

        result = args[0]
        for arg in args[1:]:
            result = each(pick, result, arg)
        return result

    def run(*args: Any, key: Callable[[Any], Any] | None = None, default: Any = MISSING) -> Any:
        if len(args) > 1:
            return of_several(*args)
        (values,) = args
        if values is MISSING:
            return MISSING
        place = best(values if key is None else [key(v) for v in values], least)
        return default if place is None else values[place]

    return run


def _arg(least: bool) -> Callable[..., Any]:
    def run(values: list[Any], key: Callable[[Any], Any] | None = None) -> Any:
        place = best(values if key is None else [key(v) for v in values], least)
        return MISSING if place is None else place

    return run


def _sorted(
    values: list[Any], key: Callable[[Any], Any] | None = None, reverse: bool = False
) -> list[Any]:
    """Stable, both ways; NaN and then the missing come last, both ways."""
    keys = values if key is None else [key(v) for v in values]

    def order(i: int) -> tuple[int, Any]:
        k = keys[i]
        if k is MISSING or _nan(k):
            return 2 if k is MISSING else 1, 0
        return 0, -k if reverse else k

    return [values[i] for i in sorted(range(len(values)), key=order)]


def _places(
    values: list[Any], key: Callable[[Any], Any] | None = None, reverse: bool = False
) -> list[int]:
    """The numbers of the items in the order of `_sorted`."""
    keys = values if key is None else [key(v) for v in values]
    return _sorted(list(range(len(values))), lambda i: keys[i], reverse)


def _variance(values: list[Any], ddof: int = 0) -> Any:
    there = [float(v) for _, v in present(values)]
    if not there:
        return MISSING
    mean = sum(there, 0.0) / len(there)
    total = sum(((x - mean) ** 2 for x in there), 0.0)
    return divide(total, max(len(there) - ddof, 0))


def _deviation(values: list[Any], ddof: int = 0) -> Any:
    variance = _variance(values, ddof)
    return MISSING if variance is MISSING else _sqrt(variance)


def _median(values: list[Any]) -> Any:
    there = [float(v) for _, v in present(values)]
    if not there:
        return MISSING
    return math.nan if any(map(math.isnan, there)) else float(statistics.median(there))


def _unique(values: list[Any]) -> list[Any]:
    found: list[Any] = []
    for v in _sorted([v for _, v in present(values)]):
        is_known = bool(found) and (found[-1] == v or (_nan(found[-1]) and _nan(v)))
        if not is_known:
            found.append(v)
    return found


def _running(values: list[Any]) -> list[Any]:
    sums, total = [], 0
    for v in values:
        if v is not MISSING:
            total = total + v
        sums.append(MISSING if v is MISSING else wrap(total) if is_whole(total) else total)
    return sums


def _last(values: list[Any]) -> Any:
    return values[-1] if values else MISSING


def _first(values: list[Any]) -> Any:
    return values[0] if values else MISSING


def _real(f: Callable[..., float]) -> Callable[..., Any]:
    def run(*args: float) -> float:
        try:
            return f(*map(float, args))
        except ValueError:
            return math.nan
        except OverflowError:
            return math.inf

    return lambda *args: each(run, *args)


def _sqrt(x: float) -> float:
    return math.nan if x < 0 else math.sqrt(x)


def _rounded(f: Callable[[float], float]) -> Callable[[Any], Any]:
    def run(x: Any) -> Any:
        if isinstance(x, int):
            return int(x)
        return float(f(x)) if math.isfinite(x) else x

    return lambda x: each(run, x)


def _absolute(x: Any) -> Any:
    return abs(int(x)) if isinstance(x, int) else abs(x)


def _of_list(f: Callable[..., Any]) -> Callable[..., Any]:
    """A list that is missing, as those picked from a list of lists may be, has no items."""
    return lambda *values, **more: f(*([] if v is MISSING else v for v in values), **more)


_OF_LISTS: dict[str, Callable[..., Any]] = {
    "sum": _sum,
    "prod": _prod,
    "mean": _mean,
    "any": lambda values: any(bool(v) for _, v in present(values)),
    "all": lambda values: all(bool(v) for _, v in present(values)),
    "len": lambda values: len(values),
    "count": lambda values: sum(1 for _ in present(values)),
    "argmin": _arg(True),
    "argmax": _arg(False),
    "first": _first,
    "argsort": _places,
    "var": _variance,
    "std": _deviation,
    "median": _median,
    "unique": _unique,
    "cumsum": _running,
    "permutations": lambda values, n: list(itertools.permutations(values, n)),
    "last": _last,
    "sorted": _sorted,
    "combinations": lambda values, n: list(itertools.combinations(values, n)),
    "concat": lambda *lists: [x for values in lists for x in values],
    "zip": lambda *lists: list(zip(*lists, strict=False)),
    "enumerate": lambda values: list(enumerate(values)),
}
_OF_NUMBERS: dict[str, Callable[..., Any]] = {
    "abs": lambda x: each(_absolute, x),
    "sqrt": _real(_sqrt),
    "exp": _real(math.exp),
    "cos": _real(math.cos),
    "erf": _real(math.erf),
    "hypot": _real(math.hypot),
    "floor": _rounded(math.floor),
    "ceil": _rounded(math.ceil),
    "interp": _interp,
    "digitize": _digitize,
    "in_ranges": _in_ranges,
    "take": _take,
    "isnan": lambda x: each(lambda v: math.isnan(v), x),
    "isfinite": lambda x: each(lambda v: math.isfinite(v), x),
    "where": lambda test, a, b: each_even_missing(choose, test, a, b),
    "is_missing": lambda x: each_even_missing(lambda v: v is MISSING, x),
    "fill_missing": lambda x, y: each_even_missing(lambda a, b: b if a is MISSING else a, x, y),
}


def _difference(f: Callable[[Any, Any], float], of_angles: Callable[[float], float] | None) -> Any:
    """Of two vectors, or of two angles."""

    def run(a: Any, b: Any) -> Any:
        if isinstance(a, Element):
            return f(a, b)
        assert of_angles is not None
        return of_angles(float(a) - float(b))

    return lambda a, b: each(run, a, b)


def _vector(**parts: Any) -> Any:
    return MISSING if any(part is MISSING for part in parts.values()) else Element(parts)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "vector": _vector,
    "deltaR": _difference(vectors.delta_r, None),
    "deltaphi": _difference(vectors.deltaphi, lambda x: math.remainder(x, 2 * math.pi)),
    "deltaeta": _difference(vectors.deltaeta, float),
    **{name: _of_list(f) for name, f in _OF_LISTS.items()},
    **_OF_NUMBERS,
    # Of a list, or of several numbers.
    "min": _extreme(True),
    "max": _extreme(False),
}

__all__ = ["FUNCTIONS", "Element"]
