"""`python -m bench kernels`: users' own functions in the loop. Histograms of one function as an
expression, as a kernel and as a Python callable over batches, beside the same in awkward with numba
and in RDataFrame with `Numba.Declare`. A table on standard output and in
`bench/results/<date>-<machine>-kernels.md`, raw numbers beside it. Bins are compared first.
"""

import math
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import awkward as ak
import numba
import numpy as np
import treemill as tm

from . import data, machine, publish
from .measured import Row, in_turn, ratios
from .options import Options

_LEGEND = """\
One histogram of a file in memory's cache, in one thread. The function of muons is their transverse
mass with the missing momentum (four numbers, item by item); that of lists is the scalar sum of jets
above 30 GeV by a loop (one list an event). "callable" is NumPy and awkward over batches; "awkward
and numba" reads with uproot, as coffea's users do by hand. What is compiled once is not counted.
Bins are equal but for entries that ROOT, which computes in single precision, has in the bin beside.
Ratios are a rival's time over that of treemill's kernel, round by round. ✓ the goal is reached, ✗
it is not; no mark: no goal.
"""
_NUMBA, _ROOT = "awkward and numba", "RDataFrame and Numba.Declare"
_RIVALS = (_NUMBA, _ROOT)
_BINS, _LOW, _HIGH = 100, 0.0, 300.0


def transverse_mass(pt, phi, met, met_phi):  # type: ignore[no-untyped-def]
    """Of a muon."""
    return math.sqrt(2 * pt * met * (1 - math.cos(phi - met_phi)))


def scalar_sum(pt):  # type: ignore[no-untyped-def]
    """Of jets above 30 GeV."""
    found = 0.0
    for x in pt:
        if x > 30:
            found += x
    return found


def _mass_of_columns(pt: Any, phi: Any, met: Any, met_phi: Any) -> Any:
    return np.sqrt(2 * pt * met * (1 - np.cos(phi - met_phi)))


def _sum_of_columns(pt: Any) -> Any:
    return ak.sum(pt[pt > 30], axis=1)


_GIVEN = {
    "muons": ["Muon.pt", "Muon.phi", "MET_pt", "MET_phi"],
    "lists": ["Jet.pt"],
}
_EXPRESSIONS = {
    "muons": "sqrt(2 * Muon.pt * MET_pt * (1 - cos(Muon.phi - MET_phi)))",
    "lists": "sum(Jet.pt[Jet.pt > 30])",
}
_KERNELS = {
    "muons": tm.kernel(transverse_mass),
    "lists": tm.kernel("float64(float64[:])")(scalar_sum),
}
_CALLABLES: dict[str, Callable[..., Any]] = {"muons": _mass_of_columns, "lists": _sum_of_columns}


def _treemill(path: Path, session: tm.Session, which: str, function: Any) -> Callable[[], Any]:
    events = tm.dataset(str(path), tree="Events")
    columns = _GIVEN[which] if callable(function) else None

    def run() -> Any:
        node = events.define("x", function, columns=columns)
        booked = node.hist("x", bins=(_BINS, _LOW, _HIGH))
        return session.run(booked, progress=False).values(flow=True)

    return run


@numba.njit  # type: ignore[untyped-decorator]
def _masses(pt: Any, phi: Any, met: Any, met_phi: Any, out: Any) -> None:
    n = 0
    for event in range(len(pt)):
        for i in range(len(pt[event])):
            wide = 2.0 * pt[event][i] * met[event]
            out[n] = math.sqrt(wide * (1 - math.cos(float(phi[event][i]) - met_phi[event])))
            n += 1


@numba.njit  # type: ignore[untyped-decorator]
def _sums(pt: Any, out: Any) -> None:
    for event in range(len(pt)):
        found = 0.0
        for x in pt[event]:
            if x > 30:
                found += x
        out[event] = found


def _awkward(path: Path, which: str) -> Callable[[], Any]:
    import boost_histogram as bh
    import uproot

    def run() -> Any:
        tree = uproot.open(path)["Events"]
        if which == "muons":
            names = ["Muon_pt", "Muon_phi", "MET_pt", "MET_phi"]
            read = tree.arrays(names)
            values = np.empty(ak.count(read.Muon_pt))
            met = [ak.values_astype(read[name], np.float64) for name in names[2:]]
            _masses(ak.values_astype(read.Muon_pt, np.float64), read.Muon_phi, *met, values)
        else:
            pt = tree["Jet_pt"].array()
            values = np.empty(len(pt))
            _sums(pt, values)
        histogram = bh.Histogram(bh.axis.Regular(_BINS, _LOW, _HIGH))
        return histogram.fill(values).values(flow=True)

    return run


