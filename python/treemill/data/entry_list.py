"""Entry lists: some entries of a dataset, by number, by a mask, or as ROOT wrote them (TEntryList,
TEventList); and the parts of files to read for them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, cast

from ..errors import QueryError, SourceError, UnsupportedError
from . import source
from .entry_ranges import Part, ranges_of_clusters, starts
from .foreign import Computed, Foreign
from .location import Location, split_tree

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .array_columns import SupportsArray
    from .location import FilePath

    Array: TypeAlias = NDArray[np.int64]
    EntryNumbers: TypeAlias = Sequence[int] | SupportsArray | FilePath
    """What users give to `select_entries`."""

__all__ = ["SELECTED", "Selection", "selection"]

SELECTED = "treemill_entry_is_selected"
"""The column that queries filter by to keep to the selected entries."""

_BLOCK_WORDS = 4000
_BLOCK_ENTRIES = 16 * _BLOCK_WORDS
"""The size of a TEntryListBlock."""


class Selection:
    """Selected entries by file, ascending, with their numbers in the file. Immutable."""

    def __init__(self, parts: Mapping[int, Array]) -> None:
        self._parts = {file: part for file, part in sorted(parts.items()) if len(part)}

    def __len__(self) -> int:
        return sum(len(part) for part in self._parts.values())

    def __reduce__(self) -> tuple[type[Selection], tuple[Mapping[int, Array]]]:
        return Selection, (self._parts,)

    def within(self, file: int, start: int, stop: int) -> Array:
        """The selected ones of the file's entries `[start, stop)`, counted from `start`."""
        import numpy as np

        part = self._parts.get(file)
        if part is None:
            return np.zeros(0, np.int64)
        return part[np.searchsorted(part, start) : np.searchsorted(part, stop)] - start

    def sliced(self, start: int | None, stop: int | None) -> Selection:
        """A slice of the selected entries."""
        first, last, _ = slice(start, stop).indices(len(self))
        begins = starts(map(len, self._parts.values()))
        return Selection(
            {
                file: part[max(first - begin, 0) : max(last - begin, 0)]
                for (file, part), begin in zip(self._parts.items(), begins, strict=False)
            }
        )

    def parts(self, clusters: Callable[[int], tuple[int, Sequence[int]]]) -> list[Part]:
        """The parts of files to read. Clusters without a selected entry are left out. `clusters`
        gives a file's number of entries and the starts of its clusters."""
        selected = []
        for file, part in self._parts.items():
            size, cuts = clusters(file)
            if int(part[-1]) >= size:
                raise QueryError(
                    f"entry {int(part[-1])} is selected, but the file has {size} entries"
                )
            selected += [
                (file, first, last) for first, last in ranges_of_clusters(part, cuts, size)
            ]
        return selected

    def foreign(self, file: int) -> Foreign:
        """The column that says for each entry of one file whether it is selected."""

        def flags(start: int, stop: int) -> NDArray[np.bool_]:
            import numpy as np

            flags = np.zeros(stop - start, np.bool_)
            flags[self.within(file, start, stop)] = True
            return flags

        return Computed({SELECTED: flags})


Entries = Callable[[], Sequence[int]]
"""Gives the number of entries of each file. It opens all files."""


def selection(locations: Sequence[Location], entries: Entries, chosen: object) -> Selection:
    """See Dataset.select_entries. `locations`: the chain's files."""
    import numpy as np

    if isinstance(chosen, (str, os.PathLike)):
        return _from_root(locations, entries, str(os.fspath(chosen)))
    numbers = np.asarray(chosen)
    if numbers.ndim != 1 or (numbers.dtype.kind not in "biu" and numbers.size):
        raise QueryError(
            "entries are selected by a list of numbers, a mask or a list in a ROOT file "
            f'("file.root:name"), not {chosen!r:.80}'
        )
    if numbers.dtype.kind != "b":
        return _global(entries(), numbers.astype(np.int64))
    if len(numbers) != (total := sum(entries())):
        raise QueryError(f"the mask has {len(numbers)} values, and the dataset has {total} entries")
    return _global(entries(), np.flatnonzero(numbers))


