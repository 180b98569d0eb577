"""Binds a query to one file after another, with the file's aliases and with columns that the core
does not find in it. Runs nothing."""

from __future__ import annotations

import json
import threading
from functools import partial
from typing import TYPE_CHECKING

from treemill import _core

from ..data.entry_numbers import NUMBERING, with_entry_numbers
from ..data.file_constants import with_constants
from ..data.file_tree import FileTree
from ..data.foreign import Foreign, joined
from ..errors import QueryError, UnsupportedError
from ..query.specification import Specification, SpecifiedRelations
from .aliases import needed, paths, tree_weight
from .compiled_queries import compiled
from .substitutes import Rescue, supplied

if TYPE_CHECKING:
    from ..data.chain import Chain

__all__ = ["PerFile"]


_RELATED = frozenset(
    {
        *("parents", "daughters", "clusters", "tracks", "particles", "particleIDs"),
        *("startVertex", "particleIDUsed", "hits", "trackerHits", "associatedParticle"),
        *("rec", "sim", "from", "to"),
    }
)
"""The relations of podio's files that columns' names do not say enough of."""


def _explain(error: Exception, chain: Chain, file: int) -> None:
    """Adds to the message what other files have of a column that this file lacks."""
    if not isinstance(error, QueryError):
        return
    if error.column is not None:
        error.message += chain.hint(error.column, file)
    if chain.schema is not None:
        error.message += f"; the dataset's schema is {chain.schema.name}"


class _Variant:
    """A specification for files that have the same aliases."""

    def __init__(self, specification: Specification) -> None:
        self.specification = specification
        self.core = compiled(specification)


class PerFile:
    """Binds a specification to one file after another. Thread-safe."""

    def __init__(self, specification: Specification) -> None:
        self._plain = _Variant(specification)
        self._variants: dict[str, _Variant] = {}
        self._lock = threading.Lock()

    def bind(self, chain: Chain, file: int, more: Foreign | None = None) -> _core.Bound:
        """Binds the query to a file of a chain, with the columns of `more` beside the chain's own.
        Raises QueryError or UnsupportedError for what is wrong with the query there."""
        tree = chain.trees[file]
        foreign = chain.foreign(file)
        if more is not None:
            foreign = joined([more, foreign])
        related = None
        if chain.schema is not None or not self._plain.specification.words.isdisjoint(_RELATED):
            from .relations import relations  # start-up

            related = relations(chain, file)
        query = self._for(tree, related)
        words = query.specification.words
        if chain.constants.are_there:
            foreign = with_constants(foreign, words, tree.by_name, chain.constants, file)
        if not words.isdisjoint(NUMBERING):
            foreign = with_entry_numbers(
                foreign, words, tree.by_name, partial(chain.first_entry, file)
            )
        if not tree.missing.defaults:
            try:
                return query.core.bind(tree.core, foreign, Rescue(tree))
            except (QueryError, UnsupportedError) as error:
                others = supplied(tree, words)
                if others is None:
                    _explain(error, chain, file)
                    raise
        else:
            others = supplied(tree, words)
        try:
            return query.core.bind(tree.core, joined([foreign, others]), Rescue(tree))
        except (QueryError, UnsupportedError) as error:
            _explain(error, chain, file)
            raise

    def _for(self, tree: FileTree, related: SpecifiedRelations | None) -> _Variant:
        """The specification, with the aliases and the paths of this tree that it uses, and with
        what is to be told of its references."""
        plain, aliases = self._plain.specification, tree.aliases
        defines = paths(tree.by_name, plain.words) + tree_weight(tree.weight, plain.words)
        if aliases:
            defines += needed(aliases, tree.by_name, plain.words)
        if not defines and related is None:
            return self._plain
        # Most datasets have the same aliases in all files.
        key = json.dumps([[define.to_json() for define in defines], related])
        with self._lock:
            if key not in self._variants:
                specification = plain.after(defines)
                specification = (
                    specification if related is None else specification.relating(related)
                )
                self._variants[key] = _Variant(specification)
            return self._variants[key]