_ITEMS = """
ROOT::RVecD bench_masses(const ROOT::RVecF &pt, const ROOT::RVecF &phi, float met, float met_phi) {
  ROOT::RVecD found(pt.size());
  for (size_t i = 0; i < pt.size(); ++i) found[i] = Numba::bench_mass(pt[i], phi[i], met, met_phi);
  return found;
}
"""


def _rdataframe(path: Path, which: str) -> Callable[[], Any]:
    import ROOT

    # ROOT declares names for the whole process.
    if which == "muons":
        ROOT.Numba.Declare(["float"] * 4, "double")(_named(transverse_mass, "bench_mass"))
        ROOT.gInterpreter.Declare(_ITEMS)
        text = "bench_masses(Muon_pt, Muon_phi, MET_pt, MET_phi)"
    else:
        ROOT.Numba.Declare(["RVecF"], "double")(_named(scalar_sum, "bench_sum"))
        text = "Numba::bench_sum(Jet_pt)"

    def run() -> Any:
        frame = ROOT.RDataFrame("Events", str(path)).Define("x", text)
        found = frame.Histo1D(("h", "", _BINS, _LOW, _HIGH), "x")
        array = found.GetArray()
        return np.array([array[i] for i in range(found.GetNcells())])

    return run


def _named(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    from types import FunctionType

    return FunctionType(function.__code__, function.__globals__, name)


def _tasks(path: Path, session: tm.Session) -> dict[str, Callable[[], Any]]:
    tasks: dict[str, Callable[[], Any]] = {}
    for which in _GIVEN:
        tasks |= {
            f"{which}, expression": _treemill(path, session, which, _EXPRESSIONS[which]),
            f"{which}, kernel": _treemill(path, session, which, _KERNELS[which]),
            f"{which}, callable": _treemill(path, session, which, _CALLABLES[which]),
            f"{which}, {_NUMBA}": _awkward(path, which),
        }
        try:
            tasks[f"{which}, {_ROOT}"] = _rdataframe(path, which)
        except Exception as error:  # ROOT raises no other for a package that it lacks
            print(f"RDataFrame is left out: {error} (it needs ROOT and cffi)", file=sys.stderr)
    return tasks


def _differ(found: dict[str, Any]) -> list[str]:
    """Tasks whose bins are not those of the expression. ROOT computes some of it in float32: an
    entry in a million may be in the bin beside."""
    wrong = []
    for name, bins in found.items():
        expected = found[f"{name.split(',')[0]}, expression"]
        moved = np.abs(np.asarray(bins) - expected).sum() / 2
        if moved > expected.sum() * 2e-5:
            wrong.append(f"{name}: {moved:.0f} of {expected.sum():.0f} entries are in other bins")
    return wrong


def _rows(taken: dict[str, tuple[float, ...]], events: int) -> Iterator[Row]:
    """Times, and the others' over the kernel's."""
    found = {
        name: Row(name, tuple(1e9 * each / events for each in seconds), "ns per event")
        for name, seconds in taken.items()
    }
    yield from found.values()
    for name, row in found.items():
        which, how = name.split(", ", 1)
        if how in _RIVALS:
            yield ratios(
                f"{name}, over treemill's kernel", row, found[f"{which}, kernel"], above=1.0
            )


def main(arguments: list[str]) -> int:
    """Measure and write."""
    import time

    options = Options("kernels", __doc__)
    options.size("rounds", 7, 2, "counted rounds of each measurement")
    options.size("events", 1_000_000, 50_000, "in the file")
    chosen = options.parse(arguments)
    facts = machine.describe("numba")
    path = data.make("zstd", chosen.events, chosen.data)
    data.warm_up(path)
    clock = time.process_time if chosen.clock == "cpu" else time.perf_counter
    with tm.connect(workers=1) as session:
        tasks = _tasks(path, session)
        wrong = _differ({name: task() for name, task in tasks.items()})
        if wrong:
            print("\n".join(wrong), file=sys.stderr)
            return 1
        taken = in_turn(chosen.rounds, tasks, clock)
    rows = [*_rows(taken, chosen.events)]
    about = machine.about(facts, f"{chosen.events:,} entries", chosen.rounds, chosen.clock)
    publish.rows(chosen, "kernels", "Users' own functions", _LEGEND, about, facts, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
