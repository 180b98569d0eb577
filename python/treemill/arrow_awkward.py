"""Arrow columns as awkward and numpy arrays, laid out as uproot lays them out: 64-bit offsets,
option types only where the column may have missing values (an RNTuple's std::optional, a branch's
pointers), fixed-size arrays as regular dimensions, strings as awkward strings, std::tuple (a
struct whose members are called 0, 1, ...) as tuples.

Knows Arrow, awkward and numpy; knows nothing of files.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import cache
from typing import Any

import numpy as np

from .bits import unpacked

__all__ = ["layout_of", "nullable", "numbers", "numpy_array", "numpy_of", "offsets_of", "records"]


def records(names: Sequence[str], columns: Sequence[Any], optional: Collection[str] = ()) -> Any:
    """An awkward array of records from pyarrow.ChunkedArrays of one length. `optional`: names of
    those that may have missing values, which their types do not tell."""
    import awkward as ak

    pairs = zip(names, columns, strict=True)
    contents = [layout_of(column, name in optional) for name, column in pairs]
    length = len(columns[0]) if columns else 0
    return ak.Array(ak.contents.RecordArray(contents, list(names), length=length))


def numpy_array(column: Any) -> Any:
    """A numpy array from a pyarrow.ChunkedArray, as `numpy_of`."""
    return numpy_of(layout_of(column, column.null_count > 0))


def numpy_of(layout: Any) -> Any:
    """A numpy array from an awkward layout: one or more dimensions where every entry has the same
    number of values, else an object array of arrays or strings."""
    import awkward as ak

    array = ak.Array(layout)
    if isinstance(layout, (ak.contents.NumpyArray, ak.contents.RegularArray)):
        return ak.to_numpy(array)
    made = np.empty(len(array), dtype=object)
    for i, entry in enumerate(array):
        made[i] = entry if isinstance(entry, (str, bytes)) else _entry(entry)
    return made


def _entry(entry: Any) -> Any:
    import awkward as ak

    if isinstance(entry, ak.Array) and isinstance(entry.layout, ak.contents.NumpyArray):
        return ak.to_numpy(entry)
    return entry.to_list()


def layout_of(column: Any, is_nullable: bool) -> Any:
    """The awkward layout of a pyarrow.ChunkedArray, an option where it may have missing values."""
    import pyarrow

    single = column.num_chunks == 1
    return nullable(
        column.chunk(0) if single else pyarrow.concat_arrays(column.chunks), is_nullable
    )


def nullable(array: Any, is_nullable: bool) -> Any:
    """The awkward layout of a pyarrow.Array, an option where it may have missing values."""
    if not is_nullable or array.type.id in _unions():
        return content(array)
    import awkward as ak

    valid = array.is_valid().to_numpy(zero_copy_only=False)
    index = np.where(valid, np.cumsum(valid) - 1, -1).astype(np.int64)
    return ak.contents.IndexedOptionArray(ak.index.Index64(index), content(array.drop_null()))


def content(array: Any) -> Any:
    """The awkward layout of a pyarrow.Array without missing values of its own."""
    return _makers().get(array.type.id, _plain)(array)


@cache
def _makers() -> dict[int, Callable[[Any], Any]]:
    """What makes layouts of arrays whose types have these numbers; of all others `_plain`."""
    from pyarrow import lib

    strings = (lib.Type_STRING, lib.Type_LARGE_STRING, lib.Type_BINARY, lib.Type_LARGE_BINARY)
    return {
        **dict.fromkeys(_unions(), _union),
        **dict.fromkeys(strings, _string),
        lib.Type_STRUCT: _record,
        lib.Type_FIXED_SIZE_LIST: _regular,
        lib.Type_LIST: _list,
        lib.Type_LARGE_LIST: _list,
        lib.Type_NA: _nothing,
    }


@cache
def _unions() -> frozenset[int]:
    from pyarrow import lib

    return frozenset((lib.Type_SPARSE_UNION, lib.Type_DENSE_UNION))


def _plain(array: Any) -> Any:
    import awkward as ak

    return ak.contents.NumpyArray(numbers(array))


def _nothing(array: Any) -> Any:
    import awkward as ak

    return ak.contents.NumpyArray(np.full(len(array), np.nan))  # a type for what has none


def _record(array: Any) -> Any:
    import awkward as ak

    kind = array.type
    members = [kind.field(i) for i in range(kind.num_fields)]
    names = [member.name for member in members]
    # No C++ member is called by a number: this is a std::pair or std::tuple. A class without
    # members is an empty tuple, as in uproot.
    is_tuple = names == [str(i) for i in range(len(names))]
    pairs = zip(array.flatten(), members, strict=True)
    parts = [nullable(part, member.nullable) for part, member in pairs]
    return ak.contents.RecordArray(parts, None if is_tuple else names, length=len(array))


def _regular(array: Any) -> Any:
    import awkward as ak

    kind = array.type
    inner = nullable(array.flatten(), kind.value_field.nullable)
    return ak.contents.RegularArray(inner, kind.list_size, zeros_length=len(array))


def _list(array: Any) -> Any:
    import awkward as ak

    offsets, first = offsets_of(array)
    items = array.values
    if first or len(items) != offsets[-1]:
        items = items.slice(first, int(offsets[-1]))
    inner = nullable(items, array.type.value_field.nullable)
    return ak.contents.ListOffsetArray(ak.index.Index64(offsets), inner)


def _union(array: Any) -> Any:
    import awkward as ak

    kind = array.type
    tags = np.asarray(array.type_codes).astype(np.int8)
    index = np.asarray(array.offsets).astype(np.int64)
    # Child 0 stands for no alternative: as in uproot, one value that is missing.
    none = ak.contents.IndexedOptionArray(
        ak.index.Index64(np.full(max(len(array.field(0)), 1), -1, dtype=np.int64)),
        ak.contents.EmptyArray(),
    )
    parts = [none]
    for i in range(1, kind.num_fields):
        part = nullable(array.field(i), kind.field(i).nullable)
        is_plain = not part.is_option and not part.is_union
        parts.append(ak.contents.UnmaskedArray(part) if is_plain else part)
    # Not simplified: alternatives keep their types, also where numbers could be merged.
    return ak.contents.UnionArray(ak.index.Index8(tags), ak.index.Index64(index), parts)


@cache
def _dtypes() -> dict[int, Any]:
    """numpy's types of numbers by the numbers of Arrow's."""
    from pyarrow import lib

    names = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
    made = {getattr(lib, f"Type_{name.upper()}"): np.dtype(name) for name in names}
    floats = {"float16": "HALF_FLOAT", "float32": "FLOAT", "float64": "DOUBLE"}
    return made | {getattr(lib, f"Type_{arrow}"): np.dtype(n) for n, arrow in floats.items()}


def numbers(array: Any) -> Any:
    """The numbers of a pyarrow.Array as a numpy array; bools as such."""
    kind = _dtypes().get(array.type.id)
    if kind is not None:
        raw = array.buffers()[1]
        if raw is None or len(array) == 0:
            return np.zeros(0, dtype=kind)
        # pyarrow's own to_numpy imports pandas where that is installed, which takes a second.
        return np.frombuffer(raw, kind, len(array), array.offset * kind.itemsize)

    import pyarrow.types as types

    if not types.is_boolean(array.type):
        return array.to_numpy()
    if len(array) == 0:
        return np.zeros(0, dtype=np.bool_)
    # All but bools are the same bytes in numpy.
    packed = np.frombuffer(array.buffers()[1], dtype=np.uint8)
    return unpacked(packed, array.offset, len(array))


@cache
def _large() -> frozenset[int]:
    from pyarrow import lib

    return frozenset((lib.Type_LARGE_LIST, lib.Type_LARGE_STRING, lib.Type_LARGE_BINARY))


def offsets_of(array: Any) -> tuple[Any, int]:
    """64-bit offsets that begin with 0, and where that is in the array's items."""
    raw = array.buffers()[1]
    if raw is None or len(array) == 0:
        return np.zeros(1, dtype=np.int64), 0
    stored = np.frombuffer(raw, dtype=np.int64 if array.type.id in _large() else np.int32)
    stored = stored[array.offset : array.offset + len(array) + 1]
    first = int(stored[0])
    offsets = stored.astype(np.int64)
    if first:
        offsets -= first
    return offsets, first


def _string(array: Any) -> Any:
    import awkward as ak

    offsets, first = offsets_of(array)
    raw = array.buffers()[2]
    data = np.zeros(0, np.uint8) if raw is None else np.frombuffer(raw, dtype=np.uint8)
    letters = ak.contents.NumpyArray(
        data[first : first + int(offsets[-1])], parameters={"__array__": "char"}
    )
    return ak.contents.ListOffsetArray(
        ak.index.Index64(offsets), letters, parameters={"__array__": "string"}
    )
