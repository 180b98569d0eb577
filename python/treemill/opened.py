"""Open trees of a dataset: opens files when needed, keeps the most recent ones, notices when a file
was written anew. The only module that asks the core for files.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from .caching import prepare
from .errors import QueryError, SourceError, TreemillError
from .fallback import Known
from .filetree import FileTree, Sample
from .location import Location
from .missing import ERROR, Missing
from .shared import OpenTree, Stamp, shared, stamp

__all__ = ["OpenTrees", "Remembered", "tree_names"]

_KEPT = 64
"""Open files at most: below the number that systems allow, above any number of workers."""


class OpenTrees:
    """The dataset's trees by their number. Thread-safe."""

    def __init__(
        self, locations: Sequence[Location], missing: Missing = ERROR, kept: int = _KEPT
    ) -> None:
        self.locations = tuple(locations)
        self.missing = missing
        self._kept = kept
        self._known: Known = {}
        self._open: OrderedDict[int, tuple[Stamp, FileTree]] = OrderedDict()
        self._remembered: dict[int, tuple[Stamp, dict[Remembered, Any]]] = {}
        self._lock = threading.Lock()

    def __getitem__(self, number: int) -> FileTree:
        """The tree of file `number`, as it is now."""
        location = self.locations[number]
        now = stamp(location.path)
        with self._lock:
            known = self._open.get(number)
            if known is not None and known[0] == now:
                self._open.move_to_end(number)
                return known[1]
        # Opened outside the lock: another thread may do the same at the same time, once.
        found = shared(location.path, location.tree, now, lambda: _open(location))
        others = _Others(self, number)
        tree = FileTree(found, location.path, self.missing, others, self._known)
        with self._lock:
            self._open[number] = (now, tree)
            self._open.move_to_end(number)
            while len(self._open) > self._kept:
                self._open.popitem(last=False)
        return tree

    def remembered(self, number: int) -> dict[Remembered, Any]:
        """What was worked out from the metadata of file `number` as it is now; opens nothing.
        Raises SourceError where it is gone."""
        now = stamp(self.locations[number].path)
        with self._lock:
            known = self._remembered.get(number)
            if known is None or known[0] != now:
                known = self._remembered[number] = (now, {})
        return known[1]


class _Others:
    """The dataset's files but for one; implements filetree.Others."""

    def __init__(self, trees: OpenTrees, besides: int) -> None:
        self._trees = trees
        self._numbers = [n for n in range(len(trees.locations)) if n != besides]

    def sample(self, branch: str) -> Sample | None:
        import pyarrow

        for tree in self._opened():
            try:
                if branch in tree.by_name:
                    (empty,) = tree.read([branch], 0, 0)
                    return tree.by_name[branch], pyarrow.array(empty).type
            except TreemillError:
                continue
        return None

    def names(self) -> Iterable[str]:
        for tree in self._opened():
            return tree.by_name
        return ()

    def _opened(self) -> Iterator[FileTree]:
        """Those that can be opened: what is wrong with others is for whoever reads them."""
        for number in self._numbers:
            try:
                tree = self._trees[number]
            except TreemillError:
                continue
            yield tree


def _open(location: Location) -> OpenTree:
    from . import _core

    if os.path.isdir(location.path):
        raise SourceError(
            f"{location.path} is a directory; its files are {location.path}/*.root",
            file=location.path,
        )
    prepare()
    file = _core.File(location.path)
    name = location.tree
    if name is None:
        name = _only_tree(location.path, tree_names(file))
    return OpenTree(file.tree(name), name)


def tree_names(file: Any) -> list[str]:
    """Names of the file's trees, with their directories; cycles of one tree count once."""
    return list(dict.fromkeys(str(tree["path"]) for tree in file.trees()))


def _only_tree(path: str, names: list[str]) -> str:
    if len(names) == 1:
        return names[0]
    if not names:
        raise QueryError(f"{path} has no tree", file=path)
    shown = ", ".join(names[:10]) + (" …" if len(names) > 10 else "")
    raise QueryError(
        f"{path} has {len(names)} trees; say which: {shown}", file=path, suggestions=names[:10]
    )


class Remembered:
    """Values worked out from a file's metadata, kept while the file stays as it is. Thread-safe."""

    def __init__(self, trees: OpenTrees, make: Callable[[FileTree], Any]) -> None:
        self._trees = trees
        self._make = make

    def peek(self, number: int) -> Any:
        """The value if it is known and still true, else None; opens nothing."""
        return self._trees.remembered(number).get(self)

    def __getitem__(self, number: int) -> Any:
        known = self._trees.remembered(number)
        if self not in known:
            known[self] = self._make(self._trees[number])
        return known[self]
