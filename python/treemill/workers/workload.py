"""The protocols of workloads: a query or a selector that is bound to one file after another. The
wrappers change a part of another workload."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from time import monotonic
from typing import TYPE_CHECKING, Generic, NamedTuple, Protocol, Self, TypeVar, cast

from ..frozen import frozen
from ..scheduling import FAILED, FULL, REFUSED

if TYPE_CHECKING:
    from treemill._core import Control

    from ..errors import SourceError

__all__ = [
    "Bound",
    "ByFile",
    "FileState",
    "Forwarding",
    "Partial",
    "Ran",
    "Span",
    "SpanWorkload",
    "SpansByFile",
    "Turn",
    "Workload",
    "no_entries",
    "one_by_one",
    "opaque",
    "with_core",
]

Span = tuple[int, int, int | None]
"""A file's number in the dataset, and its entries `[first, stop)`; stop None: to the file's end."""


class FileState(Protocol):
    """What a process has seen of a file. It can be sent."""

    def agrees(self, other: Self) -> bool:
        """True if the file has the same bytes, as far as anyone can tell."""


class Partial(Protocol):
    """The results that a worker has accumulated."""

    @property
    def is_full(self) -> bool:
        """True if it takes so much memory that it should be committed before more is added."""

    def merge(self, other: Self) -> None:
        """Adds another partial of the same task, which must not be used afterwards."""

    def results(self) -> list[object]:
        """The results: one value per booking; of a selector its output comes first."""

    def dumps(self, before: bytes = b"") -> bytes:
        """The partial in bytes, which `Task.load` reads in another process, after these bytes.
        Large ones are written where they stay: they are not there twice."""


P = TypeVar("P", bound=Partial)


class Bound(Protocol[P]):
    """A workload that is bound to one file."""

    def partial(self) -> P:
        """Makes a partial without entries."""

    def run(self, start: int, stop: int, partial: P, control: Control) -> int | None:
        """Adds the entries `[start, stop)` to the partial. Gives the entry before which it ended if
        it ended early, because `control` is stopped or the partial has no more room until it is
        committed; else None or `stop`."""

    def prefetch(self, start: int, stop: int, control: Control) -> None:
        """Asks for the bytes of entries that will be run later, in one go, and does not wait for
        them. Asking again changes nothing. Does nothing if the file is near. `control` counts what
        is asked for."""

    def forget(self, start: int, stop: int) -> None:
        """Drops the bytes that were prefetched for these entries and not used."""

    def ahead(self) -> int:
        """Returns how many bytes should be on their way, or here, before they are needed; 0 if the
        file is near. Changes with what is measured of the source."""

    def bytes_of(self, start: int, stop: int) -> int:
        """The stored bytes that these entries will want."""


@frozen
class Turn:
    """How much one order does: no file with more entries, no further file after these seconds."""

    most: int
    seconds: float

    def after(self, began: float) -> Turn:
        """What is left of a turn that began at this time of `monotonic`."""
        return Turn(self.most, self.seconds - (monotonic() - began))


class Ran(NamedTuple):
    """What became of small files."""

    entries: tuple[int, ...] = ()
    """Those of the files that were run, from the first one on."""
    stop: int = 0
    """The entry before which the last of them ended: its end, unless the run was stopped or the
    partial is full."""
    ended: str = ""
    """Why no further file was run; see FilesDone."""

    def then(self, more: Ran) -> Ran:
        """What became of these files, and of others after them."""
        stop = more.stop if more.entries else self.stop
        return Ran(self.entries + more.entries, stop, more.ended)


class Workload(Protocol[P]):
    """What a worker does with packets. One object may serve all workers of a process."""

    def begin(self) -> None:
        """Called before the first packet. What it raises ends the pass."""

    def bound(self, file: int) -> Bound[P]:
        """The workload bound to this file. Files may stay open."""

    def opens(self, file: int, then: Callable[[], None]) -> bool:
        """Has the file opened in the background, if it can be without a thread that waits for its
        server, and calls `then` when it is open or cannot be opened: at once, or on another thread.
        `then` raises nothing, and must not wait. False if it has begun nothing. Raises nothing."""

    def size(self, file: int) -> tuple[int, tuple[int, ...]]:
        """The file's number of entries, and the entries before which packets may end; none if they
        may end anywhere. The number of entries among them if they may end at its end only."""

    def ahead(self, file: int) -> int:
        """Returns how many entries after a packet are worth a prefetch; 0 if the file is near.
        Asked for after each packet. Raises nothing."""

    def place(self, file: int) -> tuple[str, int]:
        """The file's name, and the number in the file of the entry that packets count as 0."""

    def changed(self, file: int) -> SourceError | None:
        """The error if the file is not any more what the pass has seen of it; None if it is, or if
        its server says so by itself. Asked for after each packet. Raises nothing."""

    def states(self, files: Iterable[int]) -> Mapping[str, FileState]:
        """The states, by path, of those near files that the entries of these files were read from:
        as this process has seen them, in the whole pass."""

    def run_files(
        self, spans: Sequence[Span], turn: Turn, partial: P | None, control: Control
    ) -> tuple[P | None, Ran]:
        """Runs small files, or small parts of files, one after another, as far as each is near and
        can be opened, and adds them to the partial, or to a new one. Called only if the task has
        `small_files`. Raises nothing: a partial that is given is given back. `one_by_one` does it
        for each workload; others do the same in less time."""

    def finish(self, partial: P) -> P:
        """Completes a partial before it is committed. What it raises ends the pass."""

    def discard(self, partial: P) -> None:
        """Removes what a partial has outside of memory. Called before it is dropped."""


