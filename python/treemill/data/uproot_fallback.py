"""Branches that the core cannot read, read by uproot: slower, and only if uproot says that it knows
the type. uproot is imported when it is needed.

Knows one tree of one file, and what uproot has said of such branches in the dataset's other files;
knows no dataset and no query.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Sequence
from copy import copy
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Protocol, cast

from .._system.cache import prepare
from ..errors import SourceError, TreemillError, UnsupportedError
from .source import is_far

if TYPE_CHECKING:
    from queue import Queue

    import awkward as ak
    from uproot.source.chunk import Chunk
    from uproot.source.cursor import Cursor

    from .._core import Column, File

__all__ = ["Fallback", "Known", "cannot_read", "uproot_file"]

# Files that are open in the core, as uproot opens them: uproot reads their bytes through the
# core, wherever they are. So it needs no transports of its own, and reads the file that the core
# has open. Knows files of the core and uproot, which is imported when it is needed; knows no
# tree.


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


Known = dict[tuple[str, str], "Column | None"]
"""Columns without entries by a branch's path and C++ type; None if uproot does not know the
type. uproot takes long to open a file, so that the dataset's files share what it says."""


class _Form(Protocol):
    def length_zero_array(self) -> ak.Array: ...


class _Interpretation(Protocol):
    def awkward_form(self, file: object) -> _Form: ...


class _UprootBranch(Protocol):
    """What this module uses of uproot's TBranch."""

    name: str
    file: object
    branches: Sequence[_UprootBranch]
    interpretation: _Interpretation

    def array(
        self, interpretation: object, *, entry_start: int, entry_stop: int, library: str
    ) -> ak.Array: ...


class _UprootTree(Protocol):
    branches: Sequence[_UprootBranch]


def cannot_read(
    name: str, cpp_type: str, reason: str | None, file: str | None = None
) -> UnsupportedError:
    """The error that neither the core nor uproot reads a branch."""
    ending = f": {reason}" if reason else ""
    return UnsupportedError(
        f"neither treemill nor uproot can read {cpp_type} of branch {name}{ending}",
        branch=name,
        file=file,
    )


class Fallback:
    """The tree of one file, read by uproot, which opens it at the first question. Thread-safe:
    uproot holds the GIL while it reads, so that one reader at a time costs nothing."""

    def __init__(
        self, path: str, tree: str, known: Known | None = None, file: File | None = None
    ) -> None:
        """`tree`: its name with directories and cycle. `known`: what the dataset's files share.
        `file`: the open file, through which uproot reads if it is on a server."""
        self._path = path
        self._file = file
        self._tree = tree
        self._known: Known = {} if known is None else known
        self._lock = threading.Lock()
        self._by_path: dict[str, _UprootBranch] | None = None

    def can(self, branch: str, cpp_type: str) -> bool:
        """True if uproot says that it can read the branch at this path (`parent/child`)."""
        return self._empty(branch, cpp_type) is not None

    def _empty(self, branch: str, cpp_type: str) -> Column | None:
        """The branch's column without entries; None if uproot does not know its type."""
        key = branch, cpp_type
        if key not in self._known:
            try:
                with self._lock:
                    self._known[key] = _empty(self._branches().get(branch))
            except TreemillError:
                raise
            except Exception:
                self._known[key] = None
        return self._known[key]

    def read(self, branch: str, cpp_type: str, start: int, stop: int) -> Column:
        """Entries `[start, stop)`, of one kind whatever the entries are. Raises UnsupportedError,
        with the branch and its C++ type, if uproot cannot read them."""
        empty = self._empty(branch, cpp_type)
        if start == stop and empty is not None:
            return empty
        try:
            with self._lock:
                return _read(self._branches()[branch], empty, start, stop)
        except (MemoryError, TreemillError):
            raise
        except Exception as error:  # uproot raises exceptions of many classes
            words = (str(error).strip().splitlines() or [""])[0]
            raise UnsupportedError(
                f"neither treemill nor uproot can read {cpp_type} of branch {branch}; "
                f"uproot: {type(error).__name__}: {words}",
                file=self._path,
                branch=branch,
                entries=(start, stop),
            ) from error

    def _branches(self) -> dict[str, _UprootBranch]:
        """uproot's branches by path."""
        if self._by_path is None:
            try:
                # Without caches: the callers keep the columns that they need.
                file = uproot_file(self._path, self._file, object_cache=None, array_cache=None)
            except OSError as error:
                raise SourceError(f"{error}: {self._path}", file=self._path) from None
            branches: dict[str, _UprootBranch] = {}
            seen: Counter[str] = Counter()
            for branch in cast("_UprootTree", file[self._tree]).branches:
                seen[branch.name] += 1
                # The core numbers top branches of one name.
                number = f";{seen[branch.name]}" if seen[branch.name] > 1 else ""
                _collect(branch, branch.name + number, branches)
            self._by_path = branches
        return self._by_path


