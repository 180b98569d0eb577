"""The queries that treemill, RDataFrame and awkward are all asked: one table, three spellings each.

Columns are 64-bit floats except `f`, so that all three do their arithmetic in the same precision.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import awkward as ak
import boost_histogram as bh
import numpy as np
import uproot

BINS = (40, -50.0, 150.0)


@dataclass(frozen=True)
class Case:
    """`fill`, `where` and `define` as treemill has them; `root` where C++ needs another spelling;
    `theirs` gives the values (event by event or item by item) from awkward, the weights last."""

    name: str
    fill: tuple[str, ...]
    theirs: Callable[[Any], Any]
    bins: tuple[Any, ...] = (BINS,)
    where: tuple[str, ...] = ()
    define: dict[str, str] = field(default_factory=dict)
    weight: str | None = None
    root: dict[str, str] = field(default_factory=dict)
    """treemill's spelling -> C++'s; what is not here is the same in both."""
    in_root: bool = True


def write(path: Path, entries: int = 20_000, step: int = 3_000) -> None:
    """The data: flat and jagged, signed and unsigned, with NaN, infinities and empty lists."""
    rng = np.random.default_rng(20)
    counts = {"Jet": rng.poisson(2.5, entries), "Muon": rng.integers(0, 4, entries)}
    counts["Jet"][::97] = 40

    def jagged(prefix: str, values: np.ndarray) -> ak.Array:
        return ak.unflatten(values, counts[prefix])

    jets, muons = (int(counts[name].sum()) for name in ("Jet", "Muon"))
    x = rng.normal(40, 50, entries)
    x[5::1009], x[6::1009], x[7::1009] = np.nan, np.inf, -np.inf
    flat = {
        "x": x,
        "y": rng.exponential(30, entries),
        "f": rng.exponential(30, entries).astype(np.float32),
        "w": rng.normal(1, 0.5, entries),
        "i": rng.integers(-20, 20, entries).astype(np.int32),
        "u": rng.integers(0, 200, entries).astype(np.uint8),
        "s": rng.integers(-30000, 30000, entries).astype(np.int16),
        "big": np.arange(entries, dtype=np.uint64) + np.uint64(2**40),
        "flag": rng.random(entries) < 0.3,
    }
    columns = flat | {
        "Jet": ak.zip(
            {
                "pt": jagged("Jet", rng.exponential(40, jets)),
                "eta": jagged("Jet", rng.normal(0, 2, jets)),
                "id": jagged("Jet", rng.integers(0, 7, jets).astype(np.int32)),
            }
        ),
        "Muon": ak.zip(
            {
                "pt": jagged("Muon", rng.exponential(20, muons)),
                "charge": jagged("Muon", rng.choice(np.array([-1, 1], np.int32), muons)),
            }
        ),
    }
    with uproot.recreate(path, compression=uproot.ZSTD(3)) as file:
        types = {
            name: c.dtype if isinstance(c, np.ndarray) else ak.type(c).content
            for name, c in columns.items()
        }
        tree = file.mktree("Events", types, counter_name=lambda name: f"n{name}")
        for start in range(0, entries, step):
            tree.extend({name: c[start : start + step] for name, c in columns.items()})


def flat(*arrays: Any) -> list[np.ndarray]:
    """Broadcast event values to their items, flatten."""
    return [ak.to_numpy(ak.flatten(a, axis=None)) for a in ak.broadcast_arrays(*arrays)]


EDGES = [-30.0, -3.5, 0.25, 10.0, 11.0, 80.0, 200.0]
INTEGERS = bh.axis.Integer(-5, 10)
PT = (50, 0.0, 200.0)
ETA = (20, -4.0, 4.0)

CASES = (
    # One value an event.
    Case("float64", ("x",), lambda e: [e.x]),
    Case("float32", ("f",), lambda e: [e.f], (PT,)),
    Case("int32", ("i",), lambda e: [e.i], (INTEGERS,)),
    Case("uint8", ("u",), lambda e: [e.u], (bh.axis.Integer(0, 150),)),
    Case("int16", ("s",), lambda e: [e.s], ((64, -32768.0, 32768.0),)),
    Case("uint64", ("big - 1099511627776",), lambda e: [e.big - 2**40], ((64, 0.0, 16384.0),)),
    Case("bool", ("flag",), lambda e: [ak.values_astype(e.flag, int)], (bh.axis.Integer(0, 2),)),
    Case("arithmetic", ("x * 2 - y / 3 + 1",), lambda e: [e.x * 2 - e.y / 3 + 1]),
    Case("power", ("y**2",), lambda e: [e.y**2], ((32, 0.0, 4096.0),), root={"y**2": "y * y"}),
    Case(
        "integers", ("i * i + 3 * i",), lambda e: [e.i * e.i + 3 * e.i], (bh.axis.Integer(-3, 300),)
    ),
    Case(
        "true division",
        ("i / 7",),
        lambda e: [e.i / 7],
        ((21, -3.1, 3.1),),
        root={"i / 7": "i / 7."},
    ),
    Case("modulo", ("u % 7",), lambda e: [e.u % 7], (bh.axis.Integer(0, 7),)),
    Case("bits", ("u & 12",), lambda e: [e.u & 12], (bh.axis.Integer(0, 16),)),
    Case(
        "functions",
        ("sqrt(y) + log(y + 1) * exp(-y / 50)",),
        lambda e: [np.sqrt(e.y) + np.log(e.y + 1) * np.exp(-e.y / 50)],
        ((64, 0.0, 16.0),),
    ),
    Case("angles", ("cos(x) * sin(y)",), lambda e: [np.cos(e.x) * np.sin(e.y)], ((50, -1.0, 1.0),)),
    Case("hyperbolic", ("cosh(x / 50)",), lambda e: [np.cosh(e.x / 50)], ((50, 0.0, 10.0),)),
    Case("absolute", ("abs(x)",), lambda e: [abs(e.x)], root={"abs(x)": "std::abs(x)"}),
    # Axes.
    Case("edges", ("x",), lambda e: [e.x], (EDGES,)),
    Case(
        "integer axis without flow",
        ("i",),
        lambda e: [e.i],
        (bh.axis.Integer(-5, 10, underflow=False, overflow=False),),
        in_root=False,
    ),
    Case("category", ("i",), lambda e: [e.i], (bh.axis.IntCategory([3, -7, 11]),), in_root=False),
    Case(
        "circular",
        ("x",),
        lambda e: [e.x],
        (bh.axis.Regular(12, 0, 60, circular=True),),
        in_root=False,
    ),
    Case("boolean axis", ("flag",), lambda e: [e.flag], (bh.axis.Boolean(),), in_root=False),
    # Filters and definitions.
    Case("filter", ("x",), lambda e: [e.x[e.y > 20]], where=("y > 20",)),
    Case("filters", ("x",), lambda e: [e.x[(e.y > 20) & (e.i < 3)]], where=("y > 20", "i < 3")),
    Case(
        "logic",
        ("x",),
        lambda e: [e.x[((e.y > 20) & ~e.flag) | (e.i == 4)]],
        where=("(y > 20 and not flag) or i == 4",),
        root={"(y > 20 and not flag) or i == 4": "(y > 20 && !flag) || i == 4"},
    ),
    Case(
        "C logic",
        ("x",),
        lambda e: [e.x[((e.y > 20) & ~e.flag) | (e.i == 4)]],
        where=("(y > 20 && !flag) || i == 4",),
    ),
    Case(
        "chained",
        ("x",),
        lambda e: [e.x[(e.y > 10) & (e.y < 30)]],
        where=("10 < y < 30",),
        root={"10 < y < 30": "10 < y && y < 30"},
    ),
    Case(
        "NaN passes nothing",
        ("y",),
        lambda e: [e.y[(e.x < 0) | (e.x >= 0)]],
        where=("x < 0 or x >= 0",),
        root={"x < 0 or x >= 0": "x < 0 || x >= 0"},
    ),
    Case("no event is left", ("x",), lambda e: [e.x[e.y < -1]], where=("y < -1",)),
    Case(
        "define",
        ("z",),
        lambda e: [(e.x + e.y) ** 2 / 100],
        define={"z": "(x + y) * (x + y) / 100"},
    ),
    Case("weight", ("x",), lambda e: [e.x, e.w], weight="w"),
    Case(
        "weight expression",
        ("x",),
        lambda e: [e.x[e.flag], (e.w * e.y)[e.flag]],
        where=("flag",),
        weight="w * y",
    ),
    # One value an item.
    Case("items", ("Jet_pt",), lambda e: flat(e.Jet_pt), (PT,)),
    Case("integer items", ("Jet_id",), lambda e: flat(e.Jet_id), (bh.axis.Integer(0, 5),)),
    Case("counter", ("nJet",), lambda e: [e.nJet], (bh.axis.Integer(0, 12),)),
    Case(
        "item arithmetic",
        ("Jet_pt * cosh(Jet_eta)",),
        lambda e: flat(e.Jet_pt * np.cosh(e.Jet_eta)),
        ((64, 0.0, 1024.0),),
    ),
    Case("item and event", ("Jet_pt - y",), lambda e: flat(e.Jet_pt - e.y)),
    Case(
        "mask", ("Jet_pt[abs(Jet_eta) < 1]",), lambda e: flat(e.Jet_pt[abs(e.Jet_eta) < 1]), (PT,)
    ),
    Case(
        "masks",
        ("Jet_pt[(Jet_pt > 20) & (Jet_id == 3)]",),
        lambda e: flat(e.Jet_pt[(e.Jet_pt > 20) & (e.Jet_id == 3)]),
        (PT,),
        root={"Jet_pt[(Jet_pt > 20) & (Jet_id == 3)]": "Jet_pt[Jet_pt > 20 && Jet_id == 3]"},
    ),
    Case(
        "defined mask",
        ("good_eta",),
        lambda e: flat(e.Jet_eta[e.Jet_pt > 30]),
        (ETA,),
        define={"good_eta": "Jet_eta[Jet_pt > 30]"},
    ),
    Case(
        "items with the event's weight",
        ("Jet_pt",),
        lambda e: flat(e.Jet_pt, e.w),
        (PT,),
        weight="w",
    ),
    Case(
        "items with their weight",
        ("Jet_pt",),
        lambda e: flat(e.Jet_pt, e.Jet_eta),
        (PT,),
        weight="Jet_eta",
    ),
    Case("filtered items", ("Jet_pt",), lambda e: flat(e.Jet_pt[e.flag]), (PT,), where=("flag",)),
    # Reductions.
    Case(
        "sum",
        ("sum(Jet_pt)",),
        lambda e: [ak.sum(e.Jet_pt, axis=1)],
        ((64, 0.0, 512.0),),
        root={"sum(Jet_pt)": "Sum(Jet_pt)"},
    ),
    Case(
        "count passing",
        ("sum(Jet_pt > 40)",),
        lambda e: [ak.sum(e.Jet_pt > 40, axis=1)],
        (bh.axis.Integer(0, 6),),
        root={"sum(Jet_pt > 40)": "(int)Sum(Jet_pt > 40)"},
    ),
    Case(
        "sum of masked",
        ("sum(Jet_pt[Jet_pt > 30])",),
        lambda e: [ak.sum(e.Jet_pt[e.Jet_pt > 30], axis=1)],
        ((64, 0.0, 512.0),),
        root={"sum(Jet_pt[Jet_pt > 30])": "Sum(Jet_pt[Jet_pt > 30])"},
    ),
    Case(
        "any",
        ("y",),
        lambda e: [e.y[ak.any(e.Jet_pt > 60, axis=1)]],
        where=("any(Jet_pt > 60)",),
        root={"any(Jet_pt > 60)": "Any(Jet_pt > 60)"},
    ),
    Case(
        "all",
        ("y",),
        lambda e: [e.y[ak.all(e.Jet_pt > 10, axis=1)]],
        where=("all(Jet_pt > 10)",),
        root={"all(Jet_pt > 10)": "All(Jet_pt > 10)"},
    ),
    Case(
        "len",
        ("len(Muon_pt)",),
        lambda e: [ak.num(e.Muon_pt)],
        (bh.axis.Integer(0, 3),),
        root={"len(Muon_pt)": "(int)Muon_pt.size()"},
    ),
    Case(
        "max",
        ("max(Jet_pt)",),
        lambda e: [ak.max(e.Jet_pt[e.nJet > 0], axis=1)],
        (PT,),
        where=("nJet > 0",),
        root={"max(Jet_pt)": "Max(Jet_pt)"},
    ),
    Case(
        "min",
        ("min(Jet_pt)",),
        lambda e: [ak.min(e.Jet_pt[e.nJet > 0], axis=1)],
        (PT,),
        where=("nJet > 0",),
        root={"min(Jet_pt)": "Min(Jet_pt)"},
    ),
    Case(
        "max of none fills nothing",
        ("max(Jet_pt)",),
        lambda e: [ak.drop_none(ak.max(e.Jet_pt, axis=1))],
        (PT,),
        in_root=False,
    ),
    Case(
        "index", ("Jet_pt[0]",), lambda e: [e.Jet_pt[e.nJet > 0][:, 0]], (PT,), where=("nJet > 0",)
    ),
    Case(
        "index of some",
        ("Jet_pt[1]",),
        lambda e: [e.Jet_pt[e.nJet > 1][:, 1]],
        (PT,),
        in_root=False,
    ),
    Case(
        "last",
        ("Jet_pt[-1]",),
        lambda e: [e.Jet_pt[e.nJet > 0][:, -1]],
        (PT,),
        where=("nJet > 0",),
        root={"Jet_pt[-1]": "Jet_pt[Jet_pt.size() - 1]"},
    ),
    Case(
        "missing passes no filter",
        ("y",),
        lambda e: [e.y[ak.fill_none(ak.firsts(e.Jet_pt) > 40, False)]],
        where=("Jet_pt[0] > 40",),
        root={"Jet_pt[0] > 40": "nJet > 0 && Jet_pt[0] > 40"},
    ),
    Case(
        "two jets",
        ("f",),
        lambda e: [e.f[ak.sum(e.Jet_pt > 40, axis=1) >= 2]],
        (PT,),
        where=("sum(Jet_pt > 40) >= 2",),
        root={"sum(Jet_pt > 40) >= 2": "Sum(Jet_pt > 40) >= 2"},
    ),
    # More dimensions.
    Case("2D", ("x", "y"), lambda e: [e.x, e.y], (BINS, PT)),
    Case("2D edges, weighted", ("x", "y"), lambda e: [e.x, e.y, e.w], (EDGES, PT), weight="w"),
    Case("2D items", ("Jet_pt", "Jet_eta"), lambda e: flat(e.Jet_pt, e.Jet_eta), (PT, ETA)),
    Case("2D items and event", ("Jet_pt", "y"), lambda e: flat(e.Jet_pt, e.y), (PT, PT)),
    Case("3D", ("x", "y", "i"), lambda e: [e.x, e.y, e.i], (BINS, PT, (15, -5.5, 9.5))),
    Case(
        "3D items, weighted",
        ("Jet_pt", "Jet_eta", "y"),
        lambda e: flat(e.Jet_pt, e.Jet_eta, e.y, e.w),
        (PT, ETA, PT),
        weight="w",
    ),
)
