"""One kind for a column that has other kinds in other files: the smallest that holds every value
exactly. Knows kinds and columns; knows nothing of files and branches.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .columns import column_of, empty, made, values_of_node
from .kinds import STRING, Kind, number, of_node

__all__ = ["cast", "fitted", "widest"]

# Bits of a floating-point type, and of the integers that it holds exactly.
_FLOATS = {16: 11, 32: 24, 64: 53}


def widest(kinds: Sequence[Kind]) -> Kind | None:
    """The kind that holds the values of all `kinds` exactly; None where there is none: integers of
    64 bits beside floats, signed beside unsigned ones of 64 bits, bools beside numbers, lists
    beside numbers, arrays of other lengths, records of other members.

    Lists and records are widened in their items and members. A kind of no values at all gives way
    to any other.
    """
    optional = any(kind.optional for kind in kinds)
    plain = dict.fromkeys(kind.given() for kind in kinds)
    known = [kind for kind in plain if kind.form != "nothing"]
    if len(known) < 2:
        return (known or list(plain))[0].given(optional)
    forms = {kind.form for kind in known}
    found = _COMBINE[forms.pop()](known) if len(forms) == 1 else None
    return None if found is None else found.given(optional)


def fitted(kinds: Sequence[Kind]) -> Kind | None:
    """The kind that holds what values mostly are where none holds all that they could be: double
    for integers of 64 bits beside floats, int64 for signed beside unsigned ones; the same of lists
    of them. None of other kinds. `cast` to it raises ValueError where a value does not fit.
    """
    optional = any(kind.optional for kind in kinds)
    if all(kind.form == "list" for kind in kinds):
        item = fitted([kind.item for kind in kinds])
        return None if item is None else Kind("list", parts=(item,), optional=optional)
    if not all(_is_number(kind) for kind in kinds):
        return None
    return number("float64" if any(kind.is_float for kind in kinds) else "int64").given(optional)


def cast(column: Any, kind: Kind) -> Any:
    """A core.Column as a kind that `widest` (or `fitted`) gave for its own and others. Raises
    ValueError where it does not hold a value."""
    node = column_of(column).nodes()
    return column if of_node(node) == kind else made(_cast(node, kind))


def _cast(node: Any, kind: Kind, there: Any = None) -> Any:
    """`there`: flags of values that count; None: all do."""
    own = of_node(node)
    if own == kind:
        return node
    if own.optional:
        return _cast_option(node, kind)
    if kind.optional:
        length = _length(node)
        return "option", None, _cast(node, kind.given()), length
    if own.form == "nothing":
        none = empty(kind)
        return ("places", np.full(node[1], -1), none) if node[1] else none
    if own.form == kind.form and kind.form == "list":
        return "list", node[1], _cast(node[2], kind.item)
    if own.form == kind.form and kind.form == "array" and own.size == kind.size:
        return "regular", node[1], node[2], _cast(node[3], kind.item)
    if own.form == kind.form and kind.form == "record":
        # By name, in whatever order this one has its members.
        members = dict(zip(own.names, node[2], strict=True))
        pairs = zip(kind.names, kind.parts, strict=True)
        return "record", kind.names, [_cast(members[n], part) for n, part in pairs], node[3]
    if own.form == kind.form == "number":
        return _exactly(values_of_node(node), kind, there)
    raise ValueError(f"{own} is no {kind}")


def _cast_option(node: Any, kind: Kind) -> Any:
    _, bits, values, length = node
    if bits is None:
        made = _cast(values, kind.given())
        return ("option", None, made, length) if kind.optional else made
    if not kind.optional:
        raise ValueError("values are missing")
    return "option", bits, _cast(values, kind.given(), values_of_node(bits)), length


def _exactly(values: Any, kind: Kind, there: Any) -> Any:
    """Numbers as another type, which holds each of them."""
    if there is not None:
        values = np.where(there, values, np.zeros(1, values.dtype))
    own = number(values.dtype.name)
    if "bool" in (own.dtype, kind.dtype) or (own.is_float and not kind.is_float):
        raise ValueError(f"{own} is no {kind}")
    if not own.is_float:
        low, high = _range(kind)
        wrong = [value for value in _extremes(values) if not low <= value <= high]
        if wrong:
            raise ValueError(f"{wrong[0]} is not in the range {low} to {high}")
    return values.astype(kind.dtype)


def _range(kind: Kind) -> tuple[int, int]:
    """Of integers that a kind holds exactly, all of them."""
    if kind.is_float:
        largest = 1 << _FLOATS[kind.bits]
        return -largest, largest
    limits = np.iinfo(kind.dtype)
    return int(limits.min), int(limits.max)


def _extremes(values: Any) -> list[int]:
    return [int(values.min()), int(values.max())] if len(values) else []


def _length(node: Any) -> int:
    if type(node) is not tuple:
        return len(node)
    word, *parts = node
    if word in ("list", "string"):
        return len(parts[0]) - 1
    return int(len(parts[0]) if word == "union" else parts[_LENGTHS.get(word, -1)])


_LENGTHS = {"regular": 1}
"""Where nodes say how many values they have; at their ends but for these."""


def _widest_number(kinds: Sequence[Kind]) -> Kind | None:
    if not all(_is_number(kind) for kind in kinds):
        return None
    floats = [kind for kind in kinds if kind.is_float]
    integers = [kind for kind in kinds if kind.is_integer]
    if floats:
        bits = max((k.bits - k.is_signed for k in integers), default=0)
        width = max(kind.bits for kind in floats)
        fitting = (n for n, holds in _FLOATS.items() if n >= width and holds >= bits)
        found = next(fitting, None)
        return None if found is None else number(f"float{found}")
    signed = [kind.bits for kind in integers if kind.is_signed]
    unsigned = [kind.bits for kind in integers if not kind.is_signed]
    if not signed:
        return number(f"uint{max(unsigned)}")
    width = max([*signed, *(2 * bits for bits in unsigned)])
    return number(f"int{width}") if width <= 64 else None


def _widest_list(kinds: Sequence[Kind]) -> Kind | None:
    item = widest([kind.item for kind in kinds])
    return None if item is None else Kind("list", parts=(item,))


def _widest_array(kinds: Sequence[Kind]) -> Kind | None:
    item = widest([kind.item for kind in kinds])
    if item is None or _has_record(item) or len({kind.size for kind in kinds}) > 1:
        return None
    return kinds[0].of(item)


def _widest_record(kinds: Sequence[Kind]) -> Kind | None:
    names = kinds[0].names
    if any(sorted(names) != sorted(kind.names) for kind in kinds):
        return None
    members = []
    for name in names:
        kind = widest([kind.parts[kind.names.index(name)] for kind in kinds])
        if kind is None:
            return None
        members.append(kind)
    return Kind("record", parts=tuple(members), names=names)


def _widest_string(kinds: Sequence[Kind]) -> Kind | None:
    return STRING


def _widest_union(kinds: Sequence[Kind]) -> Kind | None:
    return None


def _is_number(kind: Kind) -> bool:
    return kind.form == "number" and kind.dtype != "bool"


def _has_record(kind: Kind) -> bool:
    return kind.form == "record" or (kind.form == "list" and _has_record(kind.item))


_COMBINE: dict[str, Callable[[Sequence[Kind]], Kind | None]] = {
    "number": _widest_number,
    "list": _widest_list,
    "array": _widest_array,
    "string": _widest_string,
    "record": _widest_record,
    "union": _widest_union,
}
