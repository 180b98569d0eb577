"""The merged partial of a pass whose results are remembered: what is remembered already, and the
partials of the files that are run. Each of these is kept when all entries of its file are merged.

Knows no worker and no packetizer, nor what the keys are of.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from treemill import _core

from ..checkpoint import Pace
from ..checkpoint.totals import Gathered, Node, Record, Remembered, gathered
from ..scheduling import FileSize, Range, Ranges, joined
from ..workers.query_task import PartialByPart
from ..workers.workload import Partial
from .checkpoint_writer import PassWriter
from .merged_partial import MergedPartial, Seen

if TYPE_CHECKING:
    from ..checkpoint.results import Results

__all__ = [
    "HERE",
    "Begun",
    "RememberedPartial",
    "RememberedTree",
    "Remembering",
    "ResultsWriter",
    "Sizes",
]

Rows = Sequence[Sequence[bytes]]
Sizes = Callable[[Collection[int]], Mapping[int, int]]
"""Gives the entries of those of some files whose size is known, and maybe of others."""
HERE = "here"
"""What workers of this host have seen of a file, where others are on other hosts."""


def added(rows: Rows) -> list[bytes]:
    """Adds partials of single bookings up: see totals.Added."""
    total = _core.Partial.joined(rows[0])
    for row in rows[1:]:
        total.merge(_core.Partial.joined(row))
    return total.dumps_each()


@dataclass
class RememberedTree:
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

    def look_again(self, there: Remembered) -> None:
        """Looks for what was not there before. If that is still so of a part of it, all stays as it
        is."""
        wanted = list(dict.fromkeys(key for keys in self.found.missing.values() for key in keys))
        again = gathered(self.tree, wanted, there, added)
        if not again.missing:
            complete = {**self.found.complete, **again.complete}
            self.found = Gathered(complete, entries={**self.found.entries, **again.entries})


class Begun(NamedTuple):
    """What an earlier run has left of a file of which not all was done."""

    ranges: list[Range]
    """The entries that are done."""
    values: Sequence[bytes]
    """The partials of these, one for each booking that is computed of the file."""
    segment: str
    """Where it is kept."""


@dataclass
class Remembering:
    """What a pass does not compute, and what it keeps."""

    there: Results | None
    """None in a process that has another one's pass: it keeps nothing."""
    samples: Sequence[RememberedTree]
    apart: bool
    """Whether the pass has results for each sample, and not for all of them together."""
    nothing: Sequence[bytes]
    """The partials of no entries, one for each booking of the specification."""
    lacking: Mapping[int, tuple[int, ...]]
    """The indices of the bookings that are computed of a file, by its number."""
    done: Mapping[int, int]
    """The entries of the files of which nothing is computed."""
    may_keep: Callable[[Iterable[int], Seen], set[int]]
    """Those of some files that are, with what was joined to them, still what they were when the
    pass began, and of which workers have seen the same. The second argument: what those of a
    cluster have seen of files, by their paths; None: they are on this host. Looks at files, so that
    it is to be asked for many at once."""
    open_keys: Mapping[int, bytes]
    """What files of which not all is done are known by."""
    begun: Mapping[int, Begun]
    pace: Pace
    """How often these are kept."""
    written: dict[int, int] = field(default_factory=dict)
    """The entries of the files that were kept since the pass began."""

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "there": None, "may_keep": _never}

    @property
    def processed(self) -> dict[int, list[Range]]:
        """The entries that are not run."""
        done = {file: [(0, n)] if n else [] for file, n in self.done.items()}
        return done | {file: list(each.ranges) for file, each in self.begun.items()}

    @property
    def size(self) -> int:
        """The bytes of the results of all files that are run, if they have no entries."""
        sizes = [len(each) for each in self.nothing]
        return sum(sizes[index] for indices in self.lacking.values() for index in indices)

    def with_sizes(self, sizes: Sequence[FileSize | None]) -> list[FileSize | None]:
        """The files' sizes, with those of files that are not run."""
        return [
            FileSize(self.done[file]) if file in self.done else size
            for file, size in enumerate(sizes)
        ]

    def merged(self, sizes: Sizes) -> RememberedPartial:
        """The merged partial to begin with."""
        return RememberedPartial(self, sizes)

    def writer(self, merged: Callable[[], RememberedPartial | None]) -> ResultsWriter:
        """What keeps a pass; see ResultsWriter."""
        return ResultsWriter(self, merged)


