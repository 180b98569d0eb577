"""A tree being written: baskets as entries come, their description once at the end.

Knows the layout of TTree, of branches and leaves; columns come as `branches.BranchValues`.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .branches import TEXT, BranchValues, OutputBranch
from .file import Buffer, RootFile, key_length, string

__all__ = ["TreeWriter"]

# The bytes of entries of different lengths, as they lie in baskets: items one after another, and
# objects of C++ (strings, vectors) with what ROOT writes before each. Knows NumPy only.

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .branches import BranchValues

    Bytes = tuple[NDArray[np.uint8], NDArray[np.int64]]


_HAS_COUNT = 0x40000000
_HEAD = np.dtype([("count", ">u4"), ("version", ">u2"), ("items", ">u4")])
"""What lies before a vector's items. The count is of the bytes after it."""
_VERSION = 10
"""The version that ROOT writes before a vector."""


def big_endian(items: NDArray[np.generic]) -> NDArray[np.generic]:
    """The items in the byte order of ROOT's files."""
    return items.astype(items.dtype.newbyteorder(">"), copy=False)


def lists(values: BranchValues) -> Bytes:
    """The bytes of all entries, and where each entry ends; before them a zero."""
    assert values.offsets is not None
    each = values.items.itemsize * int(np.prod(values.items.shape[1:], dtype=np.int64))
    return big_endian(values.items).reshape(-1).view(np.uint8), values.offsets * each


def vectors(values: BranchValues) -> Bytes:
    """The same for entries that are objects of class vector: before the items of each are the
    number of its bytes, a version, and the number of its items."""
    assert values.offsets is not None
    data, ends = lists(values)
    heads = np.zeros(len(ends) - 1, _HEAD)
    heads["count"] = np.diff(ends) + _HEAD.itemsize - 4 | _HAS_COUNT
    heads["version"] = _VERSION
    heads["items"] = np.diff(values.offsets)
    return _headed(heads.view(np.uint8), np.full(len(heads), _HEAD.itemsize), data, ends)


def strings(values: BranchValues) -> Bytes:
    """The same for strings: before each is its length, in one byte if it is below 255, else in
    five."""
    assert values.offsets is not None
    lengths = np.diff(values.offsets)
    is_long = lengths >= 255
    heads = np.zeros((len(lengths), 5), np.uint8)
    heads[:, 0] = np.minimum(lengths, 255)
    heads[:, 1:] = lengths.astype(">u4").view(np.uint8).reshape(-1, 4)
    sizes = np.where(is_long, 5, 1)
    used = np.arange(5) < sizes[:, np.newaxis]
    return _headed(heads[used], sizes, np.asarray(values.items, np.uint8), values.offsets)


def _headed(
    heads: NDArray[np.uint8],
    sizes: NDArray[np.integer],
    data: NDArray[np.uint8],
    ends: NDArray[np.int64],
) -> Bytes:
    """Entries with a head before each. `sizes`: the bytes of each head."""
    lengths = np.diff(ends)
    runs = np.stack([sizes, lengths], axis=1).reshape(-1)
    is_head = np.repeat(np.tile([True, False], len(lengths)), runs)
    joined = np.empty(len(is_head), np.uint8)
    joined[is_head] = heads
    joined[~is_head] = data[int(ends[0]) : int(ends[-1])]
    return joined, np.concatenate([[0], np.cumsum(sizes + lengths)]).astype(np.int64)


_BASKET = 1 << 20
"""About the number of bytes of a basket's entries before compression."""
_WORTH_THREADS = 4 << 20
"""Bytes of entries from which on several threads compress."""
_MOST = (1 << 30) - 1
"""Bytes that a basket may have at most. An entry that needs more is an error."""


_BASKET_HEADER = 19
"""Bytes that a basket's key has in addition to other keys'."""

_RESHUFFLED = 1 << 19
"""TTree::kEntriesReshuffled: ROOT refuses such a tree as a friend that goes by entry numbers."""

# Members that mean nothing to readers, as ROOT writes them.
_FILL = bytes.fromhex("40000006 0002 0000 03e9")
_ATTRIBUTES = bytes.fromhex(
    "40000008 0002 025a 0001 000140000006 0002 0000 03e94000000a 0003 0001 0001 3f800000"
)
_IO_FEATURES = bytes.fromhex("40000007 0000 1aa12f10 00")


@dataclass
class _Written:
    """The state of a branch that is being written."""

    branch: OutputBranch
    entries: list[int] = field(default_factory=list)
    """The entries of each basket."""
    sizes: list[int] = field(default_factory=list)
    """Bytes of each basket in the file."""
    places: list[int] = field(default_factory=list)
    """The position of each basket in the file."""
    total: int = 0
    """Bytes before compression."""
    smallest: int = 0
    largest: int = 0
    """The range of counts."""


@dataclass(frozen=True)
class _Leaf:
    """How a type of leaf is written: its class, the bytes of a value, the format of its range."""

    kind: str
    size: int
    range: str


