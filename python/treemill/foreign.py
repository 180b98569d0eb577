"""Columns that a tree does not have itself: from friends, from another reader, or of one constant.

`Foreign` is what provides such columns to queries, arrays and selectors of one file; they join the
tree's own in `Table`. Where there are none, none of this is used. Knows no dataset and no query.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

__all__ = ["Constants", "Foreign", "Joined", "Table", "field", "joined"]

_COUNTER = b"treemill.counter"
_UNLISTED = b"treemill.unlisted"


class Foreign(Protocol):
    """Provides columns for the entries of one file. Used by several threads at once."""

    def schema(self) -> Any:
        """A pyarrow.Schema, one field per column: make them with `field`. Where the tree has a
        branch of that name, the foreign column is used instead. Opens as little as it can."""

    def read(self, name: str, start: int, stop: int) -> Any:
        """The values of the file's entries `[start, stop)`: a pyarrow.Array of `stop - start`
        values of the type that the schema says, or core.Column. Asked for when a query or a
        selector first needs the column, for some 100,000 entries at once. What it raises is what
        the user sees: TreemillErrors, please, that name file and branch."""


def field(
    name: str, dtype: Any, *, nullable: bool, counter: str | None = None, listed: bool = True
) -> Any:
    """A pyarrow.Field of a foreign column.

    `dtype`: a number's, bool's, string's or binary's pyarrow.DataType, or a (large or fixed-size)
    list of numbers; columns of other types can be read but not used in expressions. `nullable`:
    whether values may be missing. `counter`: the column that counts a list's items: lists with
    one counter belong together (`Jet_pt[Jet_eta < 2]`, `Jet.pt`). `listed`: whether it is read
    where all columns are asked for, or only by name.
    """
    import pyarrow

    metadata = {} if counter is None else {_COUNTER: counter.encode()}
    if not listed:
        metadata[_UNLISTED] = b""
    return pyarrow.field(name, dtype, nullable=nullable, metadata=metadata)


class Constants:
    """Columns whose value is the same for all entries."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        """`values`: pyarrow scalars by name; the null of a type makes all values missing."""
        self._values = dict(values)

    def schema(self) -> Any:
        """See Foreign."""
        import pyarrow

        pairs = self._values.items()
        return pyarrow.schema(
            [field(name, value.type, nullable=not value.is_valid) for name, value in pairs]
        )

    def read(self, name: str, start: int, stop: int) -> Any:
        """See Foreign."""
        import pyarrow

        return pyarrow.repeat(self._values[name], stop - start)


class Joined:
    """Several providers as one; of columns of one name the first counts."""

    def __init__(self, parts: Sequence[Foreign]) -> None:
        self._parts = tuple(parts)
        self._known: tuple[Any, dict[str, Foreign]] | None = None

    def schema(self) -> Any:
        """See Foreign."""
        return self._look()[0]

    def read(self, name: str, start: int, stop: int) -> Any:
        """See Foreign."""
        return self._look()[1][name].read(name, start, stop)

    def _look(self) -> tuple[Any, dict[str, Foreign]]:
        import pyarrow

        if self._known is None:
            fields: dict[str, Any] = {}
            owners: dict[str, Foreign] = {}
            for part in self._parts:
                for each in part.schema():
                    if each.name not in fields:
                        fields[each.name], owners[each.name] = each, part
            self._known = pyarrow.schema(list(fields.values())), owners
        return self._known


def joined(parts: Sequence[Foreign | None]) -> Foreign | None:
    """Those that there are as one; None where there are none."""
    found = [part for part in parts if part is not None]
    return None if not found else found[0] if len(found) == 1 else Joined(found)


class Table:
    """A file's tree and foreign columns, to be read as if all were the tree's."""

    def __init__(self, tree: Any, foreign: Foreign) -> None:
        self.tree = tree
        self._foreign = foreign
        self._fields = {each.name: each for each in foreign.schema()}

    def branches(self) -> list[dict[str, Any]]:
        """What can be read, as the tree describes it; the foreign ones last, but for those that
        stand for one of the tree's own."""
        return self._among(self.tree.branches())

    def described(self) -> list[dict[str, Any]]:
        """The same of all that is there."""
        return self._among(self.tree.described())

    def reader_of(self, path: str, cpp_type: str, supported: bool) -> str:
        """Who reads a branch, as FileTree.reader_of."""
        if path in self._fields:
            return "core"
        return str(self.tree.reader_of(path, cpp_type, supported))

    def _among(self, branches: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        found = []
        left = dict(self._fields)
        for branch in branches:
            known = left.pop(branch["name"], None)
            found.append(branch if known is None else _described(known, branch))
        return found + [_described(each, {}) for each in left.values()]

    def read(self, names: Sequence[str], start: int, stop: int, control: Any = None) -> list[Any]:
        """As core.Tree.read."""
        own = [name for name in names if name not in self._fields]
        options = () if control is None else (control,)
        columns = dict(zip(own, self.tree.read(own, start, stop, *options), strict=True))
        return [
            columns[name] if name in columns else self._foreign.read(name, start, stop)
            for name in names
        ]


def _described(column: Any, own: Mapping[str, Any]) -> dict[str, Any]:
    """A foreign column as core.Tree describes its branches; `own`: the branch that it stands
    for."""
    kind, numbers, item, length = _kind(column.type)
    metadata = column.metadata or {}
    counter = metadata.get(_COUNTER)
    return {
        "name": column.name,
        "path": column.name,
        "title": own.get("title", ""),
        "cpp_type": own.get("cpp_type", str(column.type)),
        "supported": True,
        "reason": None,
        "kind": "optional" if column.nullable else kind,
        "dtype": numbers,
        "item": item,
        "len": length,
        "counter": own.get("counter") if counter is None else counter.decode(),
        "is_member": _UNLISTED in metadata,
        "total_bytes": own.get("total_bytes", 0),
        "zip_bytes": own.get("zip_bytes", 0),
        "baskets": own.get("baskets", 0),
    }


def _kind(kind: Any) -> tuple[str, str | None, str | None, int | None]:
    """Of an Arrow type: what it is; of what numbers, or else of what items in words; how many."""
    import pyarrow.types as types

    if types.is_struct(kind):
        return "record", None, None, None
    is_array = types.is_fixed_size_list(kind)
    if not (is_array or types.is_list(kind) or types.is_large_list(kind)):
        dtype = _dtype(kind)
        return ("string" if dtype is None else "number"), dtype, None, None
    dtype = _dtype(kind.value_type)
    item = None
    if dtype is None:
        inner, numbers, items, length = _kind(kind.value_type)
        item = in_words(inner, items or numbers, length)
    return ("array", dtype, item, kind.list_size) if is_array else ("list", dtype, item, None)


def in_words(kind: str, item: str | None, length: int | None) -> str:
    """`float32`, `list[float32]`, `float32[3]`, `string` …"""
    item = item or "?"
    forms = {"number": item, "list": f"list[{item}]", "array": f"{item}[{length}]"}
    return forms.get(kind, kind)


def _dtype(kind: Any) -> str | None:
    import pyarrow.types as types

    is_number = types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)
    return str(kind.to_pandas_dtype().__name__) if is_number else None


def packed_schema(schema: Any) -> bytes:
    """The schema in Arrow's IPC format, for the core."""
    data: bytes = schema.serialize().to_pybytes()
    return data


def packed(array: Any) -> bytes:
    """An array of any kind that pyarrow takes, as one batch in Arrow's IPC format, for the core."""
    import pyarrow

    if isinstance(array, pyarrow.ChunkedArray):
        array = array.combine_chunks()
    batch = pyarrow.record_batch([pyarrow.array(array)], names=["column"])
    sink = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_stream(sink, batch.schema) as stream:
        stream.write_batch(batch)
    data: bytes = sink.getvalue().to_pybytes()
    return data
