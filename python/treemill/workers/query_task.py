"""A query in a form that can be sent: its specification and its data. Implements workers.task.Task;
knows no packet and no transport.
"""

from __future__ import annotations

import pickle
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial as partial_
from itertools import groupby
from time import monotonic
from types import MappingProxyType
from typing import TYPE_CHECKING, cast

from treemill import _core

from ..data.rows import Sink
from ..errors import QueryError, UnsupportedError
from ..language.function_registry import Dependent, Preloaded
from ..scheduling import FAILED, REFUSED
from .file_query import PerFile
from .packets_and_chunks import PacketBoundaries
from .plain_files import PlainFiles
from .row_collection import CollectingWorkload, load
from .worker import FILES_AT_ONCE
from .workload import (
    Bound,
    ByFile,
    Forwarding,
    Partial,
    Ran,
    SpansByFile,
    SpanWorkload,
    Turn,
    Workload,
    opaque,
    with_core,
)

if TYPE_CHECKING:
    from .._core import Control
    from ..data.chain import Chain
    from ..data.file_constants import Constant
    from ..errors import SourceError
    from ..query.planning import Specification
    from .row_collection import Taken
    from .workload import FileState, Span

__all__ = ["Lacking", "PartialByPart", "QueryTask", "QueryWorkload"]

# A query bound to a dataset's trees, file by file. All workers of a process share it.

_LEAST_ENTRY = 1e-3
"""Bytes per entry, at least, if entries that are fetched ahead are counted."""