_LEAVES = {
    "B": _Leaf("TLeafB", 1, "bb"),
    "S": _Leaf("TLeafS", 2, "hh"),
    "I": _Leaf("TLeafI", 4, "ii"),
    "L": _Leaf("TLeafL", 8, "qq"),
    "G": _Leaf("TLeafG", 8, "qq"),
    "F": _Leaf("TLeafF", 4, "ff"),
    "D": _Leaf("TLeafD", 8, "dd"),
    "O": _Leaf("TLeafO", 1, "??"),
}


@dataclass(frozen=True)
class _Object:
    """How objects of a class of C++ are written: their bytes, ROOT's version of the class, and the
    type of a branch of them."""

    entries: Callable[[BranchValues], tuple[NDArray[np.uint8], NDArray[np.int64]]]
    version: int
    type: int


_STRING = _Object(strings, 2, -1)
_VECTOR = _Object(vectors, 6, 0)


def _object(branch: OutputBranch) -> _Object | None:
    if branch.is_vector:
        return _VECTOR
    return _STRING if branch.letter == TEXT else None


class TreeWriter:
    """A tree in a file. Counters are branches too; they come before the lists that they count."""

    def __init__(
        self,
        file: RootFile,
        name: str,
        branches: Sequence[OutputBranch],
        title: str = "",
        *,
        is_reshuffled: bool = False,
    ) -> None:
        """`is_reshuffled`: the entries are in another order than those that they come from."""
        self.name = name
        self.title = title
        self.entries = 0
        self._is_reshuffled = is_reshuffled
        self._file = file
        self._written = {branch.name: _Written(branch) for branch in branches}
        self._counters = {branch.counter for branch in branches} - {None}
        self._clusters: list[int] = []

    def extend(self, columns: Mapping[str, BranchValues], entries: int) -> None:
        """Add entries as a cluster: values by branch, counters included."""
        if not entries:
            return
        for name in self._counters:
            assert name is not None
            self._note(self._written[name], columns[name].items)
        baskets = [
            (written, *basket)
            for name, written in self._written.items()
            for basket in self._baskets(written, columns[name], entries)
        ]
        datas = self._compressed([data for *_, data, _ in baskets])
        for (written, number, plain, tail), packed in zip(baskets, datas, strict=True):
            self._put(written, number, plain, tail, packed)
        self.entries += entries
        self._clusters.append(entries)

    def _compressed(self, datas: Sequence[bytes]) -> Iterable[bytes]:
        pack = self._file.codec.packed
        if sum(map(len, datas)) < _WORTH_THREADS:
            return map(pack, datas)
        with ThreadPoolExecutor() as pool:
            return list(pool.map(pack, datas))

    @staticmethod
    def _note(written: _Written, counts: NDArray[np.generic]) -> None:
        if len(counts):
            written.smallest = min(written.smallest, int(counts.min()))
            written.largest = max(written.largest, int(counts.max()))

    def _baskets(
        self, written: _Written, values: BranchValues, entries: int
    ) -> Iterator[tuple[int, bytes, tuple[int, int]]]:
        """Gives for each basket its number of entries, its data, and a pair: the bytes of the
        entries alone; the bytes of an entry, or the number of offsets."""
        if values.offsets is None:
            each = values.items.nbytes // entries
            step = max(_BASKET // max(each, 1), 1)
            swapped = big_endian(values.items)
            for at in range(0, entries, step):
                data = swapped[at : at + step].tobytes()
                yield min(step, entries - at), data, (len(data), each)
            return
        own = _object(written.branch)
        raw, ends = (lists if own is None else own.entries)(values)
        # Offsets take room too: 4 bytes for each entry.
        room = ends + 4 * np.arange(len(ends))
        at = 0
        while at < entries:
            stop = int(np.searchsorted(room, room[at] + _BASKET, side="right")) - 1
            stop = min(max(stop, at + 1), entries)
            yield self._jagged(written, raw[ends[at] : ends[stop]], ends[at : stop + 1])
            at = stop

    def _jagged(
        self, written: _Written, data: NDArray[np.uint8], ends: NDArray[np.int64]
    ) -> tuple[int, bytes, tuple[int, int]]:
        count = len(ends) - 1
        # Offsets count from the beginning of the key. The last one, the end, is written as 0.
        offsets = ends - ends[0] + self._key(written)
        offsets[-1] = 0
        tail = struct.pack(">i", count + 1) + offsets.astype(">i4").tobytes()
        return count, data.tobytes() + tail, (len(data), count + 1)

    def _key(self, written: _Written) -> int:
        """Bytes of a basket's key, which do not depend on its position, as offsets count from
        it."""
        return key_length(True, "TBasket", written.branch.name, self.name) + _BASKET_HEADER

    def _put(
        self, written: _Written, entries: int, plain: bytes, tail: tuple[int, int], packed: bytes
    ) -> None:
        of_entries, each = tail
        if len(plain) > _MOST:
            raise OSError(f"an entry of {written.branch.name} is larger than a basket can be")
        key = self._key(written)
        more = struct.pack(">Hiiiib", 3, max(len(plain), 32000), each, entries, key + of_entries, 0)
        number = len(written.entries) & 0x7FFF
        names = ("TBasket", written.branch.name, self.name)
        place, length = self._file.put(names, packed, len(plain), more, number)
        written.entries.append(entries)
        written.sizes.append(length)
        written.places.append(place)
        written.total += len(plain) + key

    def close(self) -> None:
        """Write the tree's description."""
        out = Buffer(key_length(self._file.is_far, "TTree", self.name, self.title))
        with out.versioned(20):
            out.named(self.name, self.title, _RESHUFFLED if self._is_reshuffled else 0)
            out.data += _ATTRIBUTES
            total = sum(each.total for each in self._written.values())
            packed = sum(sum(each.sizes) for each in self._written.values())
            ends, sizes, last = _cluster_ranges(self._clusters)
            out.pack("qqqqq", self.entries, total, packed, 0, packed)
            out.pack("diiiiI", 1.0, 0, 25, 0, 1000, len(sizes))
            most, estimate = 1_000_000_000_000, 1_000_000
            out.pack("qqqqqq", most, most, 0, -300_000_000, last, estimate)
            for array in (ends, sizes):
                out.data += (b"\1" if len(array) else b"\0") + array.astype(">i8").tobytes()
            out.data += _IO_FEATURES
            leaves: dict[str, int] = {}
            with out.array(len(self._written)):
                for written in self._written.values():
                    self._branch(out, written, leaves)
            with out.array(len(leaves)):
                for reference in leaves.values():
                    out.pack("I", reference)
            # No aliases, index, friends, user's information, references.
            out.data += bytes(4 + 4 + 4 + 4 + 4 + 4 + 4)
        self._file.add("TTree", self.name, self.title, out.data)

    def _branch(self, out: Buffer, written: _Written, leaves: dict[str, int]) -> None:
        branch, own = written.branch, _object(written.branch)
        if own is None:
            with out.pointed("TBranch"):
                self._members(out, written, leaves)
            return
        with out.pointed("TBranchElement"), out.versioned(10):
            self._members(out, written, leaves)
            out.data += string(branch.object_class or "") + string("") + string("")
            # No checksum, for which ROOT would look; no place in another object; no counters.
            out.pack("IhiiiiII", 0, own.version, -1, own.type, -1, 0, 0, 0)

    def _members(self, out: Buffer, written: _Written, leaves: dict[str, int]) -> None:
        """The members of every branch."""
        branch, own = written.branch, _object(written.branch)
        is_jagged = branch.counter is not None or own is not None
        leaves_of = branch.name if own is not None else f"{branch.leaf}/{branch.letter}"
        with out.versioned(13):
            out.named(branch.name, branch.title or leaves_of)
            out.data += _FILL
            count = len(written.entries)
            out.pack("iiiiq", self._file.codec.code, 32000, 1000 * is_jagged, count, self.entries)
            out.data += _IO_FEATURES
            packed = sum(written.sizes)
            out.pack("iIi", 0, max(count, 1) + 1, 0)
            out.pack("qqqq", self.entries, 0, written.total, packed)
            with out.array(0):
                pass
            kind = "TLeafElement" if own is not None else _LEAVES[branch.letter.upper()].kind
            with out.array(1), out.pointed(kind) as reference:
                leaves[branch.name] = reference
                with out.versioned(1):
                    self._leaf(out, written, leaves)
            with out.array(0):
                pass
            room = max(count, 1) + 1 - count
            first = np.cumsum([0, *written.entries], dtype=np.int64)
            for values, form in ((written.sizes, ">i4"), (first, ">i8"), (written.places, ">i8")):
                array = np.array([*values, *[0] * room], form)[: max(count, 1) + 1]
                out.data += b"\1" + array.tobytes()
            out.data += string("")

    def _leaf(self, out: Buffer, written: _Written, leaves: Mapping[str, int]) -> None:
        branch = written.branch
        if _object(branch) is not None:
            with out.versioned(2):
                out.named(branch.name, branch.name)
                out.pack("iii??I", 1, 0, 0, False, False, 0)
            out.pack("ii", -1, -1)
            return
        leaf = _LEAVES[branch.letter.upper()]
        is_counter = branch.name in self._counters
        length = int(np.prod(branch.dims, dtype=np.int64))
        with out.versioned(2):
            out.named(branch.name, branch.leaf)
            out.pack("iii??", length, leaf.size, 0, is_counter, branch.letter.islower())
            out.pack("I", 0 if branch.counter is None else leaves[branch.counter])
        form = leaf.range.upper() if branch.letter.islower() else leaf.range
        # The range has a meaning for counters only.
        out.pack(form, written.smallest, written.largest)


def _cluster_ranges(
    clusters: Sequence[int],
) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Ranges of neighbouring clusters of the same size: the last entry of each range but the last
    one, the size of its clusters, and the size of the clusters of the last range."""
    if not clusters:
        return np.zeros(0, np.int64), np.zeros(0, np.int64), -30_000_000
    sizes = np.array(clusters, np.int64)
    lasts = np.flatnonzero(np.diff(sizes))
    return np.cumsum(sizes)[lasts] - 1, sizes[lasts], int(sizes[-1])
