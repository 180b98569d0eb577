"""treemill itself, through its public face, on a session of local threads."""

import treemill as tm

from .. import remembering
from ..queries import BINS, HIGH, LOW, TREE

_BINS = (BINS, LOW, HIGH)
# Query -> (filter, value)
_QUERIES = {
    "q1": (None, "MET_pt"),
    "q2": (None, "Jet_pt"),
    "q3": (None, "Jet_pt[abs(Jet_eta) < 1]"),
    "q4": ("sum(Jet_pt > 40) >= 2", "MET_pt"),
}


class _Treemill:
    def __init__(self, threads: int) -> None:
        self._session = tm.connect(workers=threads, mode="threads")

    def run(self, query: str, path: str) -> list[float]:
        where, value = _QUERIES[query]
        events = tm.dataset(path, tree=TREE)
        chosen = events if where is None else events.filter(where)
        histogram = self._session.run(chosen.hist(value, bins=_BINS), progress=False)
        bins: list[float] = histogram.values(flow=True).tolist()
        return bins

    def sweep(self, paths: list[str], branches: list[str]) -> float:
        events = tm.dataset(paths, tree=TREE)
        booked = [events.hist(name, bins=_BINS) for name in branches]
        self._session.run(*booked, progress=False)
        return float(sum(booking.value.values(flow=True).sum() for booking in booked))

    def versions(self) -> dict[str, str]:
        return {"treemill": tm.__version__}


def make(threads: int, variant: str) -> _Treemill:
    """treemill on `threads` threads; `variant`: whether it remembers what it decompressed."""
    if variant == remembering.VARIANT:
        remembering.as_users_have_it()
    return _Treemill(threads)