class ByFile(Workload[P], Protocol[P]):
    """A workload that may run several files in one call, and have a partial for each."""

    def run_apart(
        self, spans: Sequence[Span], turn: Turn, control: Control
    ) -> tuple[Sequence[P], Ran]:
        """Runs files as far as the core can do it by itself, and gives a partial for each."""


def opaque(workload: Workload[P]) -> Workload[Partial]:
    """Returns this workload for callers that do not know the class of its partials."""
    # Python has no type for "a workload of some partial": the caller gives it only its own.
    return cast("Workload[Partial]", workload)


def no_entries(workload: Workload[P], file: int = 0) -> list[object]:
    """The results of no entries: empty histograms, counts of 0. Binds this file."""
    return workload.bound(file).partial().results()


def one_by_one(
    self: Workload[P], spans: Sequence[Span], turn: Turn, partial: P | None, control: Control
) -> tuple[P | None, Ran]:
    """The `run_files` of any workload. Errors are left to the order that does the file alone, and
    says what is wrong with it."""
    began, reached = monotonic(), 0
    done: list[int] = []
    for file, first, stop in spans:
        if control.stopped or (done and monotonic() - began >= turn.seconds):
            break
        try:
            bound = self.bound(file)
            entries, _ = self.size(file)
            last = entries if stop is None else min(stop, entries)
            if last - first > turn.most or self.ahead(file):
                return partial, Ran(tuple(done), reached, REFUSED)
            if partial is None:
                partial = bound.partial()
        except Exception:
            return partial, Ran(tuple(done), reached, REFUSED)
        try:
            ended = bound.run(first, last, partial, control) if first < last else None
        except Exception:
            return partial, Ran(tuple(done), reached, FAILED)
        if self.changed(file) is not None:
            return partial, Ran(tuple(done), reached, FAILED)
        done.append(max(last - first, 0))
        reached = done[-1] if ended is None else ended - first
        if reached < done[-1] or partial.is_full:
            break
    is_full = partial is not None and partial.is_full
    return partial, Ran(tuple(done), reached, FULL if is_full else "")


_REFUSED = 3
"""So many files in a row that the core leaves to others are the last ones of an order that it is
given."""


def with_core(
    workload: Workload[P],
    run_plain: Callable[[Sequence[Span], Turn, P | None], tuple[P | None, Ran]],
    spans: Sequence[Span],
    turn: Turn,
    partial: P | None,
    control: Control,
) -> tuple[P | None, Ran]:
    """The `run_files` of a workload of which the core runs most files by itself, by `run_plain`.
    A file that the core refuses is run alone, and the core goes on with the next one: often the
    refused one has told what the core needs for those like it, be it to this worker or to another
    one."""
    began, ran, refused = monotonic(), Ran(), 0
    while True:
        partial, more = run_plain(spans[len(ran.entries) :], turn.after(began), partial)
        ran, refused = ran.then(more), 0 if more.entries else refused + 1
        if more.ended != REFUSED:
            return partial, ran
        rest = spans[len(ran.entries) :]
        some = rest if refused >= _REFUSED else rest[:1]
        partial, more = one_by_one(workload, some, turn.after(began), partial, control)
        ran = ran.then(more)
        is_over = len(ran.entries) == len(spans) or turn.after(began).seconds <= 0
        is_short = len(more.entries) < len(some) or more.stop < more.entries[-1]
        if more.ended or is_over or is_short or control.stopped:
            return partial, ran


