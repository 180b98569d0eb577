"""What type checkers know of treemill: a user's script, read by mypy."""

import inspect
import subprocess
import sys
from pathlib import Path

import pytest
import treemill as tm
from treemill.session.options import RunKeywords, RunOptions

from tests.python.test_docstrings import DESCRIBED

SCRIPT = """
from collections.abc import Mapping
from pathlib import Path
from typing import Any, assert_type

import awkward as ak
import boost_histogram as bh
import hist
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

# What the pages of docs/ write as arguments.
folder = Path("data")
tm.dataset(folder / "a.root")
tm.dataset(sorted(folder.glob("*.root")), "Events", name="all", metadata={"xsec": 6.2})
tm.dataset(folder.glob("*.root"))
tm.dataset({"a.root": "Events", "b.root": None}, missing={"Jet_btag": -1.0, "HLT_*": False})
tm.dataset({folder / "a.root": "Events"}, missing={"genWeight": None, "w": [1.0], "s": "none"})
tm.dataset({"/store/a.root": ["root://a//store/a.root", "root://b//store/a.root"]}, "Events")
tm.dataset({"a.root": {"object_path": "Events", "steps": [[0, 100]]}}, schema="nanoaod")
tm.dataset("a.root", schema=None)
tm.dataset("a.root", schema=Processor)
fs = tm.fileset(
    {
        "dy": {"files": {"dy/*.root": "Events"}, "metadata": {"xsec": 6077.2, "is_mc": True}},
        "data": {"files": ["data/*.root:Events"], "metadata": {"xsec": 1.0, "is_mc": False}},
        "tt": "tt/*.root:Events",
        "w": ["w0.root:Events", "w1.root:Events"],
    },
    missing={"genWeight": 1.0},
)
tm.fileset("fileset.json", on_error="skip")
assert_type(fs["dy"], tm.Dataset)
assert_type(fs.subset(["dy"]), tm.Fileset)

events.add_friend(tm.dataset("friend.root"), index=("run", "event"))
events.add_friend("friend.root:Events", alias="f", index=False)
events.add_friend({"score": np.zeros(3), "n": [1, 2, 3]}, alias="nn", index=None)
events.select_entries([3, 5, 8])
events.select_entries(np.arange(3))
events.select_entries([True, False])
events.select_entries("lists.root:passed")
events.define("w", np.ones(3)).define("v", "w * 2").define("u", 1.0)
events.define_per_file("is_first", lambda file: "_000" in file.path)
good.filter(tm.lumi_mask("golden.json", unless="is_mc"))
tm.lumi_mask({"1": [[1, 20], [25, 25]]})
tm.lumi_mask({1: [(1, 20)]})

for histogram in (
    good.hist("x"),
    good.hist("x", bins=50),
    good.hist("x", bins=50, range=(0, 1)),
    good.hist("x", bins=50, range=[0.0, 1.0]),
    good.hist("x", bins=50, range="most"),
    good.hist("x", bins=(50, 0, 1)),
    good.hist("x", bins=[0, 1, 2.5], storage="Weight"),
    good.hist("x", bins=np.linspace(0, 1, 10), storage=hist.storage.Int64()),
    good.hist("x", bins=range(5), storage=hist.storage.Double),
    good.hist("x", bins=hist.axis.Regular(10, 0, 1, name="x")),
    good.hist("x", bins=bh.axis.Integer(0, 5)),
    good.hist("x", bins=hist.axis.StrCategory([], growth=True)),
    good.hist("x", bins=met.value),
    good.hist("x", bins=Hist.new.Reg(10, 0, 1)),
    good.hist("x", "y", bins=[20, (10, 0, 200)], label=["x", None]),
    good.hist("x", "y", bins=[[0, 1, 2], hist.axis.Boolean()]),
    good.hist("x", "y", bins=[20, None], range=[(0, 1), "all"]),
    good.profile("x", sample="y", bins=(10, 0, 100)),
):
    assert_type(histogram, tm.Booking[Hist[Any]])
good.draw("x", bins=(5, 0, 1), log=True)

tm.save({"met": met.value, "n": 3, "cuts": good.report(), "a": np.arange(3)}, folder / "r.json")
tm.save([met, n], "r.root")
tm.save(tm.run({"a": met}), "r.h5")
tm.plot(met)
tm.plot({"a": met, "b": met.value}, "met.png", ratio="efficiency")
tm.plot([met.value, met.value], title="two")
tm.plot.stack({"dy": met, "data": met.value}, data="data", signal=["dy"], colors={"dy": "red"})
tm.plot.stack({"dy": met}, data=met.value)
tm.plot.stack({"dy": met}, data=None)
tm.show(met.value)
tm.templates({"sr": {"dy": met, "tt": met.value}}, "shapes.root", rename={"jes:up": "JESUp"})
tm.cut_table({"all": good.report()})
tm.cut_table(good.report().value, show="efficiency")
tm.FileOutput("skim.root").write({"met": np.zeros(3), "pt": [[1.0], []]})
tm.connect("tcp://host:8786", most=10, on_host=2).close()
with tm.connect(["tcp://a:8786", session], reach={"0": "root://a/*"}) as sites:
    tm.connect({"here": sites, "there": ["tcp://b:1", "tcp://c:1"]})

tm.dataset(3)  # type: ignore[arg-type]
tm.dataset(b"a.root")  # type: ignore[arg-type]
tm.dataset("a.root", missing=3)  # type: ignore[arg-type]
tm.dataset("a.root", missing="zero")  # type: ignore[arg-type]
tm.dataset("a.root", schema=3)  # type: ignore[arg-type]
tm.fileset(["a.root"])  # type: ignore[arg-type]
events.add_friend("f.root", index=True)  # type: ignore[arg-type]
events.select_entries(3)  # type: ignore[arg-type]
good.hist("x", bins="many")  # type: ignore[arg-type]
good.hist("x", bins=2.5)  # type: ignore[arg-type]
good.hist("x", bins=5, range="zz")  # type: ignore[arg-type]
good.hist("x", bins=5, storage=3)  # type: ignore[arg-type]
good.draw("x", bins=2.5)  # type: ignore[arg-type]
tm.lumi_mask(3)  # type: ignore[arg-type]
tm.save(object(), "r.json")  # type: ignore[arg-type]
tm.show(3)  # type: ignore[arg-type]
tm.templates([met], "t.root")  # type: ignore[arg-type]
tm.cut_table(3)  # type: ignore[arg-type]
"""


@pytest.mark.parametrize("name", ["Booking", "Node", "Query", "Report", "Variations"])
def test_names_are_exported(name):
    assert name in tm.__all__
    assert getattr(tm, name).__name__ == name


@pytest.mark.parametrize("function", [tm.run, tm.Session.run, tm.Session.submit])
def test_signatures_name_the_options(function):
    taken = inspect.signature(function).parameters
    defaults = RunOptions().values
    assert defaults.keys() == RunKeywords.__annotations__.keys()
    for name, each in RunKeywords.__annotations__.items():
        assert taken[name].default == defaults[name]
        assert taken[name].annotation == each.__forward_arg__
        assert f"\n{name}\n" in inspect.getdoc(function)


FOR_ITSELF = {"Booking.set_value"}


@pytest.mark.parametrize("name", [name for name in DESCRIBED if name not in FOR_ITSELF])
def test_what_users_give_has_a_type(name):
    """`run` has overloads in the place of its signature: `Run`."""
    member = DESCRIBED[name]
    if callable(member) and member not in (tm.run, tm.Session.run, tm.Session.submit):
        taken = inspect.signature(member).parameters.values()
        assert "object" not in {each.annotation for each in taken}


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
