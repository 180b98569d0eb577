"""A query, a selector with inputs and a processor of coffea's give the same on 1, 2, 4 and 8 worker
processes, on two clusters under one session, and on this machine."""

import hist
import numpy as np
import pytest
import treemill as tm

SIZES = [1, 2, 4, 8]


@pytest.fixture(scope="module")
def eight():
    from distributed import LocalCluster

    with LocalCluster(n_workers=8, threads_per_worker=1, dashboard_address=None) as made:
        yield made


class Summed(tm.Selector):
    """Counts and sums what the cut leaves."""

    def begin_worker(self, inputs):
        self.cut = inputs["cut"]
        self.output["n"] = 0
        self.output["met"] = hist.Hist.new.Reg(50, 0, 200, name="met").Double()

    def process(self, events):
        good = events[events.MET_pt > self.cut]
        self.output["n"] += len(good)
        self.output["met"].fill(good.MET_pt)

    def end(self, output):
        output["by"] = "the client"


def processor():
    coffea = pytest.importorskip("coffea.processor", reason="coffea is not installed")

    class Counted(coffea.ProcessorABC):
        def process(self, events):
            met = hist.Hist.new.Reg(50, 0, 200, name="met").Double()
            met.fill(events.MET.pt)
            return {events.metadata["dataset"]: {"met": met, "n": len(events)}}

        def postprocess(self, accumulator):
            return accumulator

    return Counted()


def query(session, events, files):
    good = events.filter("nMuon >= 2").define("pt", "Muon_pt[0]")
    met, pt, n = session.run(
        events.hist("MET_pt", bins=(50, 0, 200)), good.hist("pt", bins=20), good.count()
    )
    return met.values(flow=True), pt.values(flow=True), pt.axes[0].edges, n


def selector(session, events, files):
    output = session.run(Summed(), events, inputs={"cut": 20.0})
    return output["met"].values(flow=True), output["n"], output["by"]


def coffea(session, events, files):
    halves = {"first": files[:2], "second": files[2:]}
    fileset = {name: {"files": dict.fromkeys(part, "Events")} for name, part in halves.items()}
    output = session.run(processor(), fileset)
    numbers = [output[name]["n"] for name in halves]
    return *numbers, *(output[name]["met"].values(flow=True) for name in halves)


KINDS = [query, *(pytest.param(ask, marks=pytest.mark.slow) for ask in (selector, coffea))]


def same(there, here):
    for one, other in zip(there, here, strict=True):
        assert np.array_equal(one, other), "to the bit: all of them are counts"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("ask", KINDS)
def test_the_same_on_any_number_of_processes(eight, events, files, ask):
    with tm.connect(workers=1) as local:
        here = ask(local, events, files)
    for size in SIZES:
        with tm.connect(eight, most=size) as session:
            assert session.workers == size
            same(ask(session, events, files), here)
            assert session.report.entries == events.num_entries
            assert not session.report.missing


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("ask", KINDS)
def test_the_same_on_two_clusters(cluster, eight, events, files, ask):
    with tm.connect(workers=1) as local:
        here = ask(local, events, files)
    with tm.connect([cluster, eight]) as session:
        same(ask(session, events, files), here)
