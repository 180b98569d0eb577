"""A session on a cluster gives what a local session gives."""

import dataclasses
import importlib
import re
import shutil
import time

import awkward as ak
import numpy as np
import pytest
import treemill as tm
from treemill.backends.dask.pool import DaskPool
from treemill.facility.generate import write

from tests.raising import raises


def bookings(events):
    good = events.filter("nMuon >= 2").define("pt", "Muon_pt[0]")
    return {
        "met": events.hist("MET_pt", bins=(50, 0, 200)),
        "pt": good.hist("pt", bins=20),  # finds its range in a pass of its own
        "n": good.count(),
        "sum": good.sum("pt"),
    }


def test_the_same_as_locally(session, events):
    there = session.run(bookings(events))
    here = tm.run(bookings(events))
    assert there["n"] == here["n"] > 0
    assert there["sum"] == pytest.approx(here["sum"], rel=1e-12)
    for name in ("met", "pt"):
        assert there[name].axes == here[name].axes
        assert np.array_equal(there[name].values(), here[name].values())
    assert session.report.entries == events.num_entries
    assert not session.report.missing


def test_selectors(session, events):
    out = session.run(lambda chunk: {"n": len(chunk)}, events)
    assert out["n"] == events.num_entries


def test_rows_and_a_part_of_the_data(session, events):
    part = events.filter("nMuon >= 2")
    there, here = (run(part.take("MET_pt"), entries=(100, 25_000)) for run in (session.run, tm.run))
    assert np.array_equal(np.sort(there), np.sort(here))


MODEL = """tree
version=v4
num_class=1
num_tree_per_iteration=1
max_feature_idx=1
objective=binary sigmoid:1
feature_names=met n

Tree=0
num_leaves=2
num_cat=0
split_feature=0
threshold=30
decision_type=2
left_child=-1
right_child=-2
leaf_value=-1.5 0.5

end of trees
"""


def test_a_model_travels_with_the_query(session, events, tmp_path):
    path = tmp_path / "bdt.txt"
    path.write_text(MODEL)
    node = events.with_params({"bdt": tm.model(path)})
    path.unlink()
    there, here = (run(node.sum("bdt.raw(MET_pt, nMuon)")) for run in (session.run, tm.run))
    assert there == pytest.approx(here)
    assert here != 0


@pytest.mark.parametrize("given", ["address", "client"])
def test_what_connect_takes(cluster, events, given):
    from distributed import Client

    if given == "address":
        with tm.connect(cluster.scheduler_address) as session:
            assert session.run(events.count()) == events.num_entries
        return
    with Client(cluster, set_as_default=False) as client:
        with tm.connect(client) as session:
            assert session.run(events.count()) == events.num_entries
        assert client.submit(lambda: 1).result() == 1, "the client is left as it was"


