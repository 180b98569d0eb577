"""A query as it reads for one file: with that file's aliases, and with columns that the core does
not find in it. Binds; runs nothing."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable
from typing import Any

from .aliases import needed, with_definitions, words
from .entry_numbers import with_entry_numbers
from .errors import QueryError, UnsupportedError
from .filetree import FileTree
from .foreign import Foreign, joined
from .supplied import Rescue, supplied

__all__ = ["PerFile"]


class PerFile:
    """A specification (`treemill.query.spec`, as JSON), to be bound to one file after another.
    Thread-safe."""

    def __init__(self, spec: str) -> None:
        from . import _core

        self._text = spec
        self._query = _core.Query(spec)
        self._words: set[str] | None = None
        self._variants: dict[str, tuple[Any, set[str]]] = {}
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
        query, known = self._for(tree)
        foreign = with_entry_numbers(foreign, known, tree.by_name, first)
        if not tree.missing.defaults:
            try:
                return query.bind(tree.core, foreign, Rescue(tree))
            except (QueryError, UnsupportedError) as error:
                more = supplied(tree, known)
                if more is None:
                    # Another file may have the column.
                    unknown = re.match(r"there is no column ([\w.]+)$", error.message)
                    error.message += tree.hint(unknown[1]) if unknown else ""
                    raise
        else:
            more = supplied(tree, known)
        return query.bind(tree.core, joined([foreign, more]), Rescue(tree))

    def _for(self, tree: FileTree) -> tuple[Any, set[str]]:
        """core.Query with the aliases of this tree that it uses, and the words of both."""
        with self._lock:
            if self._words is None:
                self._words = words(json.loads(self._text))
            aliases = tree.aliases
            defines = needed(aliases, tree.by_name, self._words) if aliases else []
            if not defines:
                return self._query, self._words
            # Mostly all files have the same aliases.
            key = json.dumps([define.to_json() for define in defines])
            if key not in self._variants:
                from . import _core

                spec = with_definitions(json.loads(self._text), defines)
                self._variants[key] = _core.Query(json.dumps(spec)), words(spec)
            return self._variants[key]
