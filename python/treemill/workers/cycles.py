"""Chunks of a selector that runs without data: numbers of cycles, in each of which it generates an
event. Implements `chunk_source.ChunkSource`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ..frozen import frozen

if TYPE_CHECKING:
    from .._core import Control
    from .workload import FileState

__all__ = ["CycleChunks", "Cycles"]

_LARGEST_CHUNK = 10_000
_CHUNKS = 1000


@frozen
class Cycles:
    """What `process` gets if there is no data: cycles `[start, stop)` to generate."""

    start: int
    stop: int

    def __len__(self) -> int:
        return self.stop - self.start

    def __repr__(self) -> str:
        return f"<cycles {self.start}..{self.stop}>"


class CycleChunks:
    """Cuts a number of cycles into chunks. Their size depends on the number of cycles only, and so
    do random numbers."""

    def __init__(self, cycles: int) -> None:
        self._cycles = cycles
        self._size = max(1, min(_LARGEST_CHUNK, -(-cycles // _CHUNKS)))

    def path(self, file: int) -> None:
        """See ChunkSource."""

    def file(self, file: int) -> None:
        """See ChunkSource."""

    def changed(self, file: int) -> None:
        """See ChunkSource."""

    def states(self, files: Iterable[int]) -> dict[str, FileState]:
        """See ChunkSource."""
        return {}

    def size(self, file: int) -> tuple[int, tuple[int, ...]]:
        """See ChunkSource."""
        return self._cycles, tuple(range(self._size, self._cycles, self._size))

    def spans(self, file: int, start: int, stop: int) -> Iterator[tuple[int, int]]:
        """See ChunkSource."""
        for first in range(start, stop, self._size):
            yield first, min(first + self._size, stop)

    @property
    def learned(self) -> None:
        """Nothing: there are no columns."""

    def open(self, file: int) -> None:
        """Nothing: there is no file."""

    def ask(self, file: int, start: int, stop: int, control: Control) -> None:
        """Nothing: there is no file."""

    def ahead(self, file: int) -> int:
        """None: there is no file."""
        return 0

    def took(self, entries: int, seconds: float) -> None:
        """See ChunkSource."""

    def events(self, file: int, span: tuple[int, int], stop: int, control: Control) -> Cycles:
        """See ChunkSource."""
        return Cycles(*span)
