"""The files of a query by number. There may be many of them, and one order may be for hundreds: a
file has an object only if it is treated by itself. Knows no node, no worker and no packet."""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import groupby

from .entities import File
from .events import FileSize

__all__ = ["Counts", "Files", "FreshFiles", "joined_numbers"]


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
