"""What the packetizer remembers of files, workers and work to be done again."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class FileSize:
    """A file's entries and cuts where they are known before the query starts."""

    entries: int
    cuts: tuple[int, ...] = ()


@dataclass
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
class Worker:
    """A worker that is there, and the file that it is on."""

    number: int
    file: File | None = None
    opening: bool = False
    last_commit: float = 0.0


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


class WorkerGone(Exception):  # noqa: N818 - what happened, not a mistake
    """A worker was lost with a packet in its hands."""
