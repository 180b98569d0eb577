"""Selectors, functions and processors on both kinds of workers, against uproot's numbers."""

import threading

import awkward as ak
import hist
import numpy as np
import pytest
import treemill as tm
from treemill.session.api import connect

from tests.raising import raises


@pytest.fixture(params=[(1, "threads"), (3, "threads"), (2, "processes")], ids=str, scope="module")
def session(request):
    workers, mode = request.param
    with connect(workers=workers, mode=mode) as made:
        yield made


class Locked(tm.Selector):
    def __init__(self):
        self.cut, self.guard = 3, threading.Lock()

    def process(self, events):
        pass


def test_a_selector_that_cannot_be_copied_is_an_error_that_names_the_attribute(session, events):
    with raises(tm.QueryError, said="Locked s guard cannot be copied begin_worker"):
        session.run(Locked(), events)


class DiMuon(tm.Selector):
    def begin(self, inputs):
        self.begun = inputs["cut"]

    def begin_worker(self, inputs):
        self.output["met"] = hist.Hist(hist.axis.Regular(50, 0, 100, name="met"))
        self.output["events"] = 0
        self.output["jets"] = np.zeros(3)
        self.output["files"] = set()
        self.output["by"] = {}

    def process(self, events):
        good = events[events.nMuon >= self.inputs["cut"]]
        self.output["met"].fill(good.MET_pt)
        self.output["events"] += len(good)
        self.output["jets"] += np.bincount(np.minimum(np.asarray(events.nJet), 2), minlength=3)
        self.output["files"].add(events.metadata["filename"])
        self.output["by"].setdefault(events.metadata["dataset"], []).append(len(events))

    def end(self, output):
        output["ended"] = self.begun


def test_selector(session, paths, truth, nothing_remembered):
    events = tm.dataset(paths, "Events", name="ttbar")
    output = session.run(DiMuon(), events, inputs={"cut": 2})
    good = truth[truth.nMuon >= 2]
    expected = hist.Hist(hist.axis.Regular(50, 0, 100, name="met")).fill(good.MET_pt)
    assert output["met"] == expected
    assert output["events"] == len(good)
    assert output["jets"].tolist() == np.bincount(np.minimum(truth.nJet, 2)).tolist()
    assert output["files"] == set(paths)
    assert sum(output["by"]["ttbar"]) == len(truth)
    assert output["ended"] == 2
    assert session.report.complete
    assert session.report.entries == len(truth)
    assert session.queries[-1].progress.entries == len(truth)
    assert session.report.bytes_read > 0


def test_the_users_object_stays_as_it_was(session, events):
    selector = DiMuon()
    session.run(selector, events, inputs={"cut": 1})
    assert vars(selector) == {"begun": 1}


def test_function(session, events, truth):
    def sums(events):
        return {"n": len(events), "pt": ak.sum(ak.values_astype(events.Jet_pt, float))}

    output = session.run(sums, events)
    assert output["n"] == len(truth)
    assert output["pt"] == pytest.approx(ak.sum(ak.values_astype(truth.Jet_pt, float)), rel=1e-12)


class Processor:
    """What coffea's ProcessorABC asks for, without coffea."""

    @property
    def accumulator(self):
        return {}

    def process(self, events):
        name = events.metadata["dataset"]
        jets = events.Jet[events.Jet.pt > 30]
        return {name: {"n": len(events), "ht": float(ak.sum(jets.pt)), "met": len(events.MET.pt)}}

    def postprocess(self, accumulator):
        return {"done": accumulator}


def test_processor(session, paths, truth):
    output = session.run(Processor(), tm.dataset(paths, "Events", name="dy"))["done"]["dy"]
    assert output["n"] == output["met"] == len(truth)
    assert output["ht"] == pytest.approx(ak.sum(truth.Jet_pt[truth.Jet_pt > 30]), rel=1e-5)


class Ending(tm.Selector):
    def begin_worker(self, inputs):
        self.output["n"] = 0

    def process(self, events):
        self.output["n"] += len(events)

    def end_worker(self):
        self.output["n"] *= 10


def test_end_worker_sees_all_of_a_workers_output(session, events, truth):
    assert session.run(Ending(), events) == {"n": 10 * len(truth)}


@pytest.mark.parametrize(
    ("entries", "max_files"),
    [(100, None), ((4000, 6000), None), (range(5000, 5001), None), ((-10, None), None), (None, 1)],
)
def test_subsets(session, events, truth, entries, max_files):
    options = {"entries": entries, "max_files": max_files}
    jets = session.run(lambda e: {"sum": ak.sum(e.nJet)}, events, **options)["sum"]
    number, total = session.run(events.count(), events.sum("nJet"), **options)
    if entries is None:
        part = truth[:5000]
    elif isinstance(entries, int):
        part = truth[:entries]
    elif isinstance(entries, range):
        part = truth[entries.start : entries.stop]
    else:
        part = truth[slice(*entries)]
    assert number == len(part) == session.report.entries
    assert total == jets == ak.sum(part.nJet)
    assert not events.count().done


def test_subset_of_nothing(session, events):
    assert session.run(Ending(), events, entries=0) == {"n": 0}
    assert session.run(events.count(), entries=0) == 0
    with raises(tm.QueryError, about="max_files"):
        session.run(events.count(), max_files=0)
    with raises(tm.QueryError, about="entries"):
        session.run(events.count(), entries="all")
    assert session.run(events.count(), entries=(-3, None)) == 3
    with raises(tm.QueryError, said="-3, None are the last ones"):
        session.run(events.count(), entries=-3)