class QueryWorkload:
    """Implements workers.workload.Workload. Thread-safe."""

    def __init__(
        self, query: PerFile, chain: Chain, workers: int, *, remember: bool = False
    ) -> None:
        """`remember`: whether the workers share the cache of this process."""
        self._query = query
        self._chain = chain
        self._workers = workers
        self._remember = remember
        self._bound: OrderedDict[int, _core.Bound] = OrderedDict()
        self._sizes: dict[int, tuple[int, tuple[int, ...]]] = {}
        self._lock = threading.Lock()
        self._binding: dict[int, threading.Lock] = {}  # files that are being bound
        # Of files on servers only it is worth asking what they want ahead; a path may lead to a
        # server, too, which the file says when it is open.
        self._far = set(chain.trees.far)
        self._opens: bool | None = None
        self._plain = PlainFiles(query, chain)
        self._bytes_per_entry: dict[int, float] = {}

    def begin(self) -> None:
        """Nothing to do."""

    def opens(self, file: int, then: Callable[[], None]) -> bool:
        """See Workload."""
        return self._chain.trees.opens(file, then)

    def place(self, file: int) -> tuple[str, int]:
        """The path; packets count from the file's first entry."""
        return self._chain.locations[file].path, 0

    def changed(self, file: int) -> SourceError | None:
        """See Workload."""
        return self._chain.trees.changed((file,))

    def states(self, files: Iterable[int]) -> Mapping[str, FileState]:
        """See Workload."""
        return self._chain.states(files)

    def finish(self, partial: _core.Partial) -> _core.Partial:
        """The partial as it is."""
        return partial

    def discard(self, partial: _core.Partial) -> None:
        """Nothing to do."""

    def run_files(
        self, spans: Sequence[Span], turn: Turn, partial: _core.Partial | None, control: Control
    ) -> tuple[_core.Partial | None, Ran]:
        """See Workload. The core opens, binds and runs files that need nothing more in one call."""

        def run_plain(
            spans: Sequence[Span], turn: Turn, partial: _core.Partial | None
        ) -> tuple[_core.Partial | None, Ran]:
            return self.run_plain(spans, turn, partial, control)[:2]

        return with_core(self, run_plain, spans, turn, partial, control)

    def run_apart(
        self, spans: Sequence[Span], turn: Turn, control: Control
    ) -> tuple[Sequence[_core.Partial], Ran]:
        """Runs files as far as the core can do it by itself, and gives a partial for each."""
        partials, ran, _ = self._in_core(spans, turn, None, control, apart=True)
        return partials, ran

    def run_plain(
        self, spans: Sequence[Span], turn: Turn, partial: _core.Partial | None, control: Control
    ) -> tuple[_core.Partial | None, Ran, Sequence[Sequence[tuple[int, Taken]]]]:
        """Runs files as far as the core can do it by itself, and gives the rows that bookings want
        of each, if there are any."""
        partials, ran, rows = self._in_core(spans, turn, partial, control)
        return partials[0] if partials else partial, ran, rows

    def _in_core(
        self,
        spans: Sequence[Span],
        turn: Turn,
        partial: _core.Partial | None,
        control: Control,
        *,
        apart: bool = False,
    ) -> tuple[Sequence[_core.Partial], Ran, Sequence[Sequence[tuple[int, Taken]]]]:
        plain = self._plain.parts(spans) if self._plain.applies else None
        if plain is None:
            return [], Ran(ended=REFUSED), []
        partials, entries, reached, rows, ended = self._query.core.run_files(
            self._chain.trees.to_open(),
            plain.spans,
            turn.most,
            turn.seconds,
            partial,
            control,
            plain.constants,
            plain.beside,
            apart=apart,
        )
        count = self._plain.agreeing(len(entries), plain)
        if count < len(entries):
            return partials, Ran(tuple(entries[:count]), ended=FAILED), []
        if count == len(plain.spans) < len(spans):
            ended = ended or REFUSED
        return partials, Ran(tuple(entries), reached, ended), rows

    def bound(self, file: int) -> _core.Bound:
        """The query bound to the tree of this file."""
        with self._lock:
            known = self._known(file)
            if known is not None:
                return known
            binding = self._binding.setdefault(file, threading.Lock())
        # A packet may begin while its file is still being opened for its bytes to be fetched: it
        # waits for that, and does not open the file again.
        with binding:
            with self._lock:
                known = self._known(file)
            return self._bind(file, binding) if known is None else known

    def _known(self, file: int) -> _core.Bound | None:
        known = self._bound.get(file)
        if known is not None:
            self._bound.move_to_end(file)
        return known

    def _bind(self, file: int, binding: threading.Lock) -> _core.Bound:
        try:
            bound = self._query.bind(self._chain, file)
        except QueryError as error:
            # Files of a dataset may differ, so say which one lacks a branch.
            if error.file is None and len(self._chain.locations) > 1:
                error.file = self._chain.locations[file].path
            raise
        with self._lock:
            self._bound[file] = bound
            if bound.ahead():
                self._far.add(file)
            # Each holds the buffers of its columns: memory may grow with workers, not with files.
            most = self._workers * (FILES_AT_ONCE if self._far else 1)
            while len(self._bound) > most:
                del self._bound[self._least_wanted()]
            if self._binding.get(file) is binding:
                del self._binding[file]
        return bound

    def _least_wanted(self) -> int:
        """The file that leaves for another one: one that is done, if there is any. The bytes of the
        others may have been asked for, and would be asked for again."""
        spent = (file for file, bound in self._bound.items() if bound.is_spent())
        return next(spent, next(iter(self._bound)))

    def ahead(self, file: int) -> int:
        """The entries whose bytes the core wants ahead; 0 for files on disks."""
        if file not in self._far:
            return 0
        try:
            bound = self.bound(file)
            wanted = bound.ahead(opens=self._asks_servers())
            return int(wanted / self._entry_bytes(file, bound)) + 1 if wanted else 0
        except Exception:  # the packet that needs the file will meet it again
            return 0

    def _asks_servers(self) -> bool:
        """True if the pass has to ask servers to open files: several are opened at once, then, also
        where all that is read of them later is in memory."""
        if self._opens is None:
            self._opens = self._chain.trees.asks_servers()
        return self._opens

    def _entry_bytes(self, file: int, bound: _core.Bound) -> float:
        known = self._bytes_per_entry.get(file)
        if known is None:
            entries = self._chain.sizes[file][0]
            known = max(bound.bytes_of(0, entries) / max(entries, 1), _LEAST_ENTRY)
            self._bytes_per_entry[file] = known
        return known

    def size(self, file: int) -> tuple[int, tuple[int, ...]]:
        """The tree's entries, and the entries before which packets may end. Both the session and
        the worker that opens the file ask for them."""
        known = self._sizes.get(file)
        if known is None:
            known = self._sizes[file] = self._size(file)
        return known

    def _size(self, file: int) -> tuple[int, tuple[int, ...]]:
        entries, clusters = self._chain.sizes[file]

        def fewest_baskets() -> int:
            return self.bound(file).fewest_baskets()

        def is_remembered() -> bool:
            return self._remember and self.bound(file).is_remembered()

        boundaries = PacketBoundaries(self._workers, len(self._chain.locations))
        closed = self._chain.is_closed(file)
        return entries, boundaries.of(
            entries, clusters, fewest_baskets, is_remembered, closed=closed
        )


