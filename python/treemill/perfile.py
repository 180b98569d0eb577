"""A query as it reads for one file: with that file's aliases, and with columns that the core does
not find in it. Binds; runs nothing."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable
from functools import cached_property
from typing import Any

from .aliases import needed, with_definitions, words
from .entry_numbers import NUMBERING, with_entry_numbers
from .errors import QueryError, UnsupportedError
from .filetree import FileTree
from .foreign import Foreign, joined
from .supplied import Rescue, supplied

__all__ = ["PerFile"]

_UNKNOWN = re.compile(r"there is no column (.+?)( \(in the variation .*\))?$")


class _Variant:
    """A specification as it reads for files with the same aliases."""

    def __init__(self, text: str) -> None:
        from . import _core

        self.text = text
        self.core = _core.Query(text)

    @cached_property
    def words(self) -> set[str]:
        """Names in its expressions: few files make anybody ask for them."""
        return words(json.loads(self.text))


class PerFile:
    """A specification (`treemill.query.spec`, as JSON), to be bound to one file after another.
    Thread-safe."""

    def __init__(self, spec: str) -> None:
        self._plain = _Variant(spec)
        self._variants: dict[str, _Variant] = {}
        self._lock = threading.Lock()

    def bind(
        self,
        tree: FileTree,
        foreign: Foreign | None = None,
        first: Callable[[], int] = lambda: 0,
    ) -> Any:
        """core.Bound of the query to this tree, with the columns of `foreign` beside its own.
        `first`: the number of its first entry in the whole chain. Raises what is wrong with the
        query there."""
        query = self._for(tree)
        if any(name in query.text for name in NUMBERING):
            foreign = with_entry_numbers(foreign, query.words, tree.by_name, first)
        if not tree.missing.defaults:
            try:
                return query.core.bind(tree.core, foreign, Rescue(tree))
            except (QueryError, UnsupportedError) as error:
                more = supplied(tree, query.words)
                if more is None:
                    # Another file may have the column.
                    unknown = _UNKNOWN.match(error.message)
                    error.message += tree.hint(unknown[1]) if unknown else ""
                    raise
        else:
            more = supplied(tree, query.words)
        return query.core.bind(tree.core, joined([foreign, more]), Rescue(tree))

    def _for(self, tree: FileTree) -> _Variant:
        """The specification with the aliases of this tree that it uses."""
        aliases = tree.aliases
        defines = needed(aliases, tree.by_name, self._plain.words) if aliases else []
        if not defines:
            return self._plain
        # Mostly all files have the same aliases.
        key = json.dumps([define.to_json() for define in defines])
        with self._lock:
            if key not in self._variants:
                spec = with_definitions(json.loads(self._plain.text), defines)
                self._variants[key] = _Variant(json.dumps(spec))
            return self._variants[key]
