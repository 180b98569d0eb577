"""Constants of files, as columns for queries: numbers, bools and strings of a sample's metadata,
and what users' functions give for each file (`define_per_file`).

Knows files by their addresses and metadata; opens none.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from ..errors import QueryError, TreemillError, WorkerError
from ..frozen import frozen, replaced
from .foreign import Field, Foreign, joined
from .location import Location

if TYPE_CHECKING:
    from .._core import Column

__all__ = ["Constant", "DataFile", "FileConstants", "OfFile", "PerFile", "with_constants"]

Constant = bool | int | float | str


@frozen
class DataFile:
    """A file of a sample, as functions of `define_per_file` and `Selector.begin_file` get it."""

    path: str
    """Its address, as the sample has it."""
    tree: str | None
    """The name of its tree; None if the sample does not name it."""
    dataset: str
    """The name of the sample that it belongs to."""
    metadata: Mapping[str, object] = field(default_factory=dict)
    """The sample's metadata."""


OfFile: TypeAlias = Callable[[DataFile], Constant]
"""What users give to `define_per_file`."""
PerFile = tuple[str, Callable[[DataFile], object]]
"""A column's name, and the function that gives its value in a file."""


class FileConstants:
    """The constants of a chain's files. Thread-safe."""

    def __init__(
        self,
        locations: Sequence[Location],
        name: str,
        metadata: Mapping[str, object],
        functions: Sequence[PerFile],
    ) -> None:
        """`name` and `metadata` of the chain, which hold for files that have none of their own."""
        self._locations = locations
        self._name = name
        self._metadata = dict(metadata)
        self._functions = dict(functions)
        own = [each.metadata for each in locations if each.metadata]
        self.are_there = bool(functions or metadata or own)
        """Whether any file may have one."""
        self._values: dict[tuple[int, str], Constant] = {}
        self._lock = threading.Lock()

    def file(self, number: int) -> DataFile:
        """A file, as users' functions get it."""
        location = self._locations[number]
        own = {**self._metadata, **(location.metadata or {})}
        dataset = str(own.pop("dataset", self._name))
        return DataFile(location.path, location.tree, dataset, own)

    @cached_property
    def all_names(self) -> frozenset[str]:
        """The names of the constants of all files."""
        metadata = {id(each.metadata): each.metadata for each in self._locations if each.metadata}
        known = [self._metadata, *metadata.values()]
        plain = (n for each in known for n, value in each.items() if _plain(value) is not None)
        return frozenset((*plain, *self._functions))

    @cached_property
    def datasets(self) -> dict[str, dict[str, object]]:
        """The names of the samples that the files belong to, in order, with their metadata."""
        files: dict[int, DataFile] = {}
        for number, location in enumerate(self._locations):
            # The files of a sample share their metadata.
            if id(location.metadata) not in files:
                files[id(location.metadata)] = self.file(number)
        return {file.dataset: dict(file.metadata) for file in files.values()}

    def names(self, number: int) -> Collection[str]:
        """The names of the constants of a file."""
        known = {**self._metadata, **(self._locations[number].metadata or {})}
        return {*(n for n, value in known.items() if _plain(value) is not None), *self._functions}

    def value(self, number: int, name: str) -> Constant:
        """A constant of a file. A function is called once a file. Raises WorkerError if it fails,
        QueryError if it gives no constant."""
        with self._lock:
            known = self._values.get((number, name))
        if known is None:
            known = self._make(number, name)
            with self._lock:
                known = self._values.setdefault((number, name), known)
        return known

    def _make(self, number: int, name: str) -> Constant:
        file = self.file(number)
        function = self._functions.get(name)
        if function is None:
            value: object = {"dataset": file.dataset, **file.metadata}[name]
        else:
            try:
                value = function(file)
            except TreemillError:
                raise
            except Exception as error:
                message = f"the function of {name} raised {type(error).__name__}: {error}"
                raise WorkerError(message, file=file.path) from error
        plain = _plain(value)
        if plain is None:
            raise QueryError(
                f"the function of {name} returned {value!r:.60}; a constant of a file is a number "
                "of 64 bits, a bool or a string",
                file=file.path,
            )
        return plain

    def given_here(self) -> dict[tuple[int, str], Constant]:
        """What functions have given for files, by the files' numbers and their names."""
        with self._lock:
            return {at: value for at, value in self._values.items() if at[1] in self._functions}

    def know(self, given: Mapping[tuple[int, str], Constant]) -> None:
        """Takes what functions have given in another process."""
        with self._lock:
            self._values.update(given)

    def among(self, number: int, words: Collection[str]) -> dict[str, Constant]:
        """The constants of a file that are among these words, by name, in order. Raises as
        `value`."""
        wanted = sorted(set(words).intersection(self.names(number)))
        return {name: self.value(number, name) for name in wanted}

    def complete(self, number: int) -> DataFile:
        """A file, with what the functions give among its metadata."""
        file = self.file(number)
        return replaced(file, metadata={**file.metadata, **self.given(number)})

    def given(self, number: int) -> dict[str, Constant]:
        """Returns what the functions give for a file, by name."""
        return {name: self.value(number, name) for name in self._functions}

    def hint(self, number: int, name: str) -> str:
        """Returns what to add to the message that this file has no such column; empty if the name
        is no constant of another file either."""
        file = self.file(number)
        if name in file.metadata:
            kind = type(file.metadata[name]).__name__
            return (
                f". The metadata of {file.dataset!r} has it, but it is a {kind}: columns are made "
                "of numbers of 64 bits, bools and strings"
            )
        if not any(name in (each.metadata or {}) for each in self._locations):
            return ""
        dataset = file.dataset
        return (
            f". It is in the metadata of other samples, and {dataset!r} lacks it: add it there, "
            f"or give a default, missing={{{name!r}: …}}"
        )