def _never(files: Iterable[int], seen: Seen) -> set[int]:
    return set()


class _Total:
    """All that is remembered and merged. Implements Partial."""

    def __init__(self, of: Remembering) -> None:
        self._of = of
        self._running: dict[tuple[str | None, tuple[int, ...]], _core.Partial] = {}
        """The sums of the files all of which is merged, by their sample and what is computed."""
        self.open = {file: _core.Partial.joined(each.values) for file, each in of.begun.items()}
        """The files of which not all is merged."""
        self._borrowing: set[object] = set()
        """The files in whose sums is more than what is known of them: see PartialByPart."""
        self._kept: set[int] = set()
        self.seen: Seen = None
        self.keys = {index: key for each in of.samples for index, key in each.bookings.items()}
        """The keys of the bookings that can be remembered, by their indices."""
        self._names = {file: sample.name for sample in of.samples for file in sample.files}
        self._keeping: dict[int, list[RememberedTree]] = defaultdict(list)
        """Under which keys what is computed of a file is kept."""
        for sample in of.samples:
            for file in sample.leaves:
                self._keeping[file].append(sample)

    def merge(self, other: PartialByPart) -> None:
        """See Partial."""
        for part, partial in other.parts.items():
            assert isinstance(part, int)
            assert isinstance(partial, _core.Partial)
            if part in self.open:
                self.open[part].merge(partial)
            else:
                self.open[part] = partial
        self._borrowing |= other.borrowing

    def may_keep(self, files: Iterable[int]) -> set[int]:
        """Those of these files of which what is merged is of that file alone, as it was before."""
        own = [file for file in files if file not in self._borrowing]
        return self._of.may_keep(own, self.seen) if own else set()

    def _group(self, file: int) -> tuple[str | None, tuple[int, ...]]:
        return self._names[file], self._of.lacking[file]

    def keep(self, done: Mapping[int, int]) -> None:
        """Keeps what is computed of files all of which is merged; each with its entries. Two
        commits may each have seen that a file is: it is kept once."""
        of = self._of
        partials: dict[int, _core.Partial | None] = {}
        for file, entries in done.items():
            partial = self.open.pop(file, None)
            if file not in self._kept and (partial is not None or not entries):
                partials[file] = partial
        self._kept.update(partials)
        if of.there is not None:
            kept = self.may_keep(file for file in partials if file not in of.written)
            of.written |= {file: done[file] for file in kept}
            of.there.add(
                record
                for file in sorted(kept)
                for record in self._records(file, done[file], partials[file])
            )
        for file, partial in partials.items():
            if partial is not None:
                group = self._group(file)
                if group in self._running:
                    self._running[group].merge(partial)
                else:
                    self._running[group] = partial

    def _records(self, file: int, entries: int, partial: _core.Partial | None) -> Iterator[Record]:
        of, indices = self._of, self._of.lacking[file]
        if partial is None:
            values = [of.nothing[index] for index in indices]
        else:
            values = partial.dumps_each()
        for sample in self._keeping[file]:
            keys = sample.bookings
            mine = {keys[n]: value for n, value in zip(indices, values, strict=True) if n in keys}
            if mine:
                yield sample.leaves[file], [entries], mine

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
        if of.apart:
            return [{name: self._joined(rows) for name, rows in by_name.items()}]
        return self._joined([list(chain(*rows)) for rows in zip(*by_name.values(), strict=True)])

    def _add_running(self, by_name: dict[str | None, list[list[bytes]]]) -> None:
        keys: dict[str | None, dict[int, tuple[bytes, Gathered]]] = defaultdict(dict)
        for sample in self._of.samples:
            for index, key in sample.bookings.items():
                keys[sample.name][index] = key, sample.found
        begun = [(self._group(file), partial) for file, partial in self.open.items()]
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
    """See MergedPartial. Files are kept as soon as all of their entries are merged."""

    def __init__(self, of: Remembering, sizes: Sizes) -> None:
        self.total = _Total(of)
        self._remembering = of
        self.sizes = sizes
        super().__init__(self.total, of.processed)  # type: ignore[arg-type]  # of its own kind

    def merge(self, partial: Partial, covers: Ranges) -> None:
        """See MergedPartial."""
        super().merge(partial, covers)
        sizes = self.sizes(covers)
        with self._lock:
            self._keep_done(covers, sizes)

    def _keep_done(self, files: Iterable[int], sizes: Mapping[int, int]) -> None:
        done = {}
        for file in files:
            covers = self._covers.get(file, [])
            try:
                covers = joined(covers)
            except RuntimeError:  # two mergers had the same: this is not the result
                continue
            if file in sizes and covers == ([(0, sizes[file])] if sizes[file] else []):
                done[file] = sizes[file]
            if covers:
                self._covers[file] = covers
        self.total.keep(done)

    def saw(self, states: Mapping[str, object]) -> None:
        """See MergedPartial."""
        super().saw(states)
        self.total.seen = states

    def keep_open(self, former: Path | None) -> Path | None:
        """Keeps what is merged of files of which not all is, in place of a segment."""
        of = self._remembering
        if of.there is None:
            return None
        with self._lock:
            records = list(self._open_records()) if not self._broken else []
        return of.there.keep_open(records, former)

    def _open_records(self) -> Iterator[Record]:
        of, total = self._remembering, self.total
        # No entries: it is of a packet that has failed.
        begun = [file for file in total.open if self._covers.get(file) and file in of.open_keys]
        for file in sorted(total.may_keep(begun)):
            ranges = joined(self._covers[file])
            keys = [total.keys[index] for index in of.lacking[file]]
            values = dict(zip(keys, total.open[file].dumps_each(), strict=True))
            yield of.open_keys[file], [number for each in ranges for number in each], values

    def conclude(self) -> None:
        """Keeps all files that are done, and the totals that are complete now."""
        of = self._remembering
        if of.there is None:
            return
        sizes = self.sizes(of.lacking)
        with self._lock:
            self._keep_done(of.lacking, sizes)
            for sample in of.samples:
                if sample.found.missing:
                    sample.look_again(of.there)


class ResultsWriter(PassWriter):
    """Keeps files of which not all is done, now and then, and completes totals at the end."""

    def __init__(self, of: Remembering, merged: Callable[[], RememberedPartial | None]) -> None:
        """`merged` gives what is merged now; it may take a while."""
        super().__init__("remember()", of.pace)
        self._of = of
        self._merged = merged
        self._segment: Path | None = None
        self._keeping = threading.Lock()

    @property
    def entries(self) -> int:
        """See PassWriter."""
        return sum(self._of.done.values()) + sum(self._of.written.values())

    def _keep(self) -> None:
        merged = self._merged()
        with self._keeping:
            if merged is not None and not self._closed:
                self._segment = merged.keep_open(self._segment)

    def _last(self) -> None:
        merged = self._merged()
        if merged is not None:
            merged.conclude()
        self._keep()
        if merged is not None and not merged.total.open and self._of.there is not None:
            for each in self._of.begun.values():  # of a run that was killed
                self._of.there.remove(Path(each.segment))

    def _close(self) -> None:
        with self._keeping:
            self._closed = True
        if self._of.there is not None:
            self._of.there.settle()