# Keeps results of parts of the data apart, in one pass: a partial for each sample of a fileset, or
# for each file of a run that is remembered. Knows what a workload is; knows no worker, no file and
# no query.

Part = str | int
"""What results are kept apart by: the name of a sample, or the number of a file."""


class PartialByPart:
    """A partial for each part of the data of which entries were run. Implements Partial."""

    def __init__(self, parts: Mapping[Part, Partial], borrowing: Iterable[Part] = ()) -> None:
        """`borrowing`: the parts in which is more than what is known of their files: that of
        friends which these record, or of functions that are others here."""
        self.parts = dict(parts)
        self.borrowing = set(borrowing)

    @property
    def is_full(self) -> bool:
        """See Partial."""
        return any(part.is_full for part in self.parts.values())

    def merge(self, other: PartialByPart) -> None:
        """See Partial."""
        for name, part in other.parts.items():
            self.add(name, part)
        self.borrowing |= other.borrowing

    def add(self, name: Part, part: Partial) -> None:
        """Merges the partial of a part, which is not used afterwards."""
        mine = self.parts.get(name)
        if mine is None:
            self.parts[name] = part
        else:
            mine.merge(part)

    def results(self) -> list[object]:
        """One item: a mapping of parts to their results. A part without entries may be lacking."""
        return [{name: part.results() for name, part in self.parts.items()}]

    def dumps(self, before: bytes = b"") -> bytes:
        """See Partial."""
        parts = {name: part.dumps() for name, part in self.parts.items()}
        return before + pickle.dumps((parts, self.borrowing))


def load_by_part(data: bytes, first: int, loads: Callable[[bytes], Partial]) -> PartialByPart:
    """Rebuilds a partial from the bytes of its `dumps`, which begin at `first`; `loads` is that of
    its parts."""
    parts: dict[Part, bytes]
    parts, borrowing = pickle.loads(memoryview(data)[first:])
    return PartialByPart({name: loads(parts.pop(name)) for name in list(parts)}, borrowing)


class ApartWorkload(Forwarding[Partial]):
    """A workload whose partials are apart by parts of the data."""

    def __init__(
        self,
        inner: Workload[Partial],
        parts: Sequence[Part],
        borrows: Callable[[int], bool] = lambda file: False,
        others: Mapping[int, Workload[Partial]] = MappingProxyType({}),
        by_file: Mapping[int, ByFile[_core.Partial]] = MappingProxyType({}),
    ) -> None:
        """`parts`: that of each file. `borrows`: see PartialByPart, of a file that was run.
        `others`: what is done with these files instead, each of which is a part; `by_file`: the
        same workloads, which may run several of their files in one call."""
        super().__init__(inner)
        self._parts = parts
        self._borrows = borrows
        self._others = others
        self._by_file = by_file

    def _of(self, file: int) -> Workload[Partial]:
        return self._others.get(file, self.inner)

    def bound(self, file: int) -> _OfPart:
        """See Workload."""
        bound = self._of(file).bound(file)
        return _OfPart(bound, self._parts[file], borrows=self._borrows(file))

    def size(self, file: int) -> tuple[int, tuple[int, ...]]:
        """See Workload."""
        return self._of(file).size(file)

    def ahead(self, file: int) -> int:
        """See Workload."""
        return self._of(file).ahead(file)

    def run_files(
        self, spans: Sequence[Span], turn: Turn, partial: PartialByPart | None, control: Control
    ) -> tuple[PartialByPart | None, Ran]:
        """See Workload. Files of one part after those of another; those of which each is a part,
        after those with which something else is done."""
        if not self._by_file:
            return self._run_parts(spans, turn, partial, control)
        began, ran = monotonic(), Ran()
        for _, group in groupby(spans, lambda span: id(self._by_file.get(span[0]))):
            rest, those = turn.after(began), tuple(group)
            if ran.entries and (rest.seconds <= 0 or control.stopped):
                break
            by_file = self._by_file.get(those[0][0])
            if by_file is None:
                partial, more = self._run_parts(those, rest, partial, control)
            else:
                run_apart = partial_(self._run_apart, by_file, control)
                partial, more = with_core(self, run_apart, those, rest, partial, control)
            ran = ran.then(more)
            if more.ended or len(more.entries) < len(those):
                break
        return partial, ran

    def _run_apart(
        self,
        by_file: ByFile[_core.Partial],
        control: Control,
        spans: Sequence[Span],
        turn: Turn,
        partial: PartialByPart | None,
    ) -> tuple[PartialByPart | None, Ran]:
        made, ran = by_file.run_apart(spans, turn, control)
        for (file, *_), each in zip(spans, made, strict=False):
            partial = partial or PartialByPart({})
            partial.add(self._parts[file], each)
            if self._borrows(file):
                partial.borrowing.add(self._parts[file])
        return partial, ran

    def _run_parts(
        self, spans: Sequence[Span], turn: Turn, partial: PartialByPart | None, control: Control
    ) -> tuple[PartialByPart | None, Ran]:
        began = monotonic()
        parts = {} if partial is None else partial.parts
        borrowing = set() if partial is None else partial.borrowing
        ran = Ran()
        for name, group in groupby(spans, lambda span: self._parts[span[0]]):
            rest, those = turn.after(began), tuple(group)
            if ran.entries and (rest.seconds <= 0 or control.stopped):
                break
            workload = self._of(those[0][0])
            part, more = workload.run_files(those, rest, parts.get(name), control)
            if part is not None:
                parts[name] = part
                if any(self._borrows(file) for file, *_ in those):
                    borrowing.add(name)
            ran = ran.then(more)
            if more.ended or len(more.entries) < len(those):
                break
        if partial is None and parts:
            partial = PartialByPart({}, borrowing)
            partial.parts = parts
        return partial, ran

    def finish(self, partial: PartialByPart) -> PartialByPart:
        """See Workload."""
        parts = {name: self.inner.finish(part) for name, part in partial.parts.items()}
        return PartialByPart(parts, partial.borrowing)

    def discard(self, partial: PartialByPart) -> None:
        """See Workload."""
        for part in partial.parts.values():
            self.inner.discard(part)


