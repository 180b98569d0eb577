"""The files that bookings make: checks what can be written, makes the folders for parts, and makes
the files when the pass has ended. Knows bookings and their rows; knows no session and no worker.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, cast

from ..data.entry_ranges import starts
from ..data.reader import read
from ..data.rows import CollectedRows, RowColumn, RowTypes, Sink
from ..errors import QueryError, SourceError, UnsupportedError, warn, writing
from ..frozen import replaced
from ..query.node import Booking
from ..query.planning import Plan
from ..query.rows import Rows, Snapshot, SnapshotFile, SnapshotTarget, branch_name, titles_of
from ..results.by_dataset import ByDataset
from ..results.parts import claim, client_here, hidden_folder, remove

if TYPE_CHECKING:
    from ..data.chain import Chain
    from ..data.columns import Table
    from ..data.kinds import Kinds
    from ..data.rows import VariedRows

__all__ = ["BookedFiles", "check_paths"]

# Other trees of a dataset's files, such as NanoAOD's Runs, as snapshots copy them: all entries of
# all files, all columns that can be read. Knows chains; knows no query.

_STEP_BYTES = 32 << 20


class CopiedTree:
    """Implements results.snapshot.Copied."""

    def __init__(self, chain: Chain, name: str, kind: str, *, is_read: bool = False) -> None:
        """`kind`: that of the file that it is copied to. `is_read`: whether it is copied now, for
        which all files are looked at; the first one tells before the pass whether it can be."""
        self.name = name
        self._trees = chain.sibling(list(chain.files), name)
        kinds = read(self._trees, None, 0, 0).to_table().kinds
        self._stored = {branch_name(column, kind): column for column in kinds}
        if len(self._stored) < len(kinds):
            raise UnsupportedError(
                f"copy_trees= cannot copy {name}, in which the names of two branches differ by "
                "dimensions or dots only: leave it out"
            )
        first = {own: kinds[column] for own, column in self._stored.items()}
        instead = f"leave {name} out of copy_trees=, or write it by a snapshot of its own"
        self._types = RowTypes(self._files(first) if is_read else (_types(first),), instead)
        self.kinds = self._types.kinds
        self.is_reshuffled = self._trees.is_reshuffled()
        branches = self._trees.branches
        self.titles = titles_of(branches, self._stored)
        self.counters: dict[str, str] = {}
        for own, column in self._stored.items():
            counter = branches[column].counter if column in branches else None
            if counter is not None and counter in self._stored:
                self.counters[own] = counter

    def _files(self, first: Kinds) -> tuple[tuple[RowColumn, ...], ...]:
        """The types in each file with entries, which may store a column differently."""
        each = [
            _types(read(self._trees, self._stored, start, start + 1).to_table().kinds, first)
            for start, end in pairwise(starts(self._trees.entries))
            if start < end
        ]
        return tuple(dict.fromkeys(each)) or (_types(first),)

    def tables(self) -> Iterator[Table]:
        """Yields all entries, in tables of some MB."""
        trees = self._trees
        for file, (first, end) in enumerate(pairwise(starts(trees.entries))):
            each = sum(trees.bytes[file].values()) // max(end - first, 1)
            step = max(_STEP_BYTES // max(each, 1), 1)
            for start in range(first, end, step):
                found = read(trees, self._stored, start, min(start + step, end))
                yield self._types.uniform(found.to_table())


def _types(kinds: Kinds, also: Kinds | None = None) -> tuple[RowColumn, ...]:
    """`also`: kinds in which values may be missing, too."""
    return tuple(
        RowColumn(own, kind.given(), kind.optional or (also or kinds)[own].optional, None)
        for own, kind in kinds.items()
    )


def copied(chain: Chain, names: Sequence[str], kind: str, *, is_read: bool) -> list[CopiedTree]:
    """The dataset's other trees of these names, for a file of this kind. Raises QueryError if a
    file has none."""
    return [CopiedTree(chain, name, kind, is_read=is_read) for name in names]


class BookedFiles:
    """The files of one query's bookings. False if there are none."""

    def __init__(self, bookings: Sequence[Booking], chain: Chain, is_whole: bool) -> None:
        """`is_whole`: whether the query goes through all of the chain or fails."""
        self._bookings = bookings
        self._chain = chain
        self._is_whole = is_whole
        self._targets = {
            place: booking.wanted.target
            for place, booking in enumerate(bookings)
            if isinstance(booking.wanted, Snapshot)
        }
        self._several: dict[int, dict[str, SnapshotTarget]] = {}
        self._folders: dict[int, str] = {}
        client = client_here() if self._targets else None
        for place, target in self._targets.items():
            if chain.is_fileset:
                self._several[place] = by_dataset(target, chain)
            self._folders[place] = hidden_folder(target.path, client)
        self.fitting: dict[int, Snapshot] = {}
        """The bookings that leave columns out which their files cannot hold, by number."""
        self._indices: dict[int, int] = {}
        self._empty: Sequence[object] = ()
        """The results of a sample without entries."""

    def __bool__(self) -> bool:
        return bool(self._targets)

    def sinks(self, plan: Plan) -> dict[int, Sink]:
        """The sinks of rows, by the index of their results."""
        if not plan.rows:
            return {}
        for place in self._targets:
            (self._indices[place],) = plan.slots[self._bookings[place].number]["nominal"]
        folders = {self._indices[place]: folder for place, folder in self._folders.items()}
        return {
            index: Sink(rows.limit, folders.get(index), self._joined(plan, index), _uncounted(rows))
            for index, rows in plan.rows.items()
        }

    @staticmethod
    def _joined(plan: Plan, index: int) -> VariedRows | None:
        """Returns how rows of variations are joined with those of the nominal result."""
        joined = plan.joined.get(index)
        if joined is None:
            return None
        from ..data.rows import VariedRows  # heavy: numpy

        names, results, changed = zip(*joined.variations, strict=True)
        return VariedRows(results, names, changed, joined.tree)

    def leave_out(self, empty: Sequence[object]) -> bool:
        """Leaves out of `fitting` the columns that patterns and names of collections stand for and
        files of their kind cannot hold, with a warning that names them. Returns True if there are
        such: then the query is planned again. `empty`: the results of no entries."""
        from ..results.snapshot import unfit_columns  # heavy: numpy

        is_anew = False
        for place, target in self._targets.items():
            booking = self._bookings[place]
            wanted = self.fitting.get(booking.number, booking.wanted)
            assert isinstance(wanted, Snapshot)
            why = unfit_columns(
                self._rows(_of_one(empty) if self._several else empty, place), target
            )
            out = [name for name, expr in wanted.columns if expr.found and name in why]
            if 0 < len(out) < len(wanted.columns):
                named = ", ".join(f"{name} ({why[name]})" for name in out)
                warn(
                    f"{wanted.title} leaves out what a TTree cannot hold and .parquet can: {named}"
                )
                kept = tuple(each for each in wanted.columns if each[0] not in out)
                self.fitting[booking.number] = replace(wanted, columns=kept)
                is_anew = True
        return is_anew

    def begin(self, empty: Sequence[object]) -> None:
        """Makes the folders of parts, before anything is read. Raises what makes a file impossible.
        `empty`: the results of no entries."""
        from ..results.snapshot import check  # heavy: numpy

        if self._several:
            self._empty = _of_one(empty)
            empty = self._empty
        for place, target in self._targets.items():
            check(self._rows(empty, place), target, self._copied(target))
        for place, folder in self._folders.items():
            try:
                with writing(self._targets[place].path):
                    claim(folder)
            except SourceError:
                self.drop()
                raise

    def made(self, values: Sequence[object], raw: Sequence[object]) -> tuple[object, ...]:
        """Makes the files. Returns the values, with the files in place of those that have none."""
        if not self._targets:
            return tuple(values)
        from ..results.snapshot import write  # heavy: numpy

        results = list(values)
        for place, target in self._targets.items():
            folder = self._folders[place]
            try:
                if place in self._several:
                    results[place] = self._written(place, raw, folder)
                else:
                    rows = self._rows(raw, place)
                    marked = replaced(target, is_reshuffled=self._chain.is_reshuffled())
                    results[place] = write(rows, marked, folder, self._copied(target, is_read=True))
            finally:
                remove(folder)
        return tuple(results)

    def _written(self, place: int, raw: Sequence[object], folder: str) -> ByDataset[SnapshotFile]:
        """A file for each sample of a fileset."""
        from ..results.snapshot import write  # heavy: numpy

        (of,) = cast(Sequence[Mapping[str, Sequence[object]]], raw)
        files = {}
        for name, target in self._several[place].items():
            marked = replaced(target, is_reshuffled=self._chain.is_reshuffled(name))
            files[name] = write(self._rows(of.get(name, self._empty), place), marked, folder)
        return ByDataset(files, self._chain.datasets)

    def _rows(self, results: Sequence[object], place: int) -> CollectedRows:
        rows = results[self._indices[place]]
        assert isinstance(rows, CollectedRows)
        return rows

    def _copied(self, target: SnapshotTarget, *, is_read: bool = False) -> list[CopiedTree]:
        if target.copied and not self._is_whole:
            raise QueryError(
                "copy_trees= is for snapshots of whole datasets, because their other trees are "
                'copied whole: leave out entries=, max_files= and on_error="skip"'
            )
        return copied(self._chain, target.copied, target.kind, is_read=is_read)

    def drop(self) -> None:
        """Removes the parts of files that will not be completed."""
        for folder in self._folders.values():
            remove(folder)