def _empty(branch: _UprootBranch | None) -> Column | None:
    """A column without entries of uproot's branch; None if uproot does not know its type."""
    if branch is None or not _is_known(branch.interpretation):
        return None
    from .columns import column_of  # heavy: numpy

    # An array that uproot reads without entries may have no type; the form has one.
    form = branch.interpretation.awkward_form(branch.file)
    return column_of(form.length_zero_array())


def _read(branch: _UprootBranch, empty: Column | None, start: int, stop: int) -> Column:
    from .columns import column_of, kind_of  # heavy: numpy
    from .common_type import cast  # heavy: numpy

    known = _within_bytes(branch.interpretation)
    array = branch.array(known, entry_start=start, entry_stop=stop, library="ak")
    if len(array) != stop - start:
        raise ValueError(f"{len(array)} entries instead of {stop - start}")
    column = column_of(array)
    return column if empty is None else cast(column, kind_of(empty))


def _within_bytes(interpretation: object) -> object:
    """uproot's interpretation of a branch, which takes no container for longer than the bytes of
    its entry are many: uproot makes room for as many items as bytes say before it reads them, and
    bytes that it misunderstands say any number."""
    from uproot.containers import AsContainer
    from uproot.interpretation.objects import AsObjects

    if not isinstance(interpretation, AsObjects):
        return interpretation
    model, cursor_of = interpretation.model, _bounded_cursor()

    def read(chunk: Chunk, cursor: Cursor, *arguments: object, **options: object) -> object:
        return model.read(chunk, cursor_of(cursor.index, cursor.origin), *arguments, **options)

    if isinstance(model, AsContainer):
        bounded = copy(model)
        bounded.read = read
    else:
        bounded = type(model.__name__, (model,), {"read": staticmethod(read)})
    return AsObjects(bounded, interpretation.branch)


@cache
def _bounded_cursor() -> type:
    """uproot's place in the bytes of an entry, where lengths of containers are within bounds."""
    from uproot import containers
    from uproot.source.cursor import Cursor

    length_of_container = getattr(containers, "_stl_container_size", None)

    class BoundedCursor(Cursor):  # type: ignore[misc]
        def field(self, chunk: Chunk, form: object, *more: object, **options: object) -> object:
            value = super().field(chunk, form, *more, **options)
            if form is length_of_container and value > chunk.stop - self.index:
                left = chunk.stop - self.index
                raise ValueError(f"a container of {value} items where {left} bytes are left")
            known: object = value
            return known

    return BoundedCursor


def _collect(branch: _UprootBranch, path: str, known: dict[str, _UprootBranch]) -> None:
    known.setdefault(path, branch)
    for child in branch.branches:
        _collect(child, f"{path}/{child.name}", known)


def _is_known(interpretation: object) -> bool:
    """True if uproot has an interpretation, and it is one of data, not of a group of branches."""
    from uproot.interpretation.grouped import AsGrouped
    from uproot.interpretation.identify import UnknownInterpretation

    return not isinstance(interpretation, (UnknownInterpretation, AsGrouped))
