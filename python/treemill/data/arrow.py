"""Arrow: columns as arrays and tables of pyarrow, columns made of Arrow arrays of any library, and
the bools that it packs into bits.
pyarrow is an extra: this module says so if it is missing.

Knows columns and their kinds; knows no file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from .._core import Column
from ..errors import MissingPackageError
from .kinds import Kind, Kinds

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

__all__ = ["chunked", "column_from", "needed", "record", "schema", "table", "unpacked"]


def needed(what: str) -> ModuleType:
    """Import pyarrow. Raises MissingPackageError if it is not installed. `what`: what needs it."""
    try:
        import pyarrow
    except ImportError:
        raise MissingPackageError(f"{what}: pip install 'treemill[arrow]'") from None
    module: ModuleType = pyarrow
    return module


def column_from(array: object) -> Column:
    """A column of an Arrow array of any library."""
    pyarrow = needed("an Arrow array needs pyarrow to be read")
    if not isinstance(array, pyarrow.Array):
        if hasattr(array, "__arrow_c_array__"):
            array = pyarrow.array(array)
        else:
            array = pyarrow.chunked_array(array).combine_chunks()
    batch = pyarrow.record_batch([array], names=["column"])
    sink = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_stream(sink, batch.schema) as stream:
        stream.write_batch(batch)
    return Column.loads(sink.getvalue().to_pybytes())


def chunked(columns: Sequence[Column]) -> pa.ChunkedArray:
    """An Arrow array with one chunk for each column."""
    pyarrow = needed("Arrow arrays need pyarrow")
    return pyarrow.chunked_array([pyarrow.array(column) for column in columns])


def record(names: Sequence[str], members: Sequence[pa.ChunkedArray]) -> pa.ChunkedArray:
    """An Arrow array of records with these members, whose chunks have the same lengths."""
    pyarrow = needed("Arrow arrays need pyarrow")
    fields = [
        pyarrow.field(name, member.type, nullable=member.null_count > 0)
        for name, member in zip(names, members, strict=True)
    ]
    return pyarrow.chunked_array(
        [
            pyarrow.StructArray.from_arrays([m.chunk(i) for m in members], fields=fields)
            for i in range(members[0].num_chunks)
        ]
    )


def table(columns: Mapping[str, pa.ChunkedArray]) -> pa.Table:
    """An Arrow table of these columns."""
    pyarrow = needed("Arrow tables need pyarrow")
    return pyarrow.table(list(columns.values()), names=list(columns))


def schema(kinds: Kinds) -> pa.Schema:
    """The Arrow schema of columns of these kinds, with strings as text."""
    pyarrow = needed("Parquet and Feather files need pyarrow")
    return pyarrow.schema([_field(pyarrow, name, kind) for name, kind in kinds.items()])


def _field(pyarrow: ModuleType, name: str, kind: Kind) -> pa.Field:
    return pyarrow.field(name, _type(pyarrow, kind), kind.optional)


def _type(pyarrow: ModuleType, kind: Kind) -> pa.DataType:
    if kind.form == "number":
        return pyarrow.type_for_alias(kind.dtype)
    if kind.form == "list":
        return pyarrow.large_list(_field(pyarrow, "item", kind.item))
    if kind.form == "array":
        return pyarrow.list_(_field(pyarrow, "item", kind.item), kind.size)
    if kind.form == "record":
        pairs = zip(kind.names, kind.parts, strict=True)
        return pyarrow.struct([_field(pyarrow, name, part) for name, part in pairs])
    return pyarrow.large_string() if kind.form == "string" else pyarrow.null()


def unpacked(packed: NDArray[np.uint8], first: int, length: int) -> NDArray[np.bool_]:
    """Unpack `length` bools from `packed` bytes, beginning with the bit `first`. The lowest bit of
    a byte is the first."""
    start, skipped = divmod(first, 8)
    bits = np.unpackbits(packed[start:], count=skipped + length, bitorder="little")
    return bits[skipped:].view(np.bool_)
