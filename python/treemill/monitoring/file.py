"""The forms of a trace's file, by the ending of its name."""

from __future__ import annotations

import importlib.util
import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, TypeAlias

from .._system.files import whole_file
from ..errors import QueryError, UnsupportedError, local_path, writing
from .recorded import COLUMNS, About, Recorded, Row, of_columns

if TYPE_CHECKING:
    import pyarrow as pa

    from ..writing.branches import BranchValues
    from ..writing.file import RootFile

__all__ = ["ABOUT", "TREE", "check", "write"]

# Writes a trace to a Parquet file, and reads one. Needs pyarrow, which is an extra.

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


def parquet_written(path: str, recorded: Recorded) -> None:
    """Writes the file. What is known of the query as a whole is in the schema's metadata."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = _schema(recorded.about)
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for chunk in recorded.chunks(50_000):
            columns = recorded.columns(chunk.start, chunk.stop)
            writer.write_table(pa.table({name: v for name, _, v in columns}, schema=schema))


def read_parquet(path: str) -> Recorded:
    """Reads a file that `write` has written. Raises ValueError for another one."""
    import pyarrow.parquet as pq

    table = pq.read_table(path)
    about_text = (table.schema.metadata or {}).get(_KEY)
    if about_text is None:
        raise ValueError("it is no trace of a query")
    about = About.of_json(json.loads(about_text))
    return of_columns({name: table[name].to_pylist() for name in table.column_names}, about)


# Writes a trace as the JSON that Perfetto (ui.perfetto.dev) and Chrome (chrome://tracing) show: a
# process for each host, a thread for each worker. Reads it again, from the arguments of its
# events.

Json: TypeAlias = dict[str, Any]


_CATEGORY = "treemill"
_NONE = Row(0.0, "")
_NEAR = "this machine"
_MASTER = 0
"""The thread of what is no worker's."""
_NAMED = ("packet", "packet failed", "file opened", "file failed", "bound", "read")
"""Events that are shown with their file's name."""


def chrome_written(path: str, recorded: Recorded) -> None:
    """Writes the file, an event a line."""
    with open(path, "w", encoding="utf-8") as file:
        file.write('{"displayTimeUnit": "ms",\n"otherData": ')
        json.dump({"treemill": recorded.about.to_json()}, file)
        file.write(',\n"traceEvents": [')
        for number, event in enumerate(_events(recorded)):
            file.write(",\n" if number else "\n")
            json.dump(event, file)
        file.write("\n]}\n")


def _events(recorded: Recorded) -> Iterator[Json]:
    hosts: dict[str, int] = {}
    threads: set[tuple[int, int]] = set()
    for number, row in enumerate(recorded.rows):
        host = row.host or "workers"
        if host not in hosts:
            hosts[host] = len(hosts) + 1
            yield _name("process_name", hosts[host], _MASTER, host)
        process, thread = hosts[host], row.worker + 1
        if (process, thread) not in threads:
            threads.add((process, thread))
            name = f"worker {row.worker}" if row.worker >= 0 else "master"
            yield _name("thread_name", process, thread, name)
        event = _event(row, process, thread)
        if row.event == "read" and event["ph"] == "X" and row.source != _NEAR:
            yield from _beside(event, number)
        else:
            yield event


def _name(what: str, process: int, thread: int, name: str) -> Json:
    return {"ph": "M", "name": what, "pid": process, "tid": thread, "args": {"name": name}}


def _event(row: Row, process: int, thread: int) -> Json:
    values = zip(Row._fields, row, _NONE, strict=True)
    arguments = {name: value for name, value, none in values if value != none}
    name = row.event
    if row.event in _NAMED:
        name = f"{row.event} {PurePosixPath(row.file).name}"
    event = {"name": name, "cat": _CATEGORY, "pid": process, "tid": thread, "args": arguments}
    if row.seconds > 0:
        began = max(row.time - row.seconds, 0.0)
        return event | {"ph": "X", "ts": began * 1e6, "dur": row.seconds * 1e6}
    return event | {"ph": "i", "ts": row.time * 1e6, "s": "t"}


