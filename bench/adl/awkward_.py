"""The eight tasks with uproot, awkward and vector, array by array, as the libraries' guides have
them: only the branches needed, flat columns where that is faster, double precision.
"""

from collections.abc import Callable
from typing import Any

import awkward as ak
import boost_histogram as bh
import numpy as np
import uproot
import vector

from .tasks import TASKS, TREE

vector.register_awkward()

_CACHE = "4 GB"
"""For the arrays of a tree that is kept: more than the tasks read."""

_MOMENTUM = ("pt", "eta", "phi", "mass")
_LEPTON = (*_MOMENTUM, "charge")


def _collection(events: Any, name: str, fields: tuple[str, ...]) -> Any:
    columns = {field: events[f"{name}_{field}"] for field in fields}
    for field in set(fields) & set(_MOMENTUM):
        columns[field] = ak.values_astype(columns[field], np.float64)
    kind = "Momentum4D" if set(_MOMENTUM) <= set(fields) else "Momentum2D"
    return ak.zip(columns, with_name=kind)


def _flat(array: Any) -> Any:
    return ak.to_numpy(ak.flatten(array, axis=None))


def _met(events: Any) -> tuple[Any, ...]:
    return (events.MET_pt,)


def _jets(events: Any) -> tuple[Any, ...]:
    return (events.Jet_pt,)


def _central(events: Any) -> tuple[Any, ...]:
    return (_flat(events.Jet_pt)[np.abs(_flat(events.Jet_eta)) < 1],)


def _two_jets(events: Any) -> tuple[Any, ...]:
    return (events.MET_pt[ak.sum(events.Jet_pt > 40, axis=1) >= 2],)


def _dimuon(events: Any) -> tuple[Any, ...]:
    events = events[ak.num(events.Muon_pt) >= 2]
    muons = _collection(events, "Muon", _LEPTON)
    a, b = ak.unzip(ak.combinations(muons, 2))
    mass = (a + b).mass
    found = ak.any((a.charge != b.charge) & (mass > 60) & (mass < 120), axis=1)
    return (events.MET_pt[found],)


def _trijet(events: Any) -> tuple[Any, ...]:
    events = events[ak.num(events.Jet_pt) >= 3]
    jets = _collection(events, "Jet", (*_MOMENTUM, "btag"))
    momenta = jets.to_xyzt()
    a, b, c = ak.unzip(ak.combinations(momenta, 3))
    three = a + b + c
    best = ak.argmin(np.abs(three.mass - 172.5), axis=1, keepdims=True)
    tags = ak.unzip(ak.combinations(jets.btag, 3))
    btag = np.maximum(np.maximum(tags[0][best], tags[1][best]), tags[2][best])
    return three[best].pt, btag


def _ht(events: Any) -> tuple[Any, ...]:
    jets = _collection(events, "Jet", _MOMENTUM)
    jets = jets[jets.pt > 30]
    leptons = ak.concatenate(
        [_collection(events, name, _MOMENTUM) for name in ("Electron", "Muon")], axis=1
    )
    leptons = ak.with_name(leptons[leptons.pt > 10], "Momentum4D")
    pairs = ak.cartesian({"jet": jets, "lepton": leptons}, nested=True)
    near = ak.any(pairs.jet.deltaR(pairs.lepton) < 0.4, axis=2)
    return (ak.sum(jets.pt[~near], axis=1),)


def _transverse_mass(events: Any) -> tuple[Any, ...]:
    events = events[ak.num(events.Electron_pt) + ak.num(events.Muon_pt) >= 3]
    flavours = []
    for number, name in enumerate(("Electron", "Muon")):
        lepton = _collection(events, name, _LEPTON)
        flavours.append(ak.with_field(lepton, number, "flavour"))
    leptons = ak.with_name(ak.concatenate(flavours, axis=1), "Momentum4D")
    number = ak.local_index(leptons.pt)
    a, b = ak.unzip(ak.combinations(leptons, 2))
    first, second = ak.unzip(ak.argcombinations(leptons, 2))
    paired = (a.charge != b.charge) & (a.flavour == b.flavour)
    distance = np.abs((a[paired] + b[paired]).mass - 91.2)
    best = ak.argmin(distance, axis=1, keepdims=True)
    first, second = ak.firsts(first[paired][best]), ak.firsts(second[paired][best])
    found = ~ak.is_none(first)
    leptons, number, events = leptons[found], number[found], events[found]
    others = leptons[(number != first[found]) & (number != second[found])]
    leading = others[ak.argmax(others.pt, axis=1, keepdims=True)]
    met = ak.values_astype(events.MET_pt, np.float64)
    angle = leading.phi - ak.values_astype(events.MET_phi, np.float64)
    return (np.sqrt(2 * leading.pt * met * (1 - np.cos(angle))),)


_VALUES: dict[str, Callable[[Any], tuple[Any, ...]]] = {
    "adl1": _met,
    "adl2": _jets,
    "adl3": _central,
    "adl4": _two_jets,
    "adl5": _dimuon,
    "adl6": _trijet,
    "adl7": _ht,
    "adl8": _transverse_mass,
}


class _Awkward:
    def __init__(self, keeps: bool) -> None:
        self._kept: dict[str, Any] | None = {} if keeps else None

    def _tree(self, path: str) -> Any:
        if self._kept is None:
            return uproot.open(path, handler=uproot.MemmapSource)[TREE]
        if path not in self._kept:
            self._kept[path] = uproot.open(path, handler=uproot.MemmapSource, array_cache=_CACHE)[
                TREE
            ]
        return self._kept[path]

    def run(self, query: str, path: str) -> list[float]:
        task = TASKS[query]
        events = self._tree(path).arrays(list(task.branches))
        bins: list[float] = []
        for values, axis in zip(_VALUES[query](events), task.axes, strict=True):
            histogram = bh.Histogram(bh.axis.Regular(*axis))
            histogram.fill(_flat(values), threads=None)
            bins += histogram.values(flow=True).tolist()
        return bins

    def sweep(self, paths: list[str], branches: list[str]) -> float:
        raise NotImplementedError("the eight tasks only")

    def versions(self) -> dict[str, str]:
        return {m.__name__.replace("_", "-"): m.__version__ for m in (uproot, ak, vector, bh, np)}


def make(threads: int, variant: str) -> _Awkward:
    """awkward, which uses one thread. `variant` "kept": its trees stay open from round to round,
    and their arrays are in uproot's memory."""
    return _Awkward(keeps=variant == "kept")
