"""The common kind of a column that has different kinds in different files: the smallest one that
holds every value exactly. Knows kinds and columns; knows no file and no branch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from .columns import empty, made, values_of_node
from .kinds import STRING, Kind, number, of_node

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .._core import Column
    from .column_source import ListNode, Node, OptionNode, RecordNode, RegularNode

    There = NDArray[np.generic] | None

__all__ = ["cast", "fitted", "widest"]

# Bits of a floating-point type, and of the integers that it holds exactly.
_FLOATS = {16: 11, 32: 24, 64: 53}


def widest(kinds: Sequence[Kind]) -> Kind | None:
    """The kind that holds the values of all `kinds` exactly. None if there is no such kind, as for
    integers of 64 bits and floats, signed and unsigned integers of 64 bits, bools and numbers,
    lists and numbers, arrays of different lengths, records of different members.

    The items of lists and the members of records are widened. The kind of no values at all goes
    with any other.
    """
    optional = any(kind.optional for kind in kinds)
    plain = dict.fromkeys(kind.given() for kind in kinds)
    known = [kind for kind in plain if kind.form != "nothing"]
    if len(known) < 2:
        return (known or list(plain))[0].given(optional)
    forms = {kind.form for kind in known}
    common = _COMBINE[forms.pop()](known) if len(forms) == 1 else None
    return None if common is None else common.given(optional)


def fitted(kinds: Sequence[Kind]) -> Kind | None:
    """The kind that holds most values if `widest` finds none: double for integers of 64 bits and
    floats, int64 for signed and unsigned integers, and lists of them. None for other kinds. `cast`
    to it raises ValueError if a value does not fit.
    """
    optional = any(kind.optional for kind in kinds)
    if all(kind.form == "list" for kind in kinds):
        item = fitted([kind.item for kind in kinds])
        return None if item is None else Kind("list", parts=(item,), optional=optional)
    if not all(_is_number(kind) for kind in kinds):
        return None
    return number("float64" if any(kind.is_float for kind in kinds) else "int64").given(optional)


def cast(column: Column, kind: Kind) -> Column:
    """Convert a column to a kind that `widest` or `fitted` gave for its own kind and others. Raises
    ValueError if that kind does not hold a value exactly."""
    node = column.nodes()
    return column if of_node(node) == kind else made(_cast(node, kind))


def _cast(node: Node, kind: Kind, there: There = None) -> Node:
    """`there`: which values are not missing with what they are in; None: all."""
    own = of_node(node)
    if own == kind:
        return node
    word = node[0] if isinstance(node, tuple) else "number"
    if isinstance(node, tuple) and node[0] == "option":
        return _cast_option(node, kind, there)
    if kind.optional:
        return "option", None, _cast(node, kind.given(), there), _length(node)
    if isinstance(node, tuple) and node[0] == "nothing":
        none = empty(kind)
        return ("places", np.full(node[1], -1), none) if node[1] else none
    if own.form == kind.form and word in _CASTS:
        return _CASTS[word](node, own, kind, there)
    if own.form == kind.form == "number":
        return _exactly(values_of_node(node), kind, there)
    raise ValueError(f"{own} is no {kind}")


def _cast_list(node: ListNode, own: Kind, kind: Kind, there: There) -> Node:
    return "list", node[1], _cast(node[2], kind.item)


def _cast_array(node: RegularNode, own: Kind, kind: Kind, there: There) -> Node:
    if own.size != kind.size:
        raise ValueError(f"{own} is no {kind}")
    items = None if there is None else np.repeat(there, node[1])
    return "regular", node[1], node[2], _cast(node[3], kind.item, items)


def _cast_record(node: RecordNode, own: Kind, kind: Kind, there: There) -> Node:
    # Members go by name: the two may have them in different orders.
    members = dict(zip(own.names, node[2], strict=True))
    pairs = zip(kind.names, kind.parts, strict=True)
    return (
        "record",
        kind.names,
        [_cast(members[name], part, there) for name, part in pairs],
        node[3],
    )


_CASTS: dict[str, Callable[..., Node]] = {
    "list": _cast_list,
    "regular": _cast_array,
    "record": _cast_record,
}


def _cast_option(node: OptionNode, kind: Kind, there: There) -> Node:
    _, bits, values, length = node
    if bits is None:
        cast_values = _cast(values, kind.given(), there)
        return ("option", None, cast_values, length) if kind.optional else cast_values
    given = values_of_node(bits)
    if kind.optional:
        return "option", bits, _cast(values, kind.given(), given), length
    # The items of a missing array are missing with it.
    if there is None or np.any(np.logical_and(there, np.logical_not(given))):
        raise ValueError("values are missing")
    return _cast(values, kind, given)


def _exactly(values: NDArray[np.generic], kind: Kind, there: There) -> NDArray[np.generic]:
    """Numbers as another type. Raises ValueError if it does not hold each of them."""
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
    """The least and the greatest of the integers that a kind holds exactly without a gap."""
    if kind.is_float:
        largest = 1 << _FLOATS[kind.bits]
        return -largest, largest
    limits = np.iinfo(kind.dtype)
    return int(limits.min), int(limits.max)


def _extremes(values: NDArray[np.generic]) -> list[int]:
    return [int(values.min()), int(values.max())] if len(values) else []


def _length(node: Node) -> int:
    """The number of a node's values."""
    return _LENGTHS[node[0]](node) if isinstance(node, tuple) else len(node)


_LENGTHS: dict[str, Callable[..., int]] = {
    "list": lambda node: len(node[1]) - 1,
    "string": lambda node: len(node[1]) - 1,
    "union": lambda node: len(node[1]),
    "places": lambda node: len(node[1]),
    "regular": lambda node: node[2],
    "bits": lambda node: node[3],
    "record": lambda node: node[3],
    "option": lambda node: node[3],
    "nothing": lambda node: node[1],
}


def _widest_number(kinds: Sequence[Kind]) -> Kind | None:
    if not all(_is_number(kind) for kind in kinds):
        return None
    floats = [kind for kind in kinds if kind.is_float]
    integers = [kind for kind in kinds if kind.is_integer]
    if floats:
        bits = max((k.bits - k.is_signed for k in integers), default=0)
        width = max(kind.bits for kind in floats)
        fitting = (n for n, holds in _FLOATS.items() if n >= width and holds >= bits)
        float_bits = next(fitting, None)
        return None if float_bits is None else number(f"float{float_bits}")
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
