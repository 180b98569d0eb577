"""The packetizer's records of files, workers, and work to be done again. Knows events; knows no
nodes and no ledger."""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from .events import FileSize, Packet, Process

Range = tuple[int, int]


@dataclass(eq=False, slots=True)
class File:
    """A file of the dataset, and how many of its entries were handed out."""

    number: int
    entries: int | None = None
    cuts: tuple[int, ...] = ()
    next: int = 0  # first entry that was never handed out
    attempts: int = 0  # to open it
    done: Sequence[Range] = ()  # a list if there are any: there may be many files
    """Ranges after `next` that were in the result before the query began. The first is the last in
    this list; they do not touch each other, and not `next`."""
    done_entries: int = 0  # in these ranges

    @classmethod
    def of(cls, number: int, size: FileSize | None) -> File:
        """A file of this size, if it is known."""
        return cls(number) if size is None else cls(number, size.entries, size.cuts)

    @property
    def left(self) -> int:
        """Entries that are to be done and were never handed out."""
        return 0 if self.entries is None else self.entries - self.next - self.done_entries

    @property
    def is_whole(self) -> bool:
        """True if no entry of it was handed out or is done, and no one has failed to open it."""
        return self.next == 0 and not self.done and not self.attempts

    def begin_with(self, done: Sequence[Range]) -> None:
        """Notes ascending ranges that touch nowhere and are in the result already."""
        self.done = list(reversed(done))
        self.done_entries = sum(stop - start for start, stop in done)
        self.check_done()
        self.advance(0)

    def check_done(self) -> None:
        """Raises ValueError if more is said to be done than the file has."""
        end = self.done[0][1] if self.done else self.next
        if self.entries is not None and end > self.entries:
            raise ValueError(
                f"file {self.number} has {self.entries} entries, and those up to {end} are said "
                "to be done"
            )

    def advance(self, stop: int) -> None:
        """Notes that the entries before `stop` were handed out; ranges that are done are passed
        over."""
        self.next = stop
        if isinstance(self.done, list) and self.done and self.done[-1][0] == stop:
            start, self.next = self.done.pop()
            self.done_entries -= self.next - start

    def gaps(self) -> list[tuple[int, int | None]]:
        """The ranges that are to be done and were never handed out. The last one has no end (None)
        if the file's size is not known."""
        ranges: list[tuple[int, int | None]] = []
        at = self.next
        for start, stop in reversed(self.done):
            ranges.append((at, start))
            at = stop
        if self.entries is None or at < self.entries:
            ranges.append((at, self.entries))
        return ranges

    def cut(self, wanted: int) -> int:
        """The end of a packet of about `wanted` entries: the last cut within it, else the first cut
        after it, so that no two workers read the same cluster. It does not go beyond what is to be
        done."""
        end = self.done[-1][0] if self.done else self.entries or 0
        target = self.next + wanted
        if target >= end:
            return end
        i = bisect_right(self.cuts, target)
        if i > 0 and self.cuts[i - 1] > self.next:
            return min(self.cuts[i - 1], end)
        if i < len(self.cuts):
            return min(self.cuts[i], end)
        return end if self.cuts else target


@dataclass
class RetryEntries:
    """A range to be done again, or (stop None) a file to be opened again, by another worker than
    `avoid` if there is one."""

    file: int
    start: int
    stop: int | None
    attempt: int
    avoid: int | None

    @property
    def entries(self) -> int:
        """The number of entries in the range; 0 for a file."""
        return 0 if self.stop is None else self.stop - self.start


@dataclass
class Retries:
    """The work to be tried again, in the order in which it came back."""

    waiting: deque[RetryEntries] = field(default_factory=deque)
    entries: int = 0
    """The number of entries in all ranges that wait."""

    def add(self, again: RetryEntries, first: bool = False) -> None:
        """Adds work that came back. `first`: before all that is there."""
        (self.waiting.appendleft if first else self.waiting.append)(again)
        self.entries += again.entries

    def pick(self, worker: int, alone: bool, open_files: bool = True) -> RetryEntries | None:
        """Takes out the first work that the worker may try: anything if it is alone, else only work
        that it has not failed. `open_files`: whether that may be a file to be opened."""
        for i, again in enumerate(self.waiting):
            if (again.avoid != worker or alone) and (open_files or again.stop is not None):
                del self.waiting[i]
                self.entries -= again.entries
                return again
        return None


