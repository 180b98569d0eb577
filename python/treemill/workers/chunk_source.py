"""The protocols between a selector at work and what its chunks are made from."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Protocol

__all__ = [
    "OBJECTS",
    "ChunkReader",
    "ChunkSource",
    "Key",
    "ReaderMaker",
    "key_of",
    "recall",
    "remember",
]

# What this process remembers of selectors: the columns that each has touched. A selector is the
# same as long as its classes are called the same and have the same code. Knows no chunk and no
# file.

Key = str
_MOST = 256
"""Selectors that are remembered; a notebook may define one again and again."""

_known: OrderedDict[Key, frozenset[str]] = OrderedDict()
_lock = threading.Lock()


def key_of(selector: object) -> Key:
    """Names a selector's class, or that of the coffea processor in it, and its code."""
    kind = type(getattr(selector, "processor", selector))
    digest = hashlib.sha256()
    for base in kind.__mro__:
        if base.__module__.partition(".")[0] in ("builtins", "treemill", "coffea"):
            continue
        digest.update(base.__qualname__.encode())
        for name, value in sorted(vars(base).items()):
            if isinstance(value, FunctionType):
                digest.update(name.encode())
                _add(digest, value.__code__)
    return f"{kind.__module__}.{kind.__qualname__}:{digest.hexdigest()}"


def _add(digest: hashlib._Hash, code: CodeType) -> None:
    digest.update(code.co_code)
    digest.update(repr(code.co_names).encode())
    for value in code.co_consts:
        if isinstance(value, CodeType):
            _add(digest, value)
        else:
            digest.update(repr(value).encode())


def recall(key: Key) -> frozenset[str]:
    """The columns that the selector has touched in its last run; empty if it is not known."""
    with _lock:
        columns = _known.get(key)
        if columns is None:
            return frozenset()
        _known.move_to_end(key)
        return columns


def remember(key: Key, touched: Iterable[str]) -> None:
    """Notes which columns the selector touches."""
    with _lock:
        _known[key] = frozenset(touched)
        _known.move_to_end(key)
        while len(_known) > _MOST:
            _known.popitem(last=False)


if TYPE_CHECKING:
    import awkward as ak
    import numpy as np
    from numpy.typing import NDArray

    from .._core import Control
    from ..data.column_source import ColumnSource
    from ..data.file_constants import DataFile
    from ..errors import SourceError, TreemillError
    from .selector import Chunk
    from .workload import FileState

    Places = NDArray[np.int64]


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

    def opens(self, file: int, then: Callable[[], None]) -> bool:
        """Has the file opened in the background: see Workload."""

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
