"""Made-up events after the class `Event` of ROOT's own test suite, which PROOF's benchmark writes
too: a header, about 600 tracks with their columns, the tracks that are muons, and the bins of a
histogram. Values depend on the seed, the file and the place in it. Knows no file.

Where the class has references (`TRef`) to tracks, there are their numbers in the list of tracks.
https://github.com/root-project/root/blob/master/test/Event.h has the class.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .physics import Columns

__all__ = ["BINS", "TRACKS", "chunk"]

TRACKS = 600
"""Mean number of tracks of an event."""
BINS = 100
"""The number of bins of the histogram that each event has."""

_SPREAD = 25.0
_MUONS = 0.01
"""The share of the tracks that are muons."""
_TYPES = 5


def chunk(seed: int, file: int, start: int, count: int) -> Columns:
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