class Forwarding(Generic[P]):
    """The part of a wrapper that has nothing to do with partials: all as `inner` does it."""

    run_files = one_by_one

    def __init__(self, inner: Workload[P]) -> None:
        self.inner = inner

    def begin(self) -> None:
        """See Workload."""
        self.inner.begin()

    def opens(self, file: int, then: Callable[[], None]) -> bool:
        """See Workload."""
        return self.inner.opens(file, then)

    def size(self, file: int) -> tuple[int, tuple[int, ...]]:
        """See Workload."""
        return self.inner.size(file)

    def ahead(self, file: int) -> int:
        """See Workload."""
        return self.inner.ahead(file)

    def place(self, file: int) -> tuple[str, int]:
        """See Workload."""
        return self.inner.place(file)

    def changed(self, file: int) -> SourceError | None:
        """See Workload."""
        return self.inner.changed(file)

    def states(self, files: Iterable[int]) -> Mapping[str, FileState]:
        """See Workload."""
        return self.inner.states(files)


class SpanWorkload(Forwarding[P]):
    """A workload on parts of files. Its file `i` is the span `i`, whose entries count from 0."""

    def __init__(self, inner: Workload[P], spans: Sequence[Span]) -> None:
        super().__init__(inner)
        self._spans = spans

    def bound(self, file: int) -> Bound[P]:
        """See Workload."""
        number, first, _ = self._spans[file]
        return _Shifted(self.inner.bound(number), first)

    def opens(self, file: int, then: Callable[[], None]) -> bool:
        """See Workload."""
        return self.inner.opens(self._spans[file][0], then)

    def size(self, file: int) -> tuple[int, tuple[int, ...]]:
        """See Workload."""
        number, first, stop = self._spans[file]
        entries, cuts = self.inner.size(number)
        last = entries if stop is None else min(stop, entries)
        inside = tuple(cut - first for cut in cuts if first < cut < last)
        if cuts and cuts[-1] == entries and first < last:
            inside = (*inside, last - first)  # a packet ends there, and nowhere between
        return max(last - first, 0), inside

    def ahead(self, file: int) -> int:
        """See Workload."""
        return self.inner.ahead(self._spans[file][0])

    def place(self, file: int) -> tuple[str, int]:
        """See Workload."""
        number, first, _ = self._spans[file]
        path, begin = self.inner.place(number)
        return path, begin + first

    def changed(self, file: int) -> SourceError | None:
        """See Workload."""
        return self.inner.changed(self._spans[file][0])

    def states(self, files: Iterable[int]) -> Mapping[str, FileState]:
        """See Workload."""
        return self.inner.states({self._spans[file][0] for file in files})

    def run_files(
        self, spans: Sequence[Span], turn: Turn, partial: P | None, control: Control
    ) -> tuple[P | None, Ran]:
        """See Workload."""
        return self.inner.run_files([self._within(*span) for span in spans], turn, partial, control)

    def _within(self, number: int, first: int, stop: int | None) -> Span:
        """A part of a span, as a part of its file."""
        file, begin, end = self._spans[number]
        if stop is not None:
            end = begin + stop if end is None else min(begin + stop, end)
        return file, begin + first, end

    def finish(self, partial: P) -> P:
        """See Workload."""
        return self.inner.finish(partial)

    def discard(self, partial: P) -> None:
        """See Workload."""
        self.inner.discard(partial)


class SpansByFile(SpanWorkload[P]):
    """Implements ByFile for parts of files."""

    def __init__(self, inner: ByFile[P], spans: Sequence[Span]) -> None:
        super().__init__(inner, spans)
        self._by_file = inner

    def run_apart(
        self, spans: Sequence[Span], turn: Turn, control: Control
    ) -> tuple[Sequence[P], Ran]:
        """See ByFile."""
        return self._by_file.run_apart([self._within(*span) for span in spans], turn, control)


class _Shifted(Generic[P]):
    def __init__(self, bound: Bound[P], first: int) -> None:
        self._bound = bound
        self._first = first

    def partial(self) -> P:
        return self._bound.partial()

    def run(self, start: int, stop: int, partial: P, control: Control) -> int | None:
        first = self._first
        ended = self._bound.run(start + first, stop + first, partial, control)
        return None if ended is None else ended - first

    def prefetch(self, start: int, stop: int, control: Control) -> None:
        self._bound.prefetch(start + self._first, stop + self._first, control)

    def forget(self, start: int, stop: int) -> None:
        self._bound.forget(start + self._first, stop + self._first)

    def ahead(self) -> int:
        return self._bound.ahead()

    def bytes_of(self, start: int, stop: int) -> int:
        return self._bound.bytes_of(start + self._first, stop + self._first)