def test_an_error_of_the_users_code_names_the_place(session, events):
    def wrong(chunk):
        return {"n": len(chunk) // 0}

    with pytest.raises(tm.WorkerError) as caught:
        session.run(wrong, events)
    assert "ZeroDivisionError" in str(caught.value)
    assert "tcp://" in caught.value.worker
    assert caught.value.file.endswith(".root")
    assert caught.value.entries is not None
    assert "len(chunk) // 0" in caught.value.traceback


@pytest.mark.slow
def test_nobody_answers():
    with raises(tm.WorkerError, said="no scheduler answers"):
        tm.connect("tcp://127.0.0.1:1")


def test_uploaded_packages(session, events, tmp_path):
    folder = tmp_path / "cuts"
    folder.mkdir()
    for value in (20, 30):
        (folder / "cuts_of_test.py").write_text(f"CUT = {value}\n")
        session.upload(folder)

        def cut(chunk):
            import cuts_of_test

            return {"cut": {cuts_of_test.CUT}}

        assert session.run(cut, events)["cut"] == {value}


def test_a_module_that_only_this_process_has(session, events, tmp_path, monkeypatch):
    (tmp_path / "only_here_of_test.py").write_text("CUT = 20\n")
    monkeypatch.syspath_prepend(tmp_path)
    mine = importlib.import_module("only_here_of_test")
    with raises(tm.WorkerError, said="only_here_of_test session upload folder puts"):
        session.run(lambda chunk: {"n": mine.CUT}, events)


def test_a_file_that_a_worker_lacks(session, files, tmp_path):
    gone = tmp_path / "gone.root"
    shutil.copy(files[0], gone)
    events = tm.dataset([files[0], str(gone)], "Events")
    gone.unlink()
    with raises(tm.SourceError, about="gone.root") as caught:
        session.run(lambda chunk: {"n": len(chunk)}, events)
    notes = "\n".join(caught.value.__notes__)
    assert re.search(r"on worker \d+ on tcp://.*, in the folder /", notes)


def processor():
    """A processor of coffea's, made here so that workers get its class by value."""
    coffea = pytest.importorskip("coffea.processor", reason="coffea is not installed")

    class Muons(coffea.ProcessorABC):
        def process(self, events):
            import hist

            met = hist.Hist.new.Reg(50, 0, 200, name="met").Double()
            met.fill(events.MET.pt)
            good = events.Muon[events.Muon.pt > 25]
            return {
                events.metadata["dataset"]: {
                    "met": met,
                    "muons": int(ak.num(good).to_numpy().sum()),
                }
            }

        def postprocess(self, accumulator):
            accumulator["post"] = True

    return Muons()


@pytest.mark.filterwarnings("ignore")
def test_a_processor_of_coffeas_over_a_fileset(session, files):
    fileset = {name: {"files": dict.fromkeys(part, "Events")} for name, part in halves(files)}
    there = session.run(processor(), fileset)
    with tm.connect(workers=2) as local:
        here = local.run(processor(), fileset)
    assert there["post"] is here["post"] is True
    for name in fileset:
        assert there[name]["muons"] == here[name]["muons"] > 0
        assert np.array_equal(
            there[name]["met"].values(flow=True), here[name]["met"].values(flow=True)
        )


def halves(files):
    return [("first", files[:2]), ("second", files[2:])]


class Scaled(tm.Selector):
    def begin_worker(self, inputs):
        self.factor = inputs["factor"]
        self.output["sum"] = 0

    def process(self, events):
        self.output["sum"] += self.factor * len(events)

    def end(self, output):
        output["by"] = "the client"


def test_a_selector_with_inputs(session, events):
    for factor in (2, 3):
        output = session.run(Scaled(), events, inputs={"factor": factor})
        assert output["sum"] == factor * events.num_entries
        assert output["by"] == "the client"


def test_a_snapshot(session, events, tmp_path):
    """Workers of this machine write where this process reads."""
    path = str(tmp_path / "skim.root")
    good = events.filter("nMuon >= 2")
    session.run(good.snapshot(path, columns=["MET_pt", "Muon_pt"]))
    there = tm.dataset(path, "Events").arrays(["MET_pt", "Muon_pt"])
    here = good.arrays(["MET_pt", "Muon_pt"])
    assert sorted(there.MET_pt.to_list()) == sorted(here.MET_pt.to_list())
    assert ak.sum(there.Muon_pt) == pytest.approx(ak.sum(here.Muon_pt), rel=1e-6)
    assert [each.name for each in tmp_path.iterdir()] == ["skim.root"]


def test_workers_have_a_packet_ahead(cluster, tmp_path, monkeypatch):
    """They begin it without asking, and no entry is done twice or not at all."""
    short = dataclasses.replace(DaskPool.sizing, first=500, shortest=0.02, longest=0.1)
    monkeypatch.setattr(DaskPool, "sizing", short)
    path = tmp_path / "one.root"
    write(path, events=40_000, cluster=100, codec="zstd")

    def busy(chunk):
        time.sleep(len(chunk) * 5e-5)
        return {"n": len(chunk)}

    with tm.connect(cluster, trace=100_000) as session:
        found = session.run(busy, tm.dataset(str(path), tree="Events"), progress=False)
        assert found == {"n": 40_000}
        events = [record.event for record in session.report.trace.records]
    assert any(getattr(event, "begun", None) is not None for event in events)


def test_filesets(session, files):
    made = {
        "a": {"files": files[:1], "treename": "Events", "metadata": {"xsec": 2.0}},
        "b": {"files": files[1:], "treename": "Events", "metadata": {"xsec": 3}},
    }
    fs = tm.fileset(made).define_per_file("k", lambda file: len(file.dataset))
    good = fs.filter("nMuon >= 1")
    booked = good.count(), good.hist("MET_pt", bins=20, weight="xsec * k"), good.take("MET_pt")
    there, here = session.run(*booked), tm.run(*booked)
    assert there[0] == here[0]
    for name in made:
        assert np.allclose(there[1][name].values(), here[1][name].values(), rtol=1e-12)
        assert np.array_equal(np.sort(there[2][name]), np.sort(here[2][name]))
