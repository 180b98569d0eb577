"""The packetizer's records of files, workers, and work to be done again. Knows events; knows no
nodes and no ledger."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections import deque
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from math import inf

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


# The files of a query by number. There may be many of them, and one order may be for hundreds: a
# file has an object only if it is treated by itself.


def joined_numbers(first: int, others: Sequence[int]) -> Sequence[int]:
    """A number and the ones after it. What follows one another is a range: one object, whose parts
    are ranges, too."""
    if not others:
        return range(first, first + 1)
    if isinstance(others, range) and others[0] == first + 1:
        return range(first, others.stop)
    return (first, *others)


class Counts:
    """A count for each of some files. Those that follow one another get theirs together."""

    def __init__(self) -> None:
        self._of = array("q")  # by file; -1: none

    def put(self, files: Sequence[int], counts: Iterable[int]) -> None:
        """Sets the counts of these files."""
        if not files:
            return
        lacking = max(files[-1] if isinstance(files, range) else max(files), 0) + 1 - len(self._of)
        if lacking > 0:
            self._of.extend(array("q", [-1]) * lacking)
        if isinstance(files, range):
            self._of[files.start : files.stop] = array("q", counts)
            return
        for file, count in zip(files, counts, strict=True):
            self._of[file] = count

    def take_out(self, files: Sequence[int]) -> None:
        """Takes the counts of these files out."""
        self.put(files, array("q", [-1]) * len(files))

    def get(self, file: int) -> int | None:
        """The count of a file; None if it has none."""
        count = self._of[file] if file < len(self._of) else -1
        return None if count < 0 else count

    def among(self, files: Sequence[int]) -> dict[int, int]:
        """The counts of those of these files that have one."""
        if isinstance(files, range):
            counts = self._of[files.start : files.stop]
            if max(counts, default=-1) < 0:
                return {}
            return {file: count for file, count in zip(files, counts, strict=False) if count >= 0}
        found = ((file, self.get(file)) for file in files)
        return {file: count for file, count in found if count is not None}

    def items(self) -> Iterator[tuple[int, int]]:
        """The files that have a count, in order, with it."""
        return ((file, count) for file, count in enumerate(self._of) if count >= 0)


class Files:
    """The files by number. What has no object was never handed out, or as a whole with others."""

    def __init__(self, sizes: Sequence[FileSize | None]) -> None:
        """`sizes`: of each file, if it is known."""
        self._sizes = sizes
        self._has_sizes = any(size is not None for size in sizes)
        self._made: dict[int, File] = {}
        self._whole = Counts()
        """The entries of files that were handed out as a whole, with others, if they are known."""

    def __len__(self) -> int:
        return len(self._sizes)

    def __getitem__(self, number: int) -> File:
        """The file, which has an object from now on."""
        made = self._made.get(number)
        if made is None:
            made = self._made[number] = self.peek(number)
        return made

    def __iter__(self) -> Iterator[File]:
        """All files, as `peek` gives them."""
        return map(self.peek, range(len(self)))

    def peek(self, number: int) -> File:
        """The file. What is changed in it is lost, unless it has an object."""
        file = self._made.get(number)
        if file is None:
            file = File.of(number, self._sizes[number])
            whole = self._whole.get(number)
            if whole is not None:
                file.entries = file.next = whole
        return file

    def known(self, numbers: Sequence[int]) -> dict[int, int]:
        """The entries of those of these files whose size is known."""
        found: dict[int, int] = {}
        if self._has_sizes:
            sizes = ((number, self._sizes[number]) for number in numbers)
            found = {number: size.entries for number, size in sizes if size is not None}
        found |= self._whole.among(numbers)
        made = ((file.number, file.entries) for file in self._made_of(numbers))
        return found | {number: entries for number, entries in made if entries is not None}

    def entries(self) -> dict[int, int]:
        """The entries of all files whose size is known."""
        return self.known(range(len(self)))

    def hand_out(self, numbers: Sequence[int], entries: Sequence[int]) -> None:
        """Notes that these files are handed out as a whole, with these entries."""
        self._whole.put(numbers, entries)
        if self._made:
            sizes = dict(zip(numbers, entries, strict=True))
            for file in self._made_of(numbers):
                file.entries = file.next = sizes[file.number]

    def take_back(self, numbers: Sequence[int]) -> None:
        """Notes that nothing of these files is handed out, which were as a whole."""
        self._whole.take_out(numbers)
        for file in self._made_of(numbers):
            file.next = 0

    def pieces(self, numbers: range) -> Iterator[range | File]:
        """Those of these files, of which nothing was handed out, that are to be read or whose size
        is unknown: one that has something done already by itself."""
        if not self._has_sizes and not self._made:
            yield numbers
            return
        for is_plain, group in groupby(numbers, self._is_plain):
            several = [*group]
            if is_plain:
                yield range(several[0], several[-1] + 1)
                continue
            for number in several:
                file = self._made.get(number)
                if file is not None and (file.entries is None or file.left):
                    yield file

    def left(self, numbers: Sequence[int]) -> tuple[int, int]:
        """How many of these files, of which no entry was handed out, are of unknown size, and how
        many entries the others have that are not done."""
        known = self.known(numbers)
        made = ((file.entries, file.left) for file in self._made_of(numbers))
        done = sum([entries - left for entries, left in made if entries is not None])
        return len(numbers) - len(known), sum(known.values()) - done

    def _is_plain(self, number: int) -> bool:
        """True if the file is to be read from its first entry to its last."""
        made = self._made.get(number)
        if made is not None:
            return made.is_whole and made.entries != 0
        size = self._sizes[number]
        return size is None or size.entries > 0

    def _made_of(self, numbers: Sequence[int]) -> Iterator[File]:
        """Those of these files that have objects."""
        if isinstance(numbers, range) and len(self._made) < len(numbers):
            return (file for number, file in self._made.items() if number in numbers)
        return (self._made[number] for number in numbers if number in self._made)


class FreshFiles:
    """Files in order of which no entry was handed out: runs of numbers, and files of which
    something is done already or was tried."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._pieces: deque[range | File] = deque()
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[int]:
        """Their numbers."""
        for piece in self._pieces:
            if isinstance(piece, range):
                yield from piece
            else:
                yield piece.number

    def append(self, piece: range | File) -> None:
        """Adds a run, or a file, after the others."""
        self._pieces.append(piece)
        self._count += len(piece) if isinstance(piece, range) else 1

    def put_back(self, piece: range | File) -> None:
        """Adds a run, or a file, before the others."""
        self._count += len(piece) if isinstance(piece, range) else 1
        if isinstance(piece, range) and self._pieces:
            next_piece = self._pieces[0]
            if isinstance(next_piece, range) and next_piece.start == piece.stop:
                self._pieces[0] = range(piece.start, next_piece.stop)
                return
        self._pieces.appendleft(piece)

    def pop(self) -> File:
        """Takes out the first one. There must be one."""
        self._count -= 1
        piece = self._pieces.popleft()
        if not isinstance(piece, range):
            return piece
        if len(piece) > 1:
            self._pieces.appendleft(piece[1:])
        return self._files[piece[0]]

    def take(self, most: int, largest: int) -> Sequence[int]:
        """Takes out up to `most` files, as far as nothing is special about them, and none has more
        entries than `largest`, as far as that is known."""
        taken: list[range] = []
        while most > 0 and self._pieces:
            piece = self._pieces[0]
            if not isinstance(piece, range):
                break
            wanted = piece[:most]
            large = (n for n, entries in self._files.known(wanted).items() if entries > largest)
            if (first := min(large, default=None)) is not None:
                wanted = range(wanted.start, first)
            if not wanted:
                break
            taken.append(wanted)
            most -= len(wanted)
            self._pieces.popleft()
            if len(wanted) < len(piece):
                self._pieces.appendleft(piece[len(wanted) :])
        self._count -= sum(map(len, taken))
        if len(taken) == 1:
            return taken[0]
        return [number for numbers in taken for number in numbers]

    def withdraw(self, files: Container[int]) -> list[int]:
        """Takes these files out, and returns those that were there."""
        pieces, self._pieces, found = self._pieces, deque(), list[int]()
        self._count = 0
        for piece in pieces:
            if not isinstance(piece, range):
                if piece.number in files:
                    found.append(piece.number)
                else:
                    self.append(piece)
                continue
            for is_there, group in groupby(piece, files.__contains__):
                numbers = [*group]
                if is_there:
                    found += numbers
                else:
                    self.append(range(numbers[0], numbers[-1] + 1))
        return found


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
    joined: float = 0.0  # when
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


_SOME = 3
"""Losses of workers that tell how long the others will live."""


@dataclass
class Lifetimes:
    """For how long workers are there until one is lost that had something to lose."""

    losses: int = 0
    _there: int = 0
    _seconds: float = 0.0  # of those that are gone, minus when those that are there have joined

    def joined(self, now: float) -> None:
        """A worker has joined."""
        self._there += 1
        self._seconds -= now

    def gone(self, now: float, is_loss: bool) -> None:
        """A worker is gone. `is_loss`: whether work was lost with it."""
        self._there -= 1
        self._seconds += now
        self.losses += is_loss

    def mean(self, now: float) -> float:
        """The seconds for which a worker is there, on average; infinity as long as few are lost."""
        if self.losses < _SOME:
            return inf
        return (self._seconds + self._there * now) / self.losses


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
