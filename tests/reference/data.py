"""Random jagged data for random expressions, small and full of corners: a file, and its events as
the slow evaluator has them, read by uproot.
"""

from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import uproot

from .values import Event


def write(
    path: Path, seed: int, entries: int = 40, step: int = 7, first: int = 0, apart: bool = False
) -> None:
    """Collections A and B of no items to five, values of the event, a list of its own. Entries are
    numbered from `first` on. `apart`: each list has a counter of its own, and some numbers have
    other types."""
    rng = np.random.default_rng(seed)

    def jagged(counts: Any, values: Any) -> Any:
        return ak.unflatten(values, counts)

    def collection(most: int) -> Any:
        counts = rng.integers(0, most, entries)
        n = int(counts.sum())
        return ak.zip(
            {
                "pt": jagged(counts, rng.exponential(20.0, n) + 0.5),
                "eta": jagged(counts, rng.normal(0.0, 1.5, n).astype(np.float32)),
                "phi": jagged(counts, rng.uniform(-3.14, 3.14, n)),
                "mass": jagged(counts, rng.exponential(3.0, n) + 0.1),
                "charge": jagged(counts, rng.integers(-1, 2, n).astype(np.int32)),
                "tag": jagged(counts, rng.random(n) < 0.4),
            }
        )

    x = rng.normal(5.0, 10.0, entries)
    x[3::17], x[4::19], x[5::23] = np.nan, np.inf, -np.inf
    free = rng.integers(0, 4, entries)
    columns = {
        "entry": np.arange(first, first + entries, dtype=np.int32),
        "x": x,
        "y": rng.exponential(20.0, entries).astype(np.float32),
        "i": rng.integers(-5, 6, entries).astype(np.int64),
        "k": rng.integers(-3, 4, entries).astype(np.int8),
        "flag": rng.random(entries) < 0.5,
        "A": collection(6),
        "B": collection(4),
        "free": jagged(free, rng.normal(1.0, 3.0, int(free.sum()))),
    }
    if apart:
        for name in ("A", "B"):
            members = columns.pop(name)
            columns[f"n{name}"] = ak.to_numpy(ak.num(members)).astype(np.int64)
            columns |= {f"{name}_{field}": members[field] for field in members.fields}
        columns |= {"y": columns["y"].astype(np.float64), "i": columns["i"].astype(np.int16)}
    types = {
        name: c.dtype if isinstance(c, np.ndarray) else ak.type(c).content
        for name, c in columns.items()
    }
    with uproot.recreate(path) as file:
        tree = file.mktree("Events", types, counter_name=lambda name: f"n{name}")
        for start in range(0, entries, step):
            tree.extend({name: c[start : start + step] for name, c in columns.items()})


def events(*paths: Path) -> list[Event]:
    """What is in the files, one after another."""
    rows = []
    for path in paths:
        with uproot.open(path) as file:
            rows += file["Events"].arrays().to_list()
    return [Event(row, ("A", "B")) for row in rows]
