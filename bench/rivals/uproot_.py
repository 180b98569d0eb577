"""uproot + awkward + boost-histogram (what `hist` fills), in their fastest plain form: the branches
needed and no others, a memory-mapped file, one thread.
"""

from collections.abc import Callable

import awkward as ak
import boost_histogram as bh
import numpy as np
import numpy.typing as npt
import uproot

from ..queries import BINS, HIGH, LOW, TREE


def _tree(path: str) -> uproot.TTree:
    return uproot.open(path, handler=uproot.MemmapSource)[TREE]


def _flat(array: ak.Array) -> npt.NDArray[np.float32]:
    values: npt.NDArray[np.float32] = ak.flatten(array, axis=None).to_numpy()
    return values


def _met(path: str) -> npt.ArrayLike:
    return _flat(_tree(path)["MET_pt"].array())


def _jets(path: str) -> npt.ArrayLike:
    return _flat(_tree(path)["Jet_pt"].array())


def _central(path: str) -> npt.ArrayLike:
    # Flattening first and masking with NumPy is twice as fast as `Jet_pt[abs(Jet_eta) < 1]`.
    events = _tree(path).arrays(["Jet_pt", "Jet_eta"])
    return _flat(events.Jet_pt)[np.abs(_flat(events.Jet_eta)) < 1]


def _two_jets(path: str) -> npt.ArrayLike:
    events = _tree(path).arrays(["Jet_pt", "MET_pt"])
    return _flat(events.MET_pt[ak.sum(events.Jet_pt > 40, axis=1) >= 2])


_QUERIES: dict[str, Callable[[str], npt.ArrayLike]] = {
    "q1": _met,
    "q2": _jets,
    "q3": _central,
    "q4": _two_jets,
}


class _Uproot:
    def run(self, query: str, path: str) -> list[float]:
        histogram = bh.Histogram(bh.axis.Regular(BINS, LOW, HIGH))
        histogram.fill(_QUERIES[query](path), threads=None)
        bins: list[float] = histogram.values(flow=True).tolist()
        return bins

    def sweep(self, paths: list[str], branches: list[str]) -> float:
        histograms = {name: bh.Histogram(bh.axis.Regular(BINS, LOW, HIGH)) for name in branches}
        for path in paths:
            for chunk in _tree(path).iterate(branches):
                for name, histogram in histograms.items():
                    histogram.fill(_flat(chunk[name]), threads=None)
        return float(sum(h.sum(flow=True) for h in histograms.values()))

    def versions(self) -> dict[str, str]:
        return {m.__name__.replace("_", "-"): m.__version__ for m in (uproot, ak, bh, np)}


def make(threads: int, variant: str) -> _Uproot:
    """uproot, which has no variants here and uses one thread."""
    return _Uproot()