class _OfPart:
    """A workload bound to one file of a part. Implements Bound."""

    def __init__(self, bound: Bound[Partial], name: Part, *, borrows: bool) -> None:
        self._bound = bound
        self._name = name
        self._borrows = borrows

    def partial(self) -> PartialByPart:
        return PartialByPart({self._name: self._bound.partial()})

    def run(self, start: int, stop: int, partial: PartialByPart, control: Control) -> int | None:
        part = partial.parts.get(self._name)
        if part is None:
            part = partial.parts[self._name] = self._bound.partial()
        if self._borrows:
            partial.borrowing.add(self._name)
        return self._bound.run(start, stop, part, control)

    def prefetch(self, start: int, stop: int, control: Control) -> None:
        self._bound.prefetch(start, stop, control)

    def forget(self, start: int, stop: int) -> None:
        self._bound.forget(start, stop)

    def ahead(self) -> int:
        return self._bound.ahead()

    def bytes_of(self, start: int, stop: int) -> int:
        return self._bound.bytes_of(start, stop)


def _depend(specification: Specification) -> dict[str, str]:
    """What the values of functions depend on that are called, as far as that is certain."""
    found = {}
    for key, each in specification.provided.items():
        if isinstance(each, Dependent):
            with suppress(UnsupportedError):
                found[key] = each.depends_on()
    return found


Lacking = tuple["Specification", Sequence[int]]
"""Bookings that are computed, and the numbers of the files of which they are."""

_ALONE = 500_000
"""Entries of a first packet: for what the core computes itself that is a second at most."""

_SENT = (
    *(
        "_specification",
        "_chain",
        "_workers",
        "_spans",
        "_sinks",
        "_remember",
        "_apart",
        "_lacking",
        "_depend",
        "_knows_recorded",
    ),
    *("alone_entries", "holds_lock", "small_files"),
)


