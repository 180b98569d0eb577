"""Reads the bytes of files in blocks, wherever they lie, and makes nothing of them: a selector
without data, whose cycles are numbers of blocks. Knows no ROOT file and no session."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence, Sized
from itertools import accumulate
from typing import Protocol

__all__ = ["BlockReader"]


class _Numbers(Sized, Protocol):
    """A chunk of numbers of blocks."""

    start: int
    stop: int


class BlockReader:
    """Reads blocks of files one after the other, as they are numbered over all files."""

    def __init__(self, files: Sequence[tuple[str, int]], block: int) -> None:
        """`files`: addresses and sizes in bytes. `block`: bytes of a block."""
        self.files = list(files)
        self.block = block
        self._ends = list(accumulate(-(-size // block) for _, size in files))
        self.__name__ = "scan-storage"

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def place(self, number: int) -> tuple[str, int, int]:
        """The file of a block, and where it starts and ends there.

        >>> BlockReader([("a", 10), ("b", 5)], 4).place(3)
        ('b', 0, 4)
        """
        file = bisect_right(self._ends, number)
        path, size = self.files[file]
        start = (number - (self._ends[file - 1] if file else 0)) * self.block
        return path, start, min(start + self.block, size)

    def spans(self, start: int, stop: int) -> list[tuple[str, int, int]]:
        """Returns what these blocks are of each file, in order.

        >>> BlockReader([("a", 10), ("b", 5)], 4).spans(1, 4)
        [('a', 4, 10), ('b', 0, 4)]
        """
        ranges: list[tuple[str, int, int]] = []
        for number in range(start, stop):
            path, first, last = self.place(number)
            if ranges and ranges[-1][0] == path and ranges[-1][2] == first:
                first = ranges.pop()[1]
            ranges.append((path, first, last))
        return ranges

    def __call__(self, numbers: _Numbers) -> dict[str, object]:
        """Reads these blocks. Raises SourceError if a file cannot be read, or is shorter now."""
        from treemill import _core  # heavy: core

        done = 0
        for path, start, stop in self.spans(numbers.start, numbers.stop):
            read, _ = _core.Stored(path).drain(start, stop, self.block)
            done += read
        return {"bytes": done}
