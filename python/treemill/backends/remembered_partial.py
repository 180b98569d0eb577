"""The merged partial of a pass whose results are remembered: what is remembered already, and the
partials of the files that are run. Each of these is kept when all entries of its file are merged.

Knows no worker and no packetizer, nor what the keys are of.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from treemill import _core

from ..checkpoint.totals import Gathered, Node, Remembered, gathered
from ..scheduling import FileSize, Range, Ranges, joined
from ..workers.query_task import PartialByPart
from ..workers.workload import Partial
from .merged_partial import MergedPartial

if TYPE_CHECKING:
    from ..checkpoint.results import Results

__all__ = ["Remembering", "Sample"]

Rows = Sequence[Sequence[bytes]]


def added(rows: Rows) -> list[bytes]:
    """Adds partials of single bookings up: see totals.Added."""
    total = _core.Partial.joined(rows[0])
    for row in rows[1:]:
        total.merge(_core.Partial.joined(row))
    return total.dumps_each()


@dataclass
class Sample:
    """Some bookings of some files, whose totals are of one tree."""

    name: str | None
    """The sample of a fileset; None: all files are of one."""
    files: Sequence[int]
    """The numbers of the files, in the order of the tree's leaves."""
    tree: Node
    leaves: Mapping[int, bytes]
    """The keys of those files that can be remembered, by their numbers."""
    bookings: Mapping[int, bytes]
    """The keys of the bookings that can be remembered, by their indices."""
    found: Gathered = field(default_factory=Gathered)

    def look(self, there: Remembered) -> None:
        """Looks for what is remembered."""
        wanted = list(dict.fromkeys(self.bookings.values()))
        self.found = gathered(self.tree, wanted, there, added)


@dataclass
class Remembering:
    """What a pass does not compute, and what it keeps."""

    there: Results
    samples: Sequence[Sample]
    is_fileset: bool
    nothing: Sequence[bytes]
    """The partials of no entries, one for each booking of the specification."""
    lacking: Mapping[int, tuple[int, ...]]
    """The indices of the bookings that are computed of a file, by its number."""
    done: Mapping[int, int]
    """The entries of the files of which nothing is computed."""
    may_keep: Callable[[int], bool]
    """Whether a file is still what it was when the pass began, and all that was read is in it."""

    @property
    def processed(self) -> dict[int, list[Range]]:
        """The entries that are not run."""
        return {file: [(0, n)] if n else [] for file, n in self.done.items()}

    def with_sizes(self, sizes: Sequence[FileSize | None]) -> list[FileSize | None]:
        """The files' sizes, with those of files that are not run."""
        return [
            FileSize(self.done[file]) if file in self.done else size
            for file, size in enumerate(sizes)
        ]

    def merged(self, load: object) -> MergedPartial:
        """The merged partial to begin with."""
        return RememberedPartial(self)

    def writer(
        self, merged: MergedPartial, sizes: Callable[[], Mapping[int, int]]
    ) -> RememberedPartial:
        """What lets `merged` keep its files, as a CheckpointWriter does. `sizes`: asks for the
        entries of the files that are known."""
        assert isinstance(merged, RememberedPartial)
        merged.sizes = sizes
        return merged