class QueryTask:
    """Bookings, as the core's specification."""

    commit_seconds = 1.0
    least_seconds = 0.0
    second_runs = True
    share_entries = 0
    inputs: Mapping[str, object] | None = None

    def __init__(
        self,
        specification: Specification,
        chain: Chain,
        workers: int,
        spans: Sequence[Span] | None,
        sinks: Mapping[int, Sink] | None = None,
        *,
        remember: bool = False,
        apart: bool = False,
        lacking: Sequence[Lacking] | None = None,
        knows_recorded: bool = False,
    ) -> None:
        """`sinks`: where rows go, by the booking's index in the specification. `remember`: whether
        workers share the cache of this process. `apart`: whether the results of a fileset's
        samples are kept apart (py). `lacking`: what is computed instead of the specification, and
        of which files, or places of `spans`; results are apart by these then. None: the
        specification, of all files. `knows_recorded`: whether it is known what friends join to
        these files that they record."""
        self._remember = remember
        self._apart = apart
        self._lacking = lacking
        self._depend = {} if lacking is None else _depend(specification)
        self._knows_recorded = knows_recorded
        self._sinks = sinks or {}
        self._specification = specification
        self._chain = chain.pinned()
        self._workers = workers
        self._spans = spans
        # If the file is on a server, the first bytes of a short packet come sooner.
        plain = not (sinks or specification.provided or 0 in chain.trees.far)
        self.alone_entries = _ALONE if plain else 0
        self.holds_lock = bool(specification.provided)
        self.small_files = not chain.trees.far
        self._prepare()

    def _prepare(self) -> None:
        self._lock = threading.Lock()
        self._workload: Workload[Partial] | None = None

    def __getstate__(self) -> dict[str, object]:
        state = {name: self.__dict__[name] for name in _SENT}
        # What is remembered is known by what functions of files have given here.
        given = self._chain.constants.given_here() if self._lacking is not None else {}
        return {**state, "given": given}

    def __setstate__(self, state: dict[str, object]) -> None:
        given = state.pop("given")
        self.__dict__.update(state)
        self._chain.constants.know(cast("Mapping[tuple[int, str], Constant]", given))
        self._prepare()

    def preload(self) -> None:
        """Imports what functions of the user's own need."""
        for each in self._specification.provided.values():
            if isinstance(each, Preloaded):
                each.preload()

    def control(self) -> _core.Control:
        """A control of the core's."""
        return _core.Control()

    def workload(self, number: int) -> Workload[Partial]:
        """The one workload of all workers of a process."""
        with self._lock:
            if self._workload is None:
                self._workload = self._make()
            return self._workload

    def _make(self) -> Workload[Partial]:
        plain = self._of(self._specification)
        if self._lacking is not None:
            others: dict[int, Workload[Partial]] = {}
            by_file: dict[int, ByFile[_core.Partial]] = {}
            for specification, numbers in self._lacking:
                of = self._of(specification)
                each = of if self._spans is None else SpansByFile(of, self._spans)
                others |= dict.fromkeys(numbers, opaque(each))
                by_file |= dict.fromkeys(numbers, each)
            every = range(len(self._chain.locations if self._spans is None else self._spans))
            whole = self._spanned(opaque(plain))
            return opaque(ApartWorkload(whole, every, self._borrows(), others, by_file))
        workload = opaque(CollectingWorkload(plain, self._sinks)) if self._sinks else opaque(plain)
        if self._apart:
            files = range(len(self._chain.locations))
            datasets = [self._chain.dataset_of(file) for file in files]
            workload = opaque(ApartWorkload(workload, datasets))
        return self._spanned(workload)

    def _borrows(self) -> Callable[[int], bool]:
        """Says of a file that was run whether there is more in its results than is known of it."""
        if self._depend != _depend(self._specification):
            return lambda place: True  # modules of the user's are what this process has imported
        spans, trees = self._spans, self._chain.trees
        # Sets that grow as files are opened.
        sets = (trees.borrowing,) if self._knows_recorded else (trees.borrowing, trees.recording)

        def borrows(place: int) -> bool:
            file = place if spans is None else spans[place][0]
            return any(file in each for each in sets)

        return borrows

    def _spanned(self, workload: Workload[Partial]) -> Workload[Partial]:
        return workload if self._spans is None else SpanWorkload(workload, self._spans)

    def _of(self, specification: Specification) -> QueryWorkload:
        query = PerFile(specification)
        return QueryWorkload(query, self._chain, self._workers, remember=self._remember)

    def load(self, data: bytes, first: int = 0) -> Partial:
        """Rebuilds a partial of the core's, with rows if the query has some."""
        if self._apart or self._lacking is not None:
            return load_by_part(data, first, self._load)
        return self._load(data, first)

    def _load(self, data: bytes, first: int = 0) -> Partial:
        if self._sinks:
            return load(data, first, _core.Partial.loads)
        return _core.Partial.loads(data, first)
