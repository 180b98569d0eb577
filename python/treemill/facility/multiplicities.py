"""How many electrons, jets and muons the events of CMS's open data have: counts of all 53,446,198
events of `Run2012B_SingleMu`, and random numbers that are distributed like them.

The counts were published with "Evaluating Query Languages and Systems for High-Energy Physics
Data" (https://github.com/RumbleDB/hep-iris-benchmark-scripts).
"""

from __future__ import annotations

import csv
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .physics import Integers

__all__ = ["counts", "drawn"]

_FILE = "run2012b_multiplicities.csv"


@cache
def counts(kind: str) -> Integers:
    """The number of events by their number of "electrons", "jets" or "muons", from 0 on."""
    text = resources.files(__package__).joinpath(_FILE).read_text(encoding="utf-8")
    rows = [row for row in csv.DictReader(text.splitlines()) if row[kind]]
    histogram = np.zeros(max(int(row["num_particles"]) for row in rows) + 1, np.int64)
    for row in rows:
        histogram[int(row["num_particles"])] = int(row[kind])
    return histogram


def drawn(rng: np.random.Generator, kind: str, events: int) -> Integers:
    """Draws the number of particles of each event, distributed as in the real events."""
    steps = np.cumsum(counts(kind))
    return np.searchsorted(steps, rng.integers(0, steps[-1], events), side="right")
