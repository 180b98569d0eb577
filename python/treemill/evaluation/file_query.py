"""Binds a query to one file after another, with the file's aliases and with columns that the core
does not find in it. Runs nothing."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..chain.entry_numbers import NUMBERING, with_entry_numbers
from ..errors import QueryError, UnsupportedError
from ..query.specification import Specification
from ..tree.file_tree import FileTree
from ..tree.foreign import Foreign, joined
from .aliases import needed, paths
from .substitutes import Rescue, supplied

if TYPE_CHECKING:
    from treemill import _core

__all__ = ["PerFile"]


class _Variant:
    """A specification for files that have the same aliases."""

    def __init__(self, specification: Specification) -> None:
        from treemill import _core  # heavy: core

        self.specification = specification
        self.core = _core.Query(specification.text)


class PerFile:
    """Binds a specification to one file after another. Thread-safe."""

    def __init__(self, specification: Specification) -> None:
        self._plain = _Variant(specification)
        self._variants: dict[str, _Variant] = {}
        self._lock = threading.Lock()

    def bind(
        self,
        tree: FileTree,
        foreign: Foreign | None = None,
        first: Callable[[], int] = lambda: 0,
    ) -> _core.Bound:
        """Binds the query to this tree, with the columns of `foreign` beside its own. `first`:
        gives the number of its first entry in the whole chain. Raises QueryError or
        UnsupportedError for what is wrong with the query there."""
        query = self._for(tree)
        words = query.specification.words
        if not words.isdisjoint(NUMBERING):
            foreign = with_entry_numbers(foreign, words, tree.by_name, first)
        if not tree.missing.defaults:
            try:
                return query.core.bind(tree.core, foreign, Rescue(tree))
            except (QueryError, UnsupportedError) as error:
                more = supplied(tree, words)
                if more is None:
                    # The hint says whether another file has the column.
                    if isinstance(error, QueryError) and error.column is not None:
                        error.message += tree.hint(error.column)
                    raise
        else:
            more = supplied(tree, words)
        return query.core.bind(tree.core, joined([foreign, more]), Rescue(tree))

    def _for(self, tree: FileTree) -> _Variant:
        """The specification, with the aliases and the paths of this tree that it uses."""
        plain, aliases = self._plain.specification, tree.aliases
        defines = paths(tree.by_name, plain.words)
        if aliases:
            defines += needed(aliases, tree.by_name, plain.words)
        if not defines:
            return self._plain
        # Most datasets have the same aliases in all files.
        key = json.dumps([define.to_json() for define in defines])
        with self._lock:
            if key not in self._variants:
                self._variants[key] = _Variant(plain.after(defines))
            return self._variants[key]
