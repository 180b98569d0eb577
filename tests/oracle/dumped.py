"""What ROOT read, as `root/dump.C` wrote it down, and arrays in the same form."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import awkward as ak
import numpy as np
import numpy.typing as npt

from tools.readers.compare import fields_of


@dataclass(frozen=True)
class Column:
    """Items of each entry and the items, flat. A string is a list of bytes, of dtype S1."""

    counts: npt.NDArray[np.int32]
    values: npt.NDArray[np.generic]

    def difference(self, other: "Column") -> str | None:
        """The first difference, bit by bit, or None."""
        if self.values.dtype != other.values.dtype:
            return f"{self.values.dtype}, not {other.values.dtype}"
        if not np.array_equal(self.counts, other.counts):
            return f"counts {self.counts[:20]}, not {other.counts[:20]}"
        if self.values.tobytes() == other.values.tobytes():
            return None
        size = self.values.dtype.itemsize
        a, b = (np.frombuffer(x.values.tobytes(), f"V{size}") for x in (self, other))
        at = int(np.nonzero(a != b)[0][0])
        return (
            f"{int((a != b).sum())} values, first [{at}] {self.values[at]}, not {other.values[at]}"
        )


def load(path: Path) -> dict[str, dict[str, Column]]:
    """Tree -> branch (or branch/leaf where it has several leaves) -> column."""
    trees: dict[str, dict[str, Column]] = {}
    parts = _parts(path.read_bytes())
    for tree, name, kind, counts, values in zip(*[parts] * 5, strict=True):
        dtype = "S1" if kind == b"S" else kind.decode()
        column = Column(np.frombuffer(counts, np.int32), np.frombuffer(values, dtype))
        known = trees.setdefault(tree.decode(), {})
        assert name.decode() not in known, f"{tree.decode()}: twice {name.decode()}"
        known[name.decode()] = column
    return trees


def _parts(data: bytes) -> Iterator[bytes]:
    at = 0
    while at < len(data):
        (size,) = struct.unpack_from("<I", data, at)
        yield data[at + 4 : at + 4 + size]
        at += 4 + size


def columns(name: str, array: ak.Array) -> dict[str, Column]:
    """An array in that form; a record gives a column for each of its fields."""
    if fields_of(array):
        return {f"{name}/{field}": column(array[field]) for field in fields_of(array)}
    return {name: column(array)}


def column(array: ak.Array) -> Column:
    """Numbers of any nesting, or strings."""
    layout = ak.drop_none(array, axis=0).layout
    layout = layout.content if layout.is_option else layout
    if layout.parameter("__array__") in ("string", "bytestring"):
        packed = ak.to_packed(layout.to_ListOffsetArray64(True), highlevel=False)
        counts = np.diff(np.asarray(packed.offsets))
        return Column(counts.astype(np.int32), np.asarray(packed.content.data).view("S1"))
    values = ak.to_numpy(ak.flatten(array, axis=None), allow_missing=False)
    if array.ndim == 1:
        return Column(np.ones(len(array), np.int32), values)
    counts = ak.count(array, axis=-1)
    while counts.ndim > 1:
        counts = ak.sum(counts, axis=-1)
    return Column(ak.to_numpy(counts, allow_missing=False).astype(np.int32), values)
