"""What made-up files have in them: schema, number of events, seed, compression, kind of file. Equal
recipes give equal events, in whatever process files are written. Knows no file.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..errors import QueryError
from . import opendata
from .physics import chunk

if TYPE_CHECKING:
    from .physics import Columns

__all__ = ["CODECS", "KINDS", "SCHEMAS", "Recipe"]

# Made-up events after the class `Event` of ROOT's own test suite, which PROOF's benchmark writes
# too: a header, about 600 tracks with their columns, the tracks that are muons, and the bins of a
# histogram. Values depend on the seed, the file and the place in it. Knows no file. Where the
# class has references (`TRef`) to tracks, there are their numbers in the list of tracks.
# https://github.com/root-project/root/blob/master/test/Event.h has the class.

TRACKS = 600
"""Mean number of tracks of an event."""
BINS = 100
"""The number of bins of the histogram that each event has."""

_SPREAD = 25.0
_MUONS = 0.01
"""The share of the tracks that are muons."""
_TYPES = 5


def event_chunk(seed: int, file: int, start: int, count: int) -> Columns:
    """Columns of events `[start, start + count)` of a file: numpy arrays, one of them with a row
    for each event, and awkward arrays of records for collections."""
    import awkward as ak

    # The model's number makes these events differ from those of other schemas.
    rng = np.random.default_rng([1996, seed, file, start])
    counts = np.maximum(np.rint(rng.normal(TRACKS, _SPREAD, count)), 1).astype(np.int64)
    total = int(counts.sum())
    columns = _tracks(rng, total)
    is_muon = rng.random(total) < _MUONS
    of_event = np.repeat(np.arange(count), counts)
    first = np.cumsum(counts) - counts
    muons = np.flatnonzero(is_muon)
    muon_counts = np.bincount(of_event[muons], minlength=count)
    pt = np.hypot(columns["px"], columns["py"])
    muon = {
        "trackIdx": (muons - first[of_event[muons]]).astype(np.int32),
        "pt": pt[muons].astype(np.float32),
    }
    number = np.arange(count, dtype=np.uint64) + np.uint64(start)
    return {
        "run": np.full(count, 1_000 + file, dtype=np.int32),
        "event": number + np.uint64(file) * np.uint64(10_000_000_000) + np.uint64(1),
        "date": (960_312 + number // np.uint64(100_000)).astype(np.int32),
        "type": rng.integers(0, _TYPES, count, dtype=np.int32),
        "temperature": rng.normal(20.0, 0.1, count).astype(np.float32),
        "isValid": rng.random(count) < 0.99,
        "Track": ak.unflatten(ak.zip(columns), counts),
        "Muon": ak.unflatten(ak.zip(muon), muon_counts),
        # As TH1F has them: under- and overflow come first and last.
        "spectrum": rng.poisson(4.0, (count, BINS + 2)).astype(np.float32),
    }


def _tracks(rng: np.random.Generator, total: int) -> dict[str, np.ndarray]:
    """The columns of all tracks, without their events."""
    normal = rng.standard_normal((6, total), dtype=np.float32)
    px, py, pz = normal[0], normal[1], normal[2] * np.float32(3.0)
    return {
        "px": px,
        "py": py,
        "pz": pz,
        "mass2": rng.standard_exponential(total, dtype=np.float32),
        "vx": normal[3] * np.float32(0.1),
        "vy": normal[4] * np.float32(0.1),
        "vz": normal[5] * np.float32(10.0),
        "charge": (2 * rng.integers(0, 2, total, dtype=np.int8) - 1).astype(np.int32),
        "npoint": rng.poisson(60, total).astype(np.int32),
        "valid": rng.random(total, dtype=np.float32) < 0.9,
    }


SCHEMAS: dict[str, Callable[[int, int, int, int], Columns]] = {
    "demo": chunk,
    "opendata": opendata.open_data_chunk,
    "event": event_chunk,
}
"""Schemas by name: functions that give columns of events from (seed, file, start, count). "demo" is
a small NanoAOD; "opendata" has the branches and the multiplicities of CMS's open data in that form,
`Run2012B_SingleMu`; "event" is the `Event` of ROOT's test suite, which PROOF's benchmark writes."""

BLOCKS = {"event": 1_000}
"""The events that are drawn together, by schema, where they are not `BLOCK`. Events depend on the
block that they are in, and not on what is written together."""
BLOCK = 100_000

_VERSIONS = {"demo": 1, "opendata": 3, "event": 1}
"""Versions by schema. Raise one if the same recipe gives other values."""

CODECS = {"zlib": 1, "lz4": 4, "zstd": 5, "lzma": 7, "none": 0}
"""Compressions, with the level that ROOT and NanoAOD use."""
KINDS = ("ttree", "rntuple")


@dataclass(frozen=True)
class Recipe:
    """The files to write, and their content."""

    files: int = 4
    events_per_file: int = 500_000
    events_per_cluster: int = 100_000
    codec: str = "zstd"
    """One of CODECS."""
    seed: int = 1
    schema: str = "demo"
    """One of SCHEMAS."""
    level: int | None = None
    """The level of the compression; None: the usual one."""
    kind: str = "ttree"
    """One of KINDS."""

    def name(self, index: int) -> str:
        """The name of the file with this number."""
        return f"events_{index:03d}.root"

    def number(self, name: str) -> int | None:
        """The number of the file with this name; None if there is none.

        >>> Recipe(files=2).number("events_001.root"), Recipe(files=2).number("events_002.root")
        (1, None)
        """
        digits = name.removeprefix("events_").removesuffix(".root")
        if not (digits.isascii() and digits.isdecimal() and int(digits) < self.files):
            return None
        return int(digits) if name == self.name(int(digits)) else None

    def note(self, index: int) -> dict[str, object]:
        """Returns what decides on the content of the file with this number. It is kept in the
        file."""
        return self.made_from() | {"file": index}

    def made_from(self) -> dict[str, object]:
        """Returns what decides on the content of a file with a known number."""
        facts = asdict(self) | {"version": _VERSIONS.get(self.schema, 1)}
        del facts["files"]  # more files of the same recipe may be added
        if self.events_per_cluster != self.block:  # older files were drawn cluster by cluster
            facts["block"] = self.block
        return facts

    @property
    def block(self) -> int:
        """The events that are drawn together."""
        return BLOCKS.get(self.schema, BLOCK)

    def check(self) -> None:
        """Raises QueryError if there is no such schema, compression or kind of file."""
        for what, value, known in (
            ("schema", self.schema, SCHEMAS),
            ("compression", self.codec, CODECS),
            ("kind of file", self.kind, KINDS),
        ):
            if value not in known:
                raise QueryError(f"no {what} {value!r}", suggestions=[*known])
