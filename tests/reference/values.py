"""Values of one event: bools, ints and floats as Python's own, lists, tuples, elements of
collections, and one value that is missing. What operators do with them.
"""

import math
import operator
from collections.abc import Callable, Iterator
from typing import Any


class _Missing:
    def __repr__(self) -> str:
        return "MISSING"


MISSING: Any = _Missing()


class Element(dict[str, Any]):
    """An item of a collection: its fields by name."""


class Event(dict[str, Any]):
    """An event's columns by name. Lists whose names share a prefix of `collections` are also a
    collection of that name."""

    def __init__(self, columns: dict[str, Any], collections: tuple[str, ...] = ()) -> None:
        super().__init__(columns)
        for prefix in collections:
            start = len(prefix) + 1
            fields = {
                name[start:]: v for name, v in columns.items() if name[:start] == prefix + "_"
            }
            rows = zip(*fields.values(), strict=True)
            self[prefix] = [Element(zip(fields, row, strict=True)) for row in rows]


def flat(value: Any) -> list[Any]:
    """What fills a histogram: all items of all lists but the missing ones."""
    if isinstance(value, list):
        return [x for item in value for x in flat(item)]
    return [] if value is MISSING else [value]


def each(f: Callable[..., Any], *args: Any) -> Any:
    """`f` position by position: lists go in step, single values are repeated; missing in, missing
    out."""
    lists = [a for a in args if isinstance(a, list)]
    if not lists:
        return MISSING if MISSING in args else f(*args)
    (n,) = {len(a) for a in lists}
    return [each(f, *(a[i] if isinstance(a, list) else a for a in args)) for i in range(n)]


def each_even_missing(f: Callable[..., Any], *args: Any) -> Any:
    """As `each`, where `f` itself knows what to do with what is missing."""
    lengths = {len(a) for a in args if isinstance(a, list)}
    if lengths:
        (n,) = lengths
        rows = ((a[i] if isinstance(a, list) else a for a in args) for i in range(n))
        return [each_even_missing(f, *row) for row in rows]
    return f(*args)


def is_whole(*values: Any) -> bool:
    return all(isinstance(v, int) for v in values)


def wrap(x: int) -> int:
    """As 64 bits with a sign hold it."""
    return (x + (1 << 63)) % (1 << 64) - (1 << 63)


# Arithmetic: integers stay integers and wrap, floats are IEEE's.


def divide(a: Any, b: Any) -> float:
    a, b = float(a), float(b)
    if b == 0:
        if a == 0 or math.isnan(a):
            return math.nan
        return math.copysign(math.inf, a) * math.copysign(1.0, b)
    return a / b


def floor_divide(a: Any, b: Any) -> Any:
    if is_whole(a, b):
        return MISSING if b == 0 else wrap(a // b)
    quotient = divide(a, b)
    return quotient if not math.isfinite(quotient) else float(math.floor(quotient))


def modulo(a: Any, b: Any) -> Any:
    if is_whole(a, b):
        return MISSING if b == 0 else a % b
    if b == 0 or not math.isfinite(a) or math.isnan(b):
        return math.nan
    return a % b


def _ieee(f: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def run(a: Any, b: Any) -> Any:
        return wrap(f(int(a), int(b))) if is_whole(a, b) else f(float(a), float(b))

    return run


def _bits(f: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def run(a: Any, b: Any) -> Any:
        return f(a, b) if isinstance(a, bool) and isinstance(b, bool) else f(int(a), int(b))

    return run


def power(a: Any, b: Any) -> Any:
    if is_whole(a, b) and b >= 0:
        return wrap(int(a) ** int(b))
    try:
        return math.pow(a, b)
    except OverflowError:
        return -math.inf if a < 0 and b % 2 == 1 else math.inf
    except ValueError:
        return math.inf if a == 0 else math.nan


BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "Add": _ieee(operator.add),
    "Sub": _ieee(operator.sub),
    "Mult": _ieee(operator.mul),
    "Div": divide,
    "FloorDiv": floor_divide,
    "Mod": modulo,
    "Pow": power,
    "BitAnd": _bits(operator.and_),
    "BitOr": _bits(operator.or_),
    "BitXor": _bits(operator.xor),
    "LShift": lambda a, b: wrap(a << b),
    "RShift": operator.rshift,
}
COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "Eq": operator.eq,
    "NotEq": operator.ne,
    "Lt": operator.lt,
    "LtE": operator.le,
    "Gt": operator.gt,
    "GtE": operator.ge,
}
UNARY: dict[str, Callable[[Any], Any]] = {
    "USub": lambda a: wrap(-int(a)) if is_whole(a) else -a,
    "UAdd": lambda a: int(a) if is_whole(a) else a,
    "Not": lambda a: not a,
    "Invert": lambda a: not a if isinstance(a, bool) else ~a,
}


def both(*args: Any) -> Any:
    """`and`: false decides, whatever is missing."""
    if any(a is not MISSING and not a for a in args):
        return False
    return MISSING if any(a is MISSING for a in args) else True


def either(*args: Any) -> Any:
    """`or`: true decides, whatever is missing."""
    if any(a is not MISSING and bool(a) for a in args):
        return True
    return MISSING if any(a is MISSING for a in args) else False


def choose(test: Any, a: Any, b: Any) -> Any:
    if test is MISSING:
        return MISSING
    return a if test else b


def present(values: list[Any]) -> Iterator[tuple[int, Any]]:
    """Those that are there, with their places."""
    return ((i, v) for i, v in enumerate(values) if v is not MISSING)
