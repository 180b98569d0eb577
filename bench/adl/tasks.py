"""The eight tasks of the analysis description benchmark: their names, the branches that they need
and the bins that they fill. How each rival writes them is up to the rival.

https://github.com/iris-hep/adl-benchmarks-index has the tasks in words. Bins are 2^n over a power
of two, so that the rule at an edge is exact everywhere.
"""

from dataclasses import dataclass

from ..queries import Query

TREE = "Events"

Axis = tuple[int, float, float]
_GEV: Axis = (128, 0.0, 256.0)


def _of(prefix: str, *names: str) -> tuple[str, ...]:
    return tuple(f"{prefix}_{name}" for name in names)


_MOMENTUM = ("pt", "eta", "phi", "mass")


@dataclass(frozen=True)
class Task(Query):
    """One of the eight."""

    axes: tuple[Axis, ...] = (_GEV,)


_ALL = (
    Task("adl1", "MET of all events", ("MET_pt",)),
    Task("adl2", "pT of all jets", ("Jet_pt",)),
    Task("adl3", "pT of jets with |eta| < 1", ("Jet_pt", "Jet_eta")),
    Task("adl4", "MET where >= 2 jets have pT > 40", ("Jet_pt", "MET_pt")),
    Task(
        "adl5",
        "MET where an opposite-charge muon pair has 60 to 120 GeV",
        (*_of("Muon", *_MOMENTUM, "charge"), "MET_pt"),
    ),
    Task(
        "adl6",
        "pT and highest b-tag of the trijet closest to 172.5 GeV",
        _of("Jet", *_MOMENTUM, "btag"),
        (_GEV, (128, 0.0, 1.0)),
    ),
    Task(
        "adl7",
        "sum of the pT of jets above 30 far from leptons above 10",
        tuple(f"{name}_{x}" for name in ("Jet", "Electron", "Muon") for x in _MOMENTUM),
        ((128, 0.0, 512.0),),
    ),
    Task(
        "adl8",
        "mT of MET and the lepton beside the pair closest to 91.2 GeV",
        (
            *_of("Electron", *_MOMENTUM, "charge"),
            *_of("Muon", *_MOMENTUM, "charge"),
            *_of("MET", "pt", "phi"),
        ),
    ),
)

TASKS = {task.key: task for task in _ALL}
