"""The protocols between a selector at work and what its chunks are made from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import awkward as ak
    import numpy as np
    from numpy.typing import NDArray

    from .._core import Control
    from ..data.column_source import ColumnSource
    from ..data.file_constants import DataFile
    from ..errors import SourceError, TreemillError
    from .remembered_columns import Key
    from .selector import Chunk
    from .workload import FileState

    Places = NDArray[np.int64]

__all__ = ["OBJECTS", "ChunkReader", "ChunkSource", "ReaderMaker"]

OBJECTS = "objects"
"""The attribute of a chunk with the names of what a node defines and only expressions can use."""


class ChunkSource(Protocol):
    """Makes one worker's chunks: of a chain's files, or of cycles."""

    def path(self, file: int) -> str | None:
        """The file's path; None if there is no file."""

    def file(self, file: int) -> DataFile | None:
        """The file as `Selector.begin_file` gets it; None if there is none."""

    def changed(self, file: int) -> SourceError | None:
        """The error if the file is not any more what the pass has seen of it: see Workload."""

    def states(self, files: Iterable[int]) -> Mapping[str, FileState]:
        """The states of the files that chunks of these were read from: see Workload."""

    def size(self, file: int) -> tuple[int, tuple[int, ...]]:
        """The file's number of entries, and the entries before which packets may end."""

    def spans(self, file: int, start: int, stop: int) -> Iterator[tuple[int, int]]:
        """Cuts a packet into chunks. The caller calls `took` for each of them before the next."""

    def took(self, entries: int, seconds: float) -> None:
        """Notes how long a chunk took."""

    def events(self, file: int, span: tuple[int, int], stop: int, control: Control) -> Chunk | None:
        """The chunk of these entries, of a packet that ends at `stop`; None if all of them are
        filtered out. `control` counts what is read."""

    @property
    def learned(self) -> tuple[Key, frozenset[str]] | None:
        """Which columns which selector touches; None if it is not worth knowing."""

    def open(self, file: int) -> None:
        """Opens the file if it is on a server. All threads may call this."""

    def ask(self, file: int, start: int, stop: int, control: Control) -> object | None:
        """Asks for the bytes that these entries will want, as far as that is known, and does not
        wait for them. They are kept as long as the answer is. None if there is nothing to ask for:
        the file is near. All threads may call this."""

    def ahead(self, file: int) -> int:
        """Returns how many entries are worth being asked for before they are needed; 0 if the file
        is near, or if it is not known what they will want."""


class ChunkReader(Protocol):
    """Makes the chunks of one tree."""

    def refuse(self, columns: Mapping[str, TreemillError]) -> None:
        """Names columns of the tree that must not be read, each with the error that reading it
        raises."""

    def chunk(
        self,
        start: int,
        stop: int,
        metadata: Mapping[str, object],
        control: Control | None = None,
        kept: Places | None = None,
        ahead: int = 0,
    ) -> ak.Array:
        """The entries `[start, stop)`, or only those of them at the places `kept`. Columns are read
        when they are touched, for all entries up to `ahead` if that is beyond `stop`."""


ReaderMaker = Callable[["ColumnSource", set[str]], ChunkReader]
"""Makes the reader of a tree. The set names the columns that chunks have touched, and grows."""
