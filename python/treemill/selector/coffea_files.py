"""What coffea reads of a file by itself: chunks of schemas that go by uproot's names of branches,
the file as uproot has it, the file's UUID.

Knows files by their paths only. With coffea.py the only one that imports coffea.
"""

from __future__ import annotations

import copy
import struct
import uuid
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import awkward as ak
from coffea.nanoevents import NanoEventsFactory
from coffea.nanoevents.mapping.uproot import TrivialUprootOpener
from coffea.nanoevents.util import key_to_tuple, tuple_to_key

from ..errors import TreemillError, UnsupportedError

__all__ = ["OwnReader", "Schema", "handle", "uuid_of"]

_SMALL, _BIG = struct.Struct(">4s4x39x16s"), struct.Struct(">4s4x51x16s")
_BIG_VERSIONS = 1_000_000
"""Versions of files from here on have places of 64 bits in their headers."""


class Schema:
    """What coffea's class has made of a tree: a form, and the behaviors of its records."""

    def __init__(self, form: Any, behavior: Mapping[Any, Any]) -> None:
        self.form = form
        self._behavior = behavior

    def behavior(self) -> Mapping[Any, Any]:
        """As coffea's classes have it."""
        return self._behavior

    def of(self, metadata: dict[str, Any]) -> Schema:
        """The same with a chunk's metadata, which coffea keeps in the form."""
        form = self.form
        parameters = {**form.parameters, "metadata": metadata}
        made = ak.forms.RecordForm(form.contents, form.fields, parameters=parameters, form_key="")
        return Schema(made, self._behavior)


class OwnReader:
    """Makes the chunks of one tree as coffea's runner does; a chunk.ChunkReader otherwise. Columns
    that are not in the tree are not seen."""

    def __init__(self, tree: Any, schema: Any) -> None:
        if not hasattr(tree, "path_in_file"):
            raise UnsupportedError(
                f"with {schema.__name__} coffea reads the file by itself, without the columns of "
                "friends and arrays beside it"
            )
        self._tree = tree
        self._schema = schema
        self._opened: tuple[Any, Schema] | None = None

    def refuse(self, columns: Mapping[str, TreemillError]) -> None:
        """Columns that a query has defined anew: coffea would show the file's."""
        for name in columns:
            raise UnsupportedError(
                f"with {self._schema.__name__} coffea reads the file by itself, and {name} as it "
                "is there: give what is defined a name of its own"
            )

    def chunk(
        self,
        start: int,
        stop: int,
        metadata: dict[str, Any],
        control: Any = None,
        kept: Any = None,
        ahead: int = 0,
    ) -> Any:
        """See chunk.ChunkReader; coffea reads when a field is touched."""
        if self._opened is None:
            whole = NanoEventsFactory.from_root(
                handle(self._tree.path),
                treepath=self._tree.path_in_file,
                schemaclass=self._schema,
                mode="virtual",
            )
            form = ak.forms.from_dict(whole._schema.form)
            self._opened = whole, Schema(form, whole._schema.behavior())
        whole, schema = self._opened
        columns = copy.copy(whole._mapping)
        columns._start, columns._stop = start, stop
        file, tree, _ = key_to_tuple(whole._partition_key)
        key = tuple_to_key((file, tree, f"{start}-{stop}"))
        described = schema.of({**metadata, "fileuuid": uuid_of(self._tree.path)})
        events = NanoEventsFactory(described, columns, key, mode="virtual").events()
        return events if kept is None else events[kept]


@lru_cache(maxsize=64)
def uuid_of(path: str) -> str:
    """A file's UUID, of its header; empty where that is none of ROOT's."""
    with open(path, "rb") as file:
        header = file.read(_BIG.size)
    if len(header) < _BIG.size or header[:4] != b"root":
        return ""
    big = int.from_bytes(header[4:8], "big") >= _BIG_VERSIONS
    return str(uuid.UUID(bytes=(_BIG if big else _SMALL).unpack_from(header)[1]))


def handle(path: str) -> Any:
    """The file as uproot has it, which coffea's processors find with their events."""
    found = uuid_of(path)
    return TrivialUprootOpener({found: path}).open_uuid(found)
