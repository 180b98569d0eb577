"""What the core needs to run small files by itself, without a call of Python for each: their
addresses, constants, the defaults of columns that some lack, and the columns of friends. Binds and
runs nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from treemill import _core

from ..data.defaults import one_entry
from ..data.foreign import NUMBERING
from ..errors import TreemillError
from ..frozen import frozen
from ..language.function_registry import TREE_WEIGHT
from .file_query import RELATED, is_meant

if TYPE_CHECKING:
    from .._core import Column
    from ..data.chain import Chain
    from ..data.file_constants import Constant
    from ..data.friend_columns import JoinedFriend
    from .file_query import PerFile
    from .workload import Span

__all__ = ["PlainFiles", "PlainParts"]

_Default = tuple[str, "Column | None", bool, "str | None"]


@frozen
class PlainParts:
    """Parts of files for one call of the core."""

    spans: Sequence[Span]
    constants: list[list[tuple[str, Constant]]]
    """Of each part; empty if the query needs none."""
    beside: _core.Beside | None


class PlainFiles:
    """Says which files the core can run by itself. Thread-safe."""

    def __init__(self, query: PerFile, chain: Chain) -> None:
        self._chain = chain
        self._words = query.words
        self.applies = self._suits(chain)
        """Whether there may be such files at all: the query needs what each file's own tree has,
        under its own names, constants, defaults and friends, all of which are near."""
        self._lock = threading.Lock()
        self._names: list[str] | None = None
        self._beside: tuple[int, _core.Beside] | None = None

    def _suits(self, chain: Chain) -> bool:
        words = self._words
        return (
            not chain.trees.far
            and chain.schema is None
            and chain.selected is None
            and words.isdisjoint(RELATED)
            and words.isdisjoint(NUMBERING)
            and TREE_WEIGHT not in words
            and not any("/" in word for word in words)
            and not self._records(chain)
        )

    def _records(self, chain: Chain) -> bool:
        """Whether the first file records friends, whose names are refused in files without."""
        try:
            return len(chain.locations) > 1 and bool(chain.friends.meant(chain))
        except TreemillError:  # to bind the file raises that
            return True

    def parts(self, spans: Sequence[Span]) -> PlainParts | None:
        """The first of these parts of files, as far as the core can run them; None if there is
        none. To bind the next one raises what is wrong with it, or needs Python."""
        beside = self._known_beside()
        if not self.applies or self._has_own_names(spans[0][0]):
            return None
        constants = self._constants(spans)
        if constants is not None:
            spans = spans[: len(constants)]
        return PlainParts(spans, constants or [], beside)

    def agreeing(self, count: int, parts: PlainParts) -> int:
        """How many of the first `count` files, which the core has run, are what a list of files has
        seen of them, up to the first that is not."""
        if not self._chain.trees.is_listed:
            return count
        return self._chain.trees.verified([file for file, *_ in parts.spans[:count]])

    def _constants(self, spans: Sequence[Span]) -> list[list[tuple[str, Constant]]] | None:
        """The constants that the query needs of the files of these parts, with their names; None if
        it needs none. Ends before the first file of which they cannot be had."""
        chain, words = self._chain, self._words
        if not (chain.constants.are_there and chain.constant_names & words):
            return None
        found: list[list[tuple[str, Constant]]] = []
        with suppress(TreemillError):
            for file, *_ in spans:
                found.append([*chain.constants.among(file, words).items()])
        return found

    def _has_own_names(self, file: int) -> bool:
        """True for the file that says for which columns of others a glob has defaults: which it
        lacks itself the next one says."""
        missing = self._chain.trees.missing
        return missing.has_globs and file == self._chain.first

    def _known_beside(self) -> _core.Beside | None:
        """What the files have beside their own columns, as far as it is known; None if nothing.
        What a column that a file lacks is like in others is known once a file that lacks it has
        been bound: files before that are left to be."""
        chain = self._chain
        if not self.applies or not (chain.friends or chain.trees.missing.defaults):
            return None
        with self._lock:
            if self._names is None:
                self._names = self._lacked()
            known = sum(name in chain.trees.samples for name in self._names)
            if self._beside is None or self._beside[0] != known:
                defaults = [each for name in self._names if (each := self._default(name))]
                described = self._of_friends()
                self.applies = described is not None
                self._beside = known, _core.Beside(defaults, described or [])
            return self._beside[1]

    def _of_friends(self) -> list[JoinedFriend] | None:
        """The columns and the files of each friend; None if the core cannot read them by itself."""
        chain = self._chain
        try:
            friends = chain.friends.alike(chain) if chain.friends else []
            return None if friends is None else [each.described() for each in friends]
        except TreemillError:  # to bind a file raises that
            return None

    def _lacked(self) -> list[str]:
        """The columns with defaults that the query may mean."""
        missing, words = self._chain.trees.missing, self._words
        names = missing.named(lambda: self._chain.trees[self._chain.first].by_name)
        found = [name for name in names if is_meant(name, words)]
        found += [word for word in sorted(words) if missing.has(word) and word not in names]
        return found

    def _default(self, name: str) -> _Default | None:
        """What files hold that lack the column; None if a glob gives it no default, because no file
        has it."""
        missing, samples = self._chain.trees.missing, self._chain.trees.samples
        if name not in samples:
            return name, None, False, None
        value, sample = missing[name], samples[name]
        if sample is None and name not in missing.names:
            return None
        kind = None if sample is None else sample[1]
        one = one_entry(name, value, kind, None if sample is None else sample[0]["counter"])
        return (name, None, False, None) if one is None else (name, one[0], value is None, one[1])
