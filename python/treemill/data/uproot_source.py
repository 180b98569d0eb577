"""Files that are open in the core, as uproot opens them: uproot reads their bytes through the core,
wherever they are. So it needs no transports of its own, and reads the file that the core has open.

Knows files of the core and uproot, which is imported when it is needed; knows no tree.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

from .._system.cache import prepare
from .source import is_far

if TYPE_CHECKING:
    from queue import Queue

    from .._core import File

__all__ = ["UprootFile", "uproot_file"]


class UprootFile(Protocol):
    """What is used of uproot's ReadOnlyDirectory."""

    def __getitem__(self, path: str, /) -> object:
        """The object at this path, with its cycle if there are several."""


def uproot_file(path: str, file: File | None = None, **options: object) -> UprootFile:
    """The file as uproot opens it. `file`: the one that is open in the core; None: it is opened.
    `options` are uproot's. Raises what reading raises."""
    import uproot

    if is_far(path):  # uproot maps files of this machine into memory
        options["handler"] = _source_of(file or _opened(path))
    opened: UprootFile = uproot.open({path: None}, **options)
    return opened


def _opened(path: str) -> File:
    from treemill import _core  # heavy: core

    prepare()
    return _core.File(path)


@lru_cache(maxsize=64)
def _source_of(file: File) -> type:
    """uproot makes its source from a class, of which it knows the path only."""
    from uproot.source.chunk import Chunk, Source
    from uproot.source.futures import TrivialExecutor, TrivialFuture

    size = file.state[0]

    class CoreSource(Source):  # type: ignore[misc]
        """See uproot.source.chunk.Source."""

        def __init__(self, file_path: str, **_: object) -> None:
            super().__init__()
            self._file_path = file_path
            self._num_bytes = size
            self._executor = TrivialExecutor()

        def __enter__(self) -> CoreSource:
            return self

        def __exit__(self, *error: object) -> None:
            pass

        @property
        def closed(self) -> bool:
            return False  # the core closes the file when nothing refers to it

        def chunk(self, start: int, stop: int) -> Chunk:
            return self.chunks([(start, stop)])[0]

        def chunks(
            self, ranges: list[tuple[int, int]], notifications: Queue[object] | None = None
        ) -> list[Chunk]:
            self._num_requests += 1
            self._num_requested_chunks += len(ranges)
            self._num_requested_bytes += sum(stop - start for start, stop in ranges)
            # uproot itself says what is wrong with a range that the file does not have.
            there = [(min(start, size), min(stop, size)) for start, stop in ranges]
            chunks = [
                Chunk(self, start, stop, TrivialFuture(data))
                for (start, stop), data in zip(ranges, file.read(there), strict=True)
            ]
            if notifications is not None:
                for chunk in chunks:
                    notifications.put(chunk)
            return chunks

    return CoreSource