class Toys(tm.Selector):
    def begin_worker(self, inputs):
        self.output["counts"] = np.zeros(10, int)
        self.output["blocks"] = set()

    def process(self, cycles):
        numbers = self.rng.integers(0, 10, len(cycles))
        self.output["counts"] += np.bincount(numbers, minlength=10)
        self.output["blocks"].add((cycles.start, cycles.stop, tuple(numbers[:8])))


def test_cycles_are_reproducible_on_any_workers(session):
    output = session.run(Toys(), cycles=100_001)
    assert output["counts"].sum() == 100_001
    assert session.report.entries == 100_001
    with connect(workers=1) as one:
        same = one.run(Toys(), cycles=100_001)
        other = one.run(Toys(), cycles=100_001, seed=1)
    assert same["counts"].tolist() == output["counts"].tolist()
    assert same["blocks"] == output["blocks"]
    assert len({numbers for _, _, numbers in output["blocks"]}) == len(output["blocks"])
    assert other["counts"].tolist() != output["counts"].tolist()


def test_file_output(session, events, truth, tmp_path):
    path = tmp_path / "skim.root"
    path.write_text("an older file")

    class Skim(tm.Selector):
        def begin_worker(self, inputs):
            self.output["skim"] = tm.FileOutput(path)

        def process(self, events):
            good = events[events.nMuon >= 1]
            self.output["skim"].write({"MET_pt": good.MET_pt, "Jet_pt": good.Jet_pt})

    session.run(Skim(), events)
    made = tm.dataset(path).arrays(["MET_pt", "Jet_pt"])
    good = truth[truth.nMuon >= 1]
    assert sorted(made.MET_pt.to_list()) == sorted(good.MET_pt.to_list())
    assert ak.sum(ak.num(made.Jet_pt)) == ak.sum(ak.num(good.Jet_pt))
    assert [p.name for p in tmp_path.iterdir()] == ["skim.root"]


class Raises(tm.Selector):
    expected = "Raises.process raised ZeroDivisionError"

    def process(self, events):
        return 1 / 0


class BadOutput(tm.Selector):
    expected = r"BadOutput.output\['model'\] is of type"

    def begin_worker(self, inputs):
        self.output["model"] = object()

    def process(self, events):
        raise AssertionError("nothing runs")


class StartsFull(tm.Selector):
    expected = r"StartsFull.output\['n'\] does not start empty"

    def begin_worker(self, inputs):
        self.output["n"] = 1

    def process(self, events):
        raise AssertionError("nothing runs")


class BeginRaises(tm.Selector):
    expected = r"BeginRaises.begin_worker raised KeyError: 'cut'"

    def begin_worker(self, inputs):
        return inputs["cut"]

    def process(self, events):
        raise AssertionError("nothing runs")


class EndRaises(Ending):
    expected = "EndRaises.end_worker raised RuntimeError: too late"

    def end_worker(self):
        raise RuntimeError("too late")


class NoProcess(tm.Selector):
    expected = "NoProcess has no method process"


class Rebinds(tm.Selector):
    expected = "output is a dict by name, not list"

    def process(self, events):
        self.output = []


@pytest.mark.parametrize(
    "wrong", [Raises, BadOutput, StartsFull, BeginRaises, EndRaises, NoProcess, Rebinds]
)
def test_what_goes_wrong_is_said(session, events, wrong):
    with pytest.raises(tm.TreemillError, match=wrong.expected):
        session.run(wrong(), events)


def test_the_workers_traceback_comes_along(session, events, paths):
    with pytest.raises(tm.WorkerError) as caught:
        session.run(Raises(), events)
    assert "return 1 / 0" in caught.value.traceback
    assert caught.value.file in paths
    assert caught.value.entries[0] < caught.value.entries[1]


@pytest.mark.parametrize(
    "function", [lambda e: None, lambda e: 5, lambda e: {"x": object()}, lambda e: {"x": e.nothing}]
)
def test_garbage_from_a_function(session, events, function):
    with raises(tm.TreemillError, about="lambda"):
        session.run(function, events)


def test_skip_leaves_out_what_fails(session, events, truth):
    def fails_on_the_second_file(events):
        if len(events) == 1:
            raise RuntimeError("I do not like this one")
        return {"n": len(events)}

    output = session.run(fails_on_the_second_file, events, on_error="skip")
    assert output == {"n": len(truth) - 1}
    (missing,) = session.report.missing
    assert (missing.start, missing.stop) == (0, 1)
    assert "I do not like this one" in missing.reason


def test_wrong_use(session, events):
    with raises(tm.QueryError, about="class"):
        session.run(DiMuon, events)
    with raises(tm.QueryError, about="Selector"):
        session.run(3, events)
    with raises(tm.QueryError, about="dataset"):
        session.run(DiMuon())
    with raises(tm.QueryError, about="cycles"):
        session.run(DiMuon(), events, cycles=3)
    with raises(tm.QueryError, about="inputs"):
        session.run(events.count(), inputs={})


def test_submit_and_ask_later(session, events, truth):
    query = session.submit(Ending(), events)
    assert query.result(timeout=60) == {"n": 10 * len(truth)}
    assert query.account in session.queries
    assert query.snapshot() == {"n": 10 * len(truth)}
    assert query.title == "Ending"
