"""Writes a trace to a Parquet file, and reads one. Needs pyarrow, which is an extra."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from .recorded import COLUMNS, About, Recorded, of_columns

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["read", "write"]

_KEY = b"treemill"


def _schema(about: About | None) -> pa.Schema:
    import pyarrow as pa

    types: dict[type, pa.DataType] = {
        float: pa.float64(),
        int: pa.int64(),
        str: pa.string(),
        bool: pa.bool_(),
    }
    fields = [(name, types[kind]) for name, kind in COLUMNS.items()]
    metadata = None if about is None else {_KEY: json.dumps(about.to_json()).encode()}
    return pa.schema(fields, metadata=metadata)


def write(path: str, recorded: Recorded) -> None:
    """Writes the file. What is known of the query as a whole is in the schema's metadata."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = _schema(recorded.about)
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for chunk in recorded.chunks(50_000):
            columns = recorded.columns(chunk.start, chunk.stop)
            writer.write_table(pa.table({name: v for name, _, v in columns}, schema=schema))


def read(path: str) -> Recorded:
    """Reads a file that `write` has written. Raises ValueError for another one."""
    import pyarrow.parquet as pq

    table = pq.read_table(path)
    about_text = (table.schema.metadata or {}).get(_KEY)
    if about_text is None:
        raise ValueError("it is no trace of a query")
    about = About.of_json(json.loads(about_text))
    return of_columns({name: table[name].to_pylist() for name in table.column_names}, about)