def check_paths(bookings: Iterable[Booking]) -> None:
    """Raises QueryError if two snapshots would write the same file."""
    taken: set[str] = set()
    for booking in bookings:
        assert isinstance(booking.wanted, Snapshot)
        target, chain = booking.wanted.target, booking.node.origin.chain
        targets = by_dataset(target, chain).values() if chain.is_fileset else [target]
        for each in targets:
            if each.path in taken:
                raise QueryError(
                    f"two snapshots would write {each.path}, and one would replace the other: give "
                    "one of them another path"
                )
            taken.add(each.path)


def by_dataset(target: SnapshotTarget, chain: Chain) -> dict[str, SnapshotTarget]:
    """The files of a fileset's samples. Raises QueryError if they have no names of their own."""
    folder, name = os.path.split(target.path)
    if "{dataset}" not in name:
        raise QueryError(
            "a snapshot of a fileset writes a file for each sample: put {dataset} into its name, "
            'as in snapshot("skim_{dataset}.root")'
        )
    if target.copied:
        raise UnsupportedError(
            "copy_trees= is not supported in a snapshot of a fileset: write the samples by "
            "themselves, fs[name].snapshot(…)"
        )
    targets = {}
    for dataset in chain.datasets:
        path = os.path.join(folder, name.replace("{dataset}", dataset))
        if os.path.dirname(path) != folder:
            raise QueryError(
                f"a file cannot be named after the sample {dataset!r}: rename it in the "
                "fileset, or write each by itself, fs[name].snapshot(…)"
            )
        if chain.has_file(path):
            raise QueryError(f"the snapshot would replace {path}, which the fileset reads")
        targets[dataset] = replaced(target, path=path)
    return targets


def _of_one(results: Sequence[object]) -> Sequence[object]:
    """The results of one of a fileset's samples."""
    (of,) = cast(Sequence[Mapping[str, Sequence[object]]], results)
    return next(iter(of.values()))


def _uncounted(rows: Rows) -> frozenset[str]:
    return rows.target.uncounted if isinstance(rows, Snapshot) else frozenset()
