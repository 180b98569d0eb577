"""One type for a column that has other types in other files: the smallest that holds every value
exactly. Knows Arrow's types; knows nothing of files and branches.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

__all__ = ["cast", "fitted", "widest"]

# Bits of a floating-point type, and of the integers that it holds exactly.
_FLOATS = {16: 11, 32: 24, 64: 53}


def widest(types: Sequence[Any]) -> Any | None:
    """The pyarrow.DataType that holds the values of all `types` exactly; None where there is none:
    integers of 64 bits beside floats, signed beside unsigned ones of 64 bits, bools beside
    numbers, lists beside numbers, arrays of other lengths, records of other members.

    Lists and records are widened in their items and members. A type of no values at all
    (pyarrow.null) gives way to any other.
    """
    import pyarrow.types as t

    kinds = [kind for kind in dict.fromkeys(types) if not t.is_null(kind)]
    if len(kinds) < 2:
        return kinds[0] if kinds else types[0]
    for is_one, combine in _COMBINE:
        if all(is_one(kind) for kind in kinds):
            return combine(kinds)
    return None


def fitted(types: Sequence[Any]) -> Any | None:
    """The pyarrow.DataType that holds what values mostly are where no type holds all that they
    could be: double for integers of 64 bits beside floats, int64 for signed beside unsigned ones;
    the same of lists of them. None of other types. `cast` to it raises pyarrow.ArrowInvalid where a
    value does not fit.
    """
    import pyarrow
    import pyarrow.types as t

    if all(_is_list(kind) for kind in types):
        item = fitted([kind.value_type for kind in types])
        return None if item is None else _listed(types, item)
    if not all(_is_number(kind) for kind in types):
        return None
    return pyarrow.float64() if any(t.is_floating(kind) for kind in types) else pyarrow.int64()


def cast(array: Any, kind: Any) -> Any:
    """A pyarrow.Array as a type that `widest` (or `fitted`) gave for its own and others."""
    import pyarrow
    import pyarrow.types as t

    if array.type == kind:
        return array
    if t.is_struct(kind) and t.is_struct(array.type):
        # Members by name: Arrow's own cast goes by their places.
        parts = [cast(array.field(member.name), member.type) for member in kind]
        mask = None if array.null_count == 0 else array.is_null()
        return pyarrow.StructArray.from_arrays(parts, fields=list(kind), mask=mask)
    if _is_list(kind) and _has_struct(kind):
        made = pyarrow.LargeListArray if t.is_large_list(kind) else pyarrow.ListArray
        bits = pyarrow.int64() if t.is_large_list(kind) else pyarrow.int32()
        if array.null_count:
            raise pyarrow.ArrowNotImplementedError("missing lists of records")
        items = cast(array.values, kind.value_type)
        return made.from_arrays(array.offsets.cast(bits), items, type=kind)
    return array.cast(kind)


def _widest_number(kinds: Sequence[Any]) -> Any | None:
    import pyarrow
    import pyarrow.types as t

    floats = [kind for kind in kinds if t.is_floating(kind)]
    integers = [kind for kind in kinds if t.is_integer(kind)]
    if floats:
        bits = max((k.bit_width - t.is_signed_integer(k) for k in integers), default=0)
        width = max(kind.bit_width for kind in floats)
        fitting = (n for n, holds in _FLOATS.items() if n >= width and holds >= bits)
        found = next(fitting, None)
        return None if found is None else getattr(pyarrow, f"float{found}")()
    signed = [kind.bit_width for kind in integers if t.is_signed_integer(kind)]
    unsigned = [kind.bit_width for kind in integers if not t.is_signed_integer(kind)]
    if not signed:
        return getattr(pyarrow, f"uint{max(unsigned)}")()
    width = max([*signed, *(2 * bits for bits in unsigned)])
    return getattr(pyarrow, f"int{width}")() if width <= 64 else None


def _widest_list(kinds: Sequence[Any]) -> Any | None:
    item = widest([kind.value_type for kind in kinds])
    return None if item is None else _listed(kinds, item)


def _listed(kinds: Sequence[Any], item: Any) -> Any:
    """Lists of the items, as those of `kinds` are."""
    import pyarrow
    import pyarrow.types as t

    is_nullable = any(kind.value_field.nullable for kind in kinds)
    field = pyarrow.field("item", item, nullable=is_nullable)
    is_large = any(t.is_large_list(kind) for kind in kinds)
    return pyarrow.large_list(field) if is_large else pyarrow.list_(field)


def _widest_array(kinds: Sequence[Any]) -> Any | None:
    import pyarrow

    item = widest([kind.value_type for kind in kinds])
    if item is None or _has_struct(item) or len({kind.list_size for kind in kinds}) > 1:
        return None
    is_nullable = any(kind.value_field.nullable for kind in kinds)
    return pyarrow.list_(pyarrow.field("item", item, nullable=is_nullable), kinds[0].list_size)


def _widest_struct(kinds: Sequence[Any]) -> Any | None:
    import pyarrow

    names = [member.name for member in kinds[0]]
    if any(sorted(names) != sorted(member.name for member in kind) for kind in kinds):
        return None
    members = []
    for name in names:
        fields = [kind.field(name) for kind in kinds]
        kind = widest([field.type for field in fields])
        if kind is None:
            return None
        members.append(pyarrow.field(name, kind, nullable=any(f.nullable for f in fields)))
    return pyarrow.struct(members)


def _text(kinds: Sequence[Any]) -> Any:
    import pyarrow

    return pyarrow.large_binary()


def _is_number(kind: Any) -> bool:
    import pyarrow.types as t

    return bool(t.is_integer(kind) or t.is_floating(kind))


def _is_list(kind: Any) -> bool:
    import pyarrow.types as t

    return bool(t.is_list(kind) or t.is_large_list(kind))


def _is_text(kind: Any) -> bool:
    import pyarrow.types as t

    tests = (t.is_string, t.is_large_string, t.is_binary, t.is_large_binary)
    return any(test(kind) for test in tests)


def _has_struct(kind: Any) -> bool:
    import pyarrow.types as t

    return bool(t.is_struct(kind) or (_is_list(kind) and _has_struct(kind.value_type)))


def _is_array(kind: Any) -> bool:
    import pyarrow.types as t

    return bool(t.is_fixed_size_list(kind))


def _is_struct(kind: Any) -> bool:
    import pyarrow.types as t

    return bool(t.is_struct(kind))


_COMBINE: tuple[tuple[Callable[[Any], bool], Callable[[Sequence[Any]], Any]], ...] = (
    (_is_number, _widest_number),
    (_is_list, _widest_list),
    (_is_array, _widest_array),
    (_is_text, _text),
    (_is_struct, _widest_struct),
)