class _Total:
    """All that is remembered and merged. Implements Partial."""

    def __init__(self, of: Remembering) -> None:
        self._of = of
        self._running: dict[tuple[str | None, tuple[int, ...]], _core.Partial] = {}
        """The sums of the files all of which is merged, by their sample and what is computed."""
        self._open: dict[int, _core.Partial] = {}
        """The files of which not all is merged."""
        self.kept: dict[int, int] = {}
        """The entries of the files all of which is merged."""
        self._samples = {file: sample.name for sample in of.samples for file in sample.files}

    def merge(self, other: PartialByPart) -> None:
        """See Partial."""
        for part, partial in other.parts.items():
            assert isinstance(part, int)
            assert isinstance(partial, _core.Partial)
            if part in self._open:
                self._open[part].merge(partial)
            else:
                self._open[part] = partial

    def _group(self, file: int) -> tuple[str | None, tuple[int, ...]]:
        return self._samples[file], self._of.lacking[file]

    def keep(self, file: int, entries: int) -> None:
        """Keeps what is computed of a file, all of which is merged. Two commits may each have seen
        that it is: it is kept once."""
        of, indices = self._of, self._of.lacking[file]
        partial = self._open.pop(file, None)
        if file in self.kept or (partial is None and entries):
            return
        self.kept[file] = entries
        if of.may_keep(file):
            values = (
                [of.nothing[index] for index in indices]
                if partial is None
                else partial.dumps_each()
            )
            kept = dict(zip(indices, values, strict=True))
            for sample in of.samples:
                if file in sample.leaves:
                    mine = {k: kept[index] for index, k in sample.bookings.items() if index in kept}
                    of.there.add(sample.leaves[file], [entries], mine)
        if partial is not None:
            group = self._group(file)
            if group in self._running:
                self._running[group].merge(partial)
            else:
                self._running[group] = partial

    def results(self) -> list[object]:
        """See Partial."""
        of = self._of
        by_name: dict[str | None, list[list[bytes]]] = {}
        for sample in of.samples:
            rows = by_name.setdefault(sample.name, [[] for _ in of.nothing])
            found = sample.found
            for index, key in sample.bookings.items():
                if key in found.complete:
                    rows[index] = [found.complete[key]]
                else:
                    rows[index] = [piece[key] for piece in found.pieces if key in piece]
        self._add_running(by_name)
        results = {name: self._joined(rows) for name, rows in by_name.items()}
        return [results] if of.is_fileset else results[None]

    def _add_running(self, by_name: dict[str | None, list[list[bytes]]]) -> None:
        keys: dict[str | None, dict[int, tuple[bytes, Gathered]]] = defaultdict(dict)
        for sample in self._of.samples:
            for index, key in sample.bookings.items():
                keys[sample.name][index] = key, sample.found
        begun = [(self._group(file), partial) for file, partial in self._open.items()]
        for (name, indices), partial in [*self._running.items(), *begun]:
            values = dict(zip(indices, partial.dumps_each(), strict=True))
            by_key = {keys[name][i][0]: value for i, value in values.items() if i in keys[name]}
            for index, row in enumerate(by_name[name]):
                key, found = keys[name].get(index, (b"", None))
                if found is not None and key in found.complete:
                    continue
                if index in values:
                    row.append(values[index])
                elif key in by_key:  # two bookings are the same
                    row.append(by_key[key])

    def _joined(self, rows: list[list[bytes]]) -> list[object]:
        """The results of all bookings, each of which has a row of values to be added up."""
        by_length: dict[int, list[int]] = defaultdict(list)
        for index, row in enumerate(rows):
            by_length[len(row)].append(index)
        values = list(self._of.nothing)
        for length, indices in by_length.items():
            if length:
                columns = [[rows[index][at] for index in indices] for at in range(length)]
                for index, value in zip(indices, added(columns), strict=True):
                    values[index] = value
        return list(_core.Partial.joined(values).results())

    @property
    def is_full(self) -> bool:
        """See Partial. No worker fills it."""
        return False

    def dumps(self, before: bytes = b"") -> bytes:
        """Nobody is handed it."""
        raise NotImplementedError


class RememberedPartial(MergedPartial):
    """See MergedPartial. Has the methods by which passes let what is kept be written, too."""

    def __init__(self, of: Remembering) -> None:
        self.total = _Total(of)
        self._remembering = of
        self.sizes: Callable[[], Mapping[int, int]] = dict
        """Asks for the entries of the files that are known. Set by the pass."""
        super().__init__(self.total, of.processed)  # type: ignore[arg-type]  # of its own kind

    def commit(self, partial: Partial, covers: Ranges) -> None:
        """See MergedPartial. Files all of whose entries are merged are kept."""
        super().commit(partial, covers)
        sizes = self.sizes()
        with self._lock:
            for file in covers:
                self._covers[file] = joined(self._covers[file])
                if file in sizes and self._covers[file] == [(0, sizes[file])]:
                    self.total.keep(file, sizes[file])

    def conclude(self) -> None:
        """Keeps files without entries, and the totals that are complete now."""
        of, sizes = self._remembering, self.sizes()
        with self._lock:
            for file in of.lacking:
                if sizes.get(file) == 0:
                    self.total.keep(file, 0)
            for sample in of.samples:
                if sample.found.missing:
                    again = Sample(
                        sample.name, sample.files, sample.tree, sample.leaves, sample.bookings
                    )
                    again.look(of.there)
                    if not again.found.missing:
                        sample.found = again.found

    @property
    def entries(self) -> int:
        """The entries of the files that are kept, of all that is asked of them."""
        kept = {**self._remembering.done, **self.total.kept}
        return sum(kept.values())

    def start(self) -> None:
        """Nothing to do: what is complete is kept at once."""

    def end(self, save: bool = True) -> None:
        """Completes the totals, if `save`."""
        if save:
            self.conclude()
        self._remembering.there.settle()
