"""What type checkers know of treemill: a user's script, read by mypy."""

import inspect
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest
import treemill as tm
from treemill.session.options import RunKeywords, RunOptions

SCRIPT = """
from collections.abc import Mapping
from typing import Any, assert_type

import awkward as ak
import numpy as np
import numpy.typing as npt
import treemill as tm
from hist import Hist

events = tm.dataset("data/*.root", tree="Events")
good: tm.Node = events.filter("nMuon >= 2").define("ht", "sum(Jet_pt)")
met = good.hist("MET_pt", bins=(100, 0, 200), weight="w")
n = good.count()
assert_type(n, tm.Booking[int])
assert_type(n.value, int)
assert_type(met.value, Hist[Any])
assert_type(events.sum("ht").value, float)
assert_type(good.mean("ht").value, float | None)
assert_type(good.approx_quantiles("ht", 0.5).value, float | None)
assert_type(good.approx_quantiles("ht", [0.1, 0.5]).value, npt.NDArray[Any] | None)
assert_type(good.unique("nJet").value, npt.NDArray[Any])
assert_type(good.snapshot("skim.root", ["ht"]).value, tm.SnapshotFile)
assert_type(good.report().value, tm.CutFlow)
assert_type(tm.run(n), int)
assert_type(tm.run(met, n), tuple[Hist[Any], int])
assert_type(tm.run(met, n, n, progress=False), tuple[Hist[Any], int, int])
assert_type(tm.run({"dy": n}), dict[str, int])
assert_type(tm.run([n, n]), list[int])
assert_type(events.arrays(["Muon_pt", "MET_pt"], start=0, stop=1000), ak.Array)
assert_type(good.arrays(["ht"]), ak.Array)
assert_type(good.take(["ht"]).value, ak.Array)
assert_type(events.to_numpy("ht"), dict[str, npt.NDArray[Any]])
assert_type(events.draw("Muon_pt", where="nMuon >= 2"), Hist[Any])
with tm.connect(workers=2) as session:
    assert_type(session.run(met, n), tuple[Hist[Any], int])
    output = session.run(lambda chunk: {"n": len(chunk)}, events, inputs={"cut": 20.0})
    query: tm.Query = session.submit(n)
    report: tm.Report | None = session.report


def integral(booking: tm.Booking[float]) -> float:
    return booking.value


integral(n)
integral(met)  # type: ignore[arg-type]
tm.run(n, workers=3)  # type: ignore[call-overload]


class Mine(tm.Selector):
    def begin(self, inputs: Mapping[str, Any]) -> None:
        self.book("met", events.hist("MET_pt", bins=(100, 0, 200)))

    def begin_worker(self, inputs: Mapping[str, Any]) -> None:
        self.output["h"] = Hist.new.Reg(10, 0, 1).Double()

    def process(self, chunk: ak.Array) -> dict[str, int]:
        self.output["h"].fill(self.rng.normal(size=len(chunk)))
        return {"n": len(chunk)}

    def end(self, output: dict[str, Any]) -> int:
        return int(output["n"])


class Processor:
    def process(self, chunk: ak.Array) -> dict[str, int]:
        return {"n": len(chunk)}

    def postprocess(self, accumulator: dict[str, int]) -> None:
        pass


tm.run(Mine(), events)
tm.run(Processor(), events)
"""


@pytest.mark.parametrize("name", ["Booking", "Node", "Query", "Report", "Variations"])
def test_names_are_exported(name):
    assert name in tm.__all__
    assert getattr(tm, name).__name__ == name


def test_keywords_of_run_are_the_options():
    assert RunKeywords.__annotations__.keys() == {field.name for field in fields(RunOptions)}
    types = {name: each.__forward_arg__ for name, each in RunKeywords.__annotations__.items()}
    assert types == {field.name: field.type for field in fields(RunOptions)}


@pytest.mark.parametrize("function", [tm.run, tm.Session.run, tm.Session.submit])
def test_signatures_name_the_options(function):
    taken = inspect.signature(function).parameters
    for field in fields(RunOptions):
        assert taken[field.name].default == field.default
        assert f"\n{field.name}\n" in inspect.getdoc(function)


@pytest.mark.slow
def test_a_users_script(tmp_path):
    pytest.importorskip("mypy")
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    config = tmp_path / "mypy.ini"
    # Other libraries' own types are not looked into: awkward, hist and what these import.
    config.write_text(
        f"[mypy]\nmypy_path = {Path(tm.__file__).parents[1]}\nstrict = True\n"
        "follow_imports = silent\n"
        "[mypy-awkward.*,uproot.*,pyarrow.*,matplotlib.*,mplhep.*,coffea.*,IPython.*,uhi.*]\n"
        "ignore_missing_imports = True\nfollow_imports = skip\n"
    )
    command = [sys.executable, "-m", "mypy", "--config-file", str(config), str(script)]
    done = subprocess.run(
        [*command, "--cache-dir", str(tmp_path / "cache")], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_the_stub_of_the_core_fits_the_core():
    pytest.importorskip("mypy")
    command = [sys.executable, "-m", "mypy.stubtest", "--concise", "treemill._core"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
