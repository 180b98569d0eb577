"""Reads the bytes of files in blocks, without making anything of them: a selector without data,
whose cycles are numbers of blocks. Knows no ROOT file and no session."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Sequence, Sized
from itertools import accumulate
from typing import Protocol

from ..errors import SourceError

__all__ = ["BlockReader"]


class _Numbers(Sized, Protocol):
    """A chunk of numbers of blocks."""

    start: int
    stop: int


class BlockReader:
    """Reads blocks of files one after the other, as they are numbered over all files."""

    def __init__(self, files: Sequence[tuple[str, int]], block: int) -> None:
        """`files`: paths and sizes in bytes. `block`: bytes of a block."""
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

    def __call__(self, numbers: _Numbers) -> dict[str, object]:
        """Reads these blocks. Raises SourceError if a file cannot be read, or is shorter now."""
        done = 0
        for number in range(numbers.start, numbers.stop):
            path, start, stop = self.place(number)
            try:
                done += _read(path, start, stop)
            except OSError as error:
                raise SourceError(f"cannot read {path}: {error.strerror}", file=path) from error
        return {"bytes": done}


def _read(path: str, start: int, stop: int) -> int:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        at = start
        while at < stop:
            got = len(os.pread(descriptor, stop - at, at))
            if not got:
                raise SourceError(f"{path} ends at byte {at}, and had more before", file=path)
            at += got
        return stop - start
    finally:
        os.close(descriptor)
