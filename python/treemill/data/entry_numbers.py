"""Columns of entry numbers: `entry_number` in the whole chain, `local_entry_number` in the file,
and a column that random numbers are made from, which no expression can name. In ROOT they are
`Entry$` and `LocalEntry$` of TTree::Draw, `rdfentry_` of RDataFrame."""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import TYPE_CHECKING

from ..language import own_names
from .foreign import Computed, Foreign, joined

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["ENTRY", "LOCAL_ENTRY", "NUMBERING", "with_entry_numbers"]

ENTRY, LOCAL_ENTRY = "entry_number", "local_entry_number"
_COUNTED = "number of the entry"
"""The name that the core's compile/random.rs has for it."""
_DRAWN = ("random", "normal")
"""Functions that are made from it."""
_ALWAYS = {own_names.ENTRY: ENTRY, own_names.LOCAL_ENTRY: LOCAL_ENTRY}
"""Names that mean the numbers even if a branch is called `entry_number`."""
NUMBERING = (ENTRY, LOCAL_ENTRY, *_ALWAYS, *_DRAWN)
"""The words by which queries ask for such columns."""


def _counted_from(first: int) -> Callable[[int, int], NDArray[np.int64]]:
    def numbers(start: int, stop: int) -> NDArray[np.int64]:
        import numpy as np

        return np.arange(first + start, first + stop, dtype=np.int64)

    return numbers


def with_entry_numbers(
    foreign: Foreign | None,
    words: Container[str],
    columns: Container[str],
    first: Callable[[], int],
) -> Foreign | None:
    """`foreign` with the entry numbers that a query with these words needs. A name that the file
    has as a column means that column. `first` gives the number of the file's first entry in the
    chain; it may open the files before it."""
    begins: dict[str, Callable[[], int]] = {
        ENTRY: first,
        LOCAL_ENTRY: lambda: 0,
        _COUNTED: first,
    }
    begins |= {always: begins[name] for always, name in _ALWAYS.items()}
    wanted = [name for name in begins if name in words and (name in _ALWAYS or name not in columns)]
    wanted += [_COUNTED] if any(name in words for name in _DRAWN) else []
    if not wanted:
        return foreign
    return joined([foreign, Computed({name: _counted_from(begins[name]()) for name in wanted})])