@dataclass(eq=False, slots=True)
class WorkerState:
    """A worker that has joined, the file that it reads, and the packet that it has."""

    number: int
    host: str | None = None
    file: File | None = None
    speed: float = 0.0  # entries per second of its last packet
    opening: bool = False
    opened_in: float = 0.0  # the seconds that opening its file took
    files: Sequence[int] = ()  # the numbers of small ones, all of which it processes
    last_commit: float = 0.0
    sent: float = 0.0  # when it was told to commit last
    aside: int | None = None  # the number of a packet before which it is to put its partial aside
    packet: Packet | None = None
    began: float = 0.0  # when it got that packet, or was told to open its file or to commit
    waits: bool = False  # it has asked for that packet, and waits for the answer
    copied: bool = False  # another worker has that packet too
    leaving: bool = False  # it gets no more packets
    recalled: bool = False  # it begins nothing more of what is reserved for it, once it hears that
    tainted: bool = False  # its partial holds, or will hold, a packet that another one did first
    ahead: int = 0  # entries that are worth a promise, as it said last; 0: its files are near
    coming: dict[File, float] = field(
        default_factory=dict
    )  # files that it opens beside: since when
    declined: set[File] = field(default_factory=set)  # of these, the files that others will read
    ready: deque[File] = field(default_factory=deque)  # files that it has opened so, to be read
    opened: set[int] = field(default_factory=set)  # far files that it has read from or opened

    @property
    def has_work(self) -> bool:
        """Whether it has an order that is no commit."""
        return self.packet is not None or self.opening or bool(self.files)

    @property
    def is_free(self) -> bool:
        """Whether it has no order but, perhaps, to commit."""
        return not (self.has_work or self.tainted)

    def process(self, packet: Packet, now: float, copied: bool = False) -> Process:
        """Notes that the worker gets the packet, and makes the order."""
        self.packet, self.began, self.copied = packet, now, copied
        self.waits = False
        if packet.number == self.aside:
            self.aside = None
        return Process(self.number, packet)


@dataclass
class Ending:
    """Why the query ends early, if it does; whether workers were told; whether it is over."""

    reason: str | None = None
    error: BaseException | None = None
    announced: bool = False
    over: bool = False


@dataclass
class Totals:
    """What is known of the files' sizes."""

    known: int = 0  # entries of files whose size is known
    files: int = 0  # the number of these files
    unknown: int = 0  # files whose size is not known and that may still be opened

    @classmethod
    def of(cls, sizes: Sequence[FileSize | None]) -> Totals:
        """The totals at the start, of files of these sizes."""
        known = [size.entries for size in sizes if size is not None]
        return cls(sum(known), len(known), len(sizes) - len(known))

    def opened(self, entries: int, files: int = 1) -> None:
        """Notes that the size of a file, or of several together, has become known."""
        self.unknown -= files
        self.files += files
        self.known += entries

    @property
    def mean(self) -> float:
        """The mean number of entries of the files whose size is known."""
        return self.known / self.files if self.files else 0.0

    @property
    def rest(self) -> float:
        """Entries of the files of unknown size, which count as many as the others on average."""
        return self.unknown * self.mean

    @property
    def expected(self) -> int:
        """Entries of all files; those of unknown size count as many as the others on average."""
        return self.known + int(self.rest)


class WorkerGone(Exception):  # noqa: N818 - what happened, not a mistake
    """A worker was lost with a packet in its hands."""

    span: tuple[int, int, int | None] | None = None
    """The file and its entries, if the coverage does not say that they are missing for this."""
