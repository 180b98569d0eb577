"""Columns that number entries: `entry_number`, in the whole chain, and `local_entry_number`, in the
file; and one that random numbers are made of, which no expression can name. ROOT: `Entry$` and
`LocalEntry$` of TTree::Draw, `rdfentry_` of RDataFrame."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from typing import Any

from ..tree.foreign import Field, Foreign, joined

__all__ = ["ENTRY", "LOCAL_ENTRY", "NUMBERING", "with_entry_numbers"]

ENTRY, LOCAL_ENTRY = "entry_number", "local_entry_number"
_COUNTED = "number of the entry"
"""As in the core's compile/random.rs."""
_DRAWN = ("random", "normal")
"""Functions of it."""
NUMBERING = (ENTRY, LOCAL_ENTRY, *_DRAWN)
"""Words of queries that may want such columns."""


class _EntryNumbers:
    """Implements foreign.Foreign, for a file that begins with entry `first` of the chain."""

    def __init__(self, firsts: dict[str, int]) -> None:
        self._firsts = firsts

    def schema(self) -> Sequence[Field]:
        """See Foreign."""
        return [Field(name, self.read(name, 0, 0)) for name in self._firsts]

    def read(self, name: str, start: int, stop: int) -> Any:
        """See Foreign."""
        import numpy as np

        first = self._firsts[name]
        return np.arange(first + start, first + stop, dtype=np.int64)


def with_entry_numbers(
    foreign: Foreign | None,
    words: Container[str],
    columns: Container[str],
    first: Callable[[], int],
) -> Foreign | None:
    """`foreign`, and the numbers that a query of these words wants; of names that the file's own
    columns have, those are meant. `first`: the number of the file's first entry in the chain, which
    may take a look at the files before it."""
    begins: dict[str, Callable[[], int]] = {
        ENTRY: first,
        LOCAL_ENTRY: lambda: 0,
        _COUNTED: first,
    }
    wanted = [name for name in begins if name in words and name not in columns]
    wanted += [_COUNTED] if any(name in words for name in _DRAWN) else []
    if not wanted:
        return foreign
    return joined([foreign, _EntryNumbers({name: begins[name]() for name in wanted})])
