"""Which columns a selector's chunks have touched, and so will touch again. Pure: it reads nothing.

Columns that are read ahead are given to awkward as they are, and then it cannot be seen whether
they are touched. So now and then a chunk is a *look*: it is given columns only when it touches
them. A column that several looks in a row have not touched is no longer expected.
"""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["ColumnUse"]

_PATIENCE = 3
"""Looks in a row that do not touch a column before it is dropped: one may have no entry that needs
it."""
_RARELY = 64
"""Chunks between looks, at most; the first ones are 1, 2, 4 … chunks apart."""


class ColumnUse(set[str]):
    """The columns that the next chunk is expected to touch.

    >>> touched = Touched()
    >>> touched.begin()  # the first chunk is a look
    True
    >>> touched.add("MET_pt")
    >>> sorted(touched)
    ['MET_pt']
    """

    def __init__(self, known: Iterable[str] = ()) -> None:
        """`known`: what earlier runs have touched."""
        super().__init__(known)
        self._looking = False
        self._chunks = 0
        self._next = 1
        self._seen: set[str] = set()
        self._idle: dict[str, int] = {}

    def add(self, name: str) -> None:
        """Notes that the chunk has touched a column."""
        super().add(name)
        self._seen.add(name)

    def begin(self) -> bool:
        """Begins a chunk. Says whether it is a look."""
        if self._looking:
            self._end_look()
        self._seen = set()
        self._chunks += 1
        self._looking = self._chunks >= self._next
        if self._looking:
            self._next = self._chunks + min(self._chunks, _RARELY)
        return self._looking

    def _end_look(self) -> None:
        idle = {name: self._idle.get(name, 0) + 1 for name in self - self._seen}
        self.difference_update(name for name, looks in idle.items() if looks >= _PATIENCE)
        self._idle = {name: looks for name, looks in idle.items() if looks < _PATIENCE}