def _global(entries: Sequence[int], numbers: Array) -> Selection:
    """The selection of these entries, numbered along the whole chain, in any order."""
    import numpy as np

    firsts = starts(entries)
    numbers = np.unique(numbers)
    if len(numbers) and (numbers[0] < 0 or numbers[-1] >= firsts[-1]):
        wrong = numbers[0] if numbers[0] < 0 else numbers[-1]
        raise QueryError(f"entry {wrong} is selected, but the dataset has {firsts[-1]} entries")
    ends = np.searchsorted(numbers, firsts)
    return Selection(
        {
            file: numbers[ends[file] : ends[file + 1]] - firsts[file]
            for file in range(len(firsts) - 1)
        }
    )


class _Stored(Protocol):
    """An object as uproot reads it."""

    name: str
    classname: str

    def member(self, name: str) -> Any: ...


def _from_root(locations: Sequence[Location], count: Entries, text: str) -> Selection:
    import numpy as np

    from .uproot_fallback import uproot_file  # start-up

    path, name = split_tree(text)
    if name is None:
        raise QueryError(f'which list of {path}? Write "{path}:name"')
    path = source.address(path)
    try:
        stored = cast("_Stored", uproot_file(path)[name])
    except (OSError, KeyError) as error:
        raise SourceError(f"no entry list {name} in {path}: {error}", file=path) from None
    if stored.classname == "TEventList":
        return _global(count(), np.asarray(stored.member("fList"), np.int64))
    if stored.classname != "TEntryList":
        raise UnsupportedError(f"{name} is a {stored.classname}, no entry list", file=path)
    parts: dict[int, Array] = {}
    for each in stored.member("fLists") or [stored]:
        entries = _entries(each)
        file = _number(locations, str(each.member("fFileName")), str(each.member("fTreeName")))
        if file is None:
            if not each.member("fFileName"):
                return _global(count(), entries)
            if len(entries):
                raise QueryError(
                    f"{name} selects entries of {each.member('fFileName')}, which is no file of "
                    "this dataset",
                    file=path,
                )
            continue
        parts[file] = entries
    return Selection(parts)


def _number(locations: Sequence[Location], path: str, tree: str) -> int | None:
    """The file of the dataset that a list is for: the one at its path, or else the only one of its
    name; None if there is none."""
    if not path:
        return None
    same = [i for i, each in enumerate(locations) if source.is_same(each.path, path)]
    if not same:
        base = os.path.basename(path)
        same = [i for i, each in enumerate(locations) if os.path.basename(each.path) == base]
    if len(same) > 1:
        same = [i for i in same if locations[i].tree == tree]
    return same[0] if len(same) == 1 else None


def _entries(stored: _Stored) -> Array:
    """The entries of a TEntryList that has no lists in it."""
    import numpy as np

    blocks: Sequence[_Stored] = stored.member("fBlocks") or ()
    parts = [np.zeros(0, np.int64)]
    for number, block in enumerate(blocks):
        words = np.asarray(block.member("fIndices"), np.uint16)
        if block.member("fType") == 0:  # a bit for each entry, the first in the lowest
            bits = np.unpackbits(words.astype("<u2").view(np.uint8), bitorder="little")
            inside = np.flatnonzero(bits)
        elif block.member("fPassing"):
            inside = words.astype(np.int64)[: block.member("fNPassed")]
        else:
            rest = np.ones(_BLOCK_ENTRIES, bool)
            rest[words[: block.member("fN")]] = False
            inside = np.flatnonzero(rest)
        parts.append(inside.astype(np.int64) + number * _BLOCK_ENTRIES)
    entries = np.concatenate(parts)
    if len(entries) != stored.member("fN"):
        raise UnsupportedError(
            f"the entry list {stored.name} says {stored.member('fN')} entries and has "
            f"{len(entries)}"
        )
    return entries
