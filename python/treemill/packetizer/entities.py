"""What the packetizer remembers of files, workers and work to be done again."""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from .events import Packet, Process


@dataclass(frozen=True)
class FileSize:
    """A file's entries and cuts where they are known before the query starts."""

    entries: int
    cuts: tuple[int, ...] = ()


@dataclass(eq=False, slots=True)
class File:
    """A file of the dataset, and how far it was handed out."""

    number: int
    entries: int | None = None
    cuts: tuple[int, ...] = ()
    next: int = 0  # first entry that was never handed out
    attempts: int = 0  # to open it

    @property
    def left(self) -> int:
        """Entries that were never handed out."""
        return 0 if self.entries is None else self.entries - self.next

    def cut(self, wanted: int) -> int:
        """Where a packet of about `wanted` entries ends: at the last cut within, else the first
        after, so that no cluster is read by two workers."""
        entries = self.entries or 0
        target = self.next + wanted
        if target >= entries:
            return entries
        i = bisect_right(self.cuts, target)
        if i > 0 and self.cuts[i - 1] > self.next:
            return min(self.cuts[i - 1], entries)
        if i < len(self.cuts):
            return min(self.cuts[i], entries)
        return entries if self.cuts else target


@dataclass
class Again:
    """A range or (stop None) a file to be tried again, by another worker than `avoid` if there is
    one."""

    file: int
    start: int
    stop: int | None
    attempt: int
    avoid: int | None


@dataclass
class Retries:
    """What is to be tried again, first come first served."""

    waiting: deque[Again] = field(default_factory=deque)

    def pick(self, worker: int, alone: bool) -> Again | None:
        """What the worker may try; what it failed with only where it is alone."""
        for i, again in enumerate(self.waiting):
            if again.avoid != worker or alone:
                del self.waiting[i]
                return again
        return None


@dataclass(eq=False, slots=True)
class Worker:
    """A worker that is there, the file that it is on, and the packet that it has."""

    number: int
    host: str | None = None
    file: File | None = None
    speed: float = 0.0  # entries per second of its last packet
    opening: bool = False
    last_commit: float = 0.0
    packet: Packet | None = None
    began: float = 0.0  # with that packet
    copied: bool = False  # somebody else has that packet too
    tainted: bool = False  # its partial holds, or will hold, what another one was first with

    def process(self, packet: Packet, now: float, copied: bool = False) -> Process:
        """It gets the packet."""
        self.packet, self.began, self.copied = packet, now, copied
        return Process(self.number, packet)


@dataclass
class Ending:
    """Why the query ends before its time, if it does, and how far that is."""

    reason: str | None = None
    error: BaseException | None = None
    announced: bool = False
    over: bool = False


@dataclass
class Totals:
    """Sums over the files."""

    known: int = 0  # entries of files whose size is known
    files: int = 0  # how many those are
    unassigned: int = 0  # of them, not handed out (again)
    unknown: int = 0  # files whose size is not known

    @classmethod
    def of(cls, files: Sequence[File]) -> Totals:
        """Before anything is handed out."""
        known = [file.entries for file in files if file.entries is not None]
        return cls(sum(known), len(known), sum(known), len(files) - len(known))

    def opened(self, entries: int) -> None:
        """A file's size has become known."""
        self.unknown -= 1
        self.files += 1
        self.known += entries
        self.unassigned += entries

    @property
    def mean(self) -> float:
        """Entries of a file, as far as is known."""
        return self.known / self.files if self.files else 0.0

    @property
    def left(self) -> float:
        """Entries that are not handed out, files of unknown size being as the others on average."""
        return self.unassigned + self.unknown * self.mean

    @property
    def expected(self) -> int:
        """Entries of all files, likewise."""
        return self.known + int(self.unknown * self.mean)


class WorkerGone(Exception):  # noqa: N818 - what happened, not a mistake
    """A worker was lost with a packet in its hands."""