def with_constants(
    foreign: Foreign | None,
    words: Collection[str],
    columns: Collection[str],
    constants: FileConstants,
    number: int,
) -> Foreign | None:
    """`foreign` with those constants of the file that a query with these words needs. Raises
    QueryError if a column of the file has the same name."""
    for name in sorted(set(words).intersection(constants.names(number))):
        if name in columns:
            file = constants.file(number)
            advice = "give the constant a name of its own in the metadata, or in define_per_file(…)"
            if name == "dataset":
                advice = "read the files without a fileset, or write skims without this column"
            raise QueryError(
                f"{name} is a branch, and a constant of the sample {file.dataset!r} as well: "
                f"{advice}",
                file=file.path,
            )
    values = constants.among(number, words)
    return joined([foreign, _ConstantColumns(values)]) if values else foreign


class _ConstantColumns:
    """The same value for all entries. Implements foreign.Foreign."""

    def __init__(self, values: Mapping[str, Constant]) -> None:
        self._values = values

    def schema(self) -> Sequence[Field]:
        return [
            Field(name, _column(value, 0), listed=False) for name, value in self._values.items()
        ]

    def read(self, name: str, start: int, stop: int) -> object:
        return _column(self._values[name], stop - start)


def _column(value: Constant, length: int) -> Column:
    import numpy as np

    from .columns import column_of, picked  # heavy: numpy

    if not isinstance(value, str):
        return column_of(np.full(length, value))
    import awkward as ak

    return picked(column_of(ak.Array([value])), np.zeros(length, np.int64))


def _plain(value: object) -> Constant | None:
    """A constant as Python's own; None for what is none."""
    plain: object = (
        value.item() if hasattr(value, "item") and not getattr(value, "ndim", 0) else value
    )
    if isinstance(plain, bool | float | str):
        return plain
    return plain if isinstance(plain, int) and -(1 << 63) <= plain < 1 << 64 else None