def _beside(event: Json, number: int) -> Iterator[Json]:
    """Reads of servers run in parallel with the worker's other steps, and with one another."""
    end = event["ts"] + event.pop("dur")
    yield event | {"ph": "b", "id": number}
    yield {key: event[key] for key in ("name", "cat", "pid", "tid")} | {
        "ph": "e",
        "id": number,
        "ts": end,
    }


def read_chrome(path: str) -> Recorded:
    """Reads a file that `write` has written. Raises ValueError for another one."""
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    if not isinstance(document, dict) or "treemill" not in document.get("otherData", {}):
        raise ValueError("it is no trace of a query")
    about = About.of_json(document["otherData"]["treemill"])
    events = [
        each["args"]
        for each in document["traceEvents"]
        if each.get("cat") == _CATEGORY and "args" in each
    ]
    columns = {
        name: [each.get(name, none) for each in events]
        for name, none in zip(Row._fields, _NONE, strict=True)
    }
    return of_columns(columns, about)


# Writes a trace to a ROOT file: the TTree `PerfStats`, a row each, and the TTree `PerfAbout`, a
# name and a value each. ROOT, uproot and treemill read them.

TREE = "PerfStats"
ABOUT = "PerfAbout"
_LETTERS = {float: "D", int: "L", str: "C", bool: "O"}


def root_written(path: str, recorded: Recorded) -> None:
    """Writes the file."""
    from ..writing.file import Codec, RootFile  # heavy: numpy

    with closing(RootFile(path, os.path.basename(path), Codec("zlib", 1))) as file:
        _write_trees(file, recorded)


def _write_trees(file: RootFile, recorded: Recorded) -> None:
    from ..writing.branches import OutputBranch  # heavy: numpy
    from ..writing.tree import TreeWriter  # heavy: numpy

    branches = [OutputBranch(name, _LETTERS[kind]) for name, kind in COLUMNS.items()]
    tree = TreeWriter(file, TREE, branches, "events of a query")
    for chunk in recorded.chunks():
        columns = recorded.columns(chunk.start, chunk.stop)
        tree.extend({name: _values(kind, values) for name, kind, values in columns}, len(chunk))
    tree.close()
    about = recorded.about.to_json()
    names = [OutputBranch("name", "C"), OutputBranch("value", "C")]
    facts = TreeWriter(file, ABOUT, names, "the query as a whole")
    values = [json.dumps(value) for value in about.values()]
    facts.extend({"name": _values(str, list(about)), "value": _values(str, values)}, len(about))
    facts.close()


def _values(kind: type, values: Sequence[Any]) -> BranchValues:
    import numpy as np

    from ..writing.branches import BranchValues  # heavy: numpy

    if kind is not str:
        types = {float: np.float64, int: np.int64, bool: np.bool_}
        return BranchValues(np.array(values, types[kind]))
    texts = [value.encode() for value in values]
    offsets = np.cumsum([0, *map(len, texts)], dtype=np.int64)
    return BranchValues(np.frombuffer(b"".join(texts), np.uint8), offsets)


_WRITERS: dict[str, Callable[[str, Recorded], None]] = {
    ".root": root_written,
    ".parquet": parquet_written,
    ".json": chrome_written,
}


def check(path: str | os.PathLike[str]) -> str:
    """The path as a text. Raises QueryError if its ending is none of ours, UnsupportedError if what
    its form needs is not installed, or for an address on a server."""
    path = local_path(path)
    ending = Path(path).suffix
    if ending not in _WRITERS:
        raise QueryError(
            f"trace is the name of a file that ends in {', '.join(_WRITERS)}, not {str(path)!r}"
        )
    if ending == ".parquet" and importlib.util.find_spec("pyarrow") is None:
        raise UnsupportedError("Parquet needs pyarrow: pip install 'treemill[arrow]'")
    return path


def write(path: str, recorded: Recorded) -> None:
    """Writes the file in the form that its ending says. It has its name once it is whole. Raises
    SourceError if it cannot be written."""
    ending = Path(path).suffix
    with writing(path), whole_file(path) as part:
        _WRITERS[ending](part, recorded)
