"""Selectors on nodes of a query, and bookings that they take along."""

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


def columns(events):
    return {
        "met": np.asarray(events.MET_pt),
        "ht": np.asarray(events.ht),
        "jets": [events.Jet_pt],
        "hard": [events.hard],
        "sizes": [len(events)],
    }


def test_a_node_is_what_the_selector_sees(session, events, truth):
    node = (
        events.define("ht", "sum(Jet_pt[Jet_pt > 30])")
        .filter("nMuon >= 1 and ht > 50")
        .define("hard", "Jet_pt[Jet_pt > 40]")
        .define("leading", "Muon[0]")
    )

    class See(tm.Selector):
        def begin_worker(self, inputs):
            self.output["rows"] = []
            self.output["fields"] = set()

        def process(self, chunk):
            self.output["fields"] |= set(chunk.fields)
            self.output["rows"] += ak.to_list(chunk[["event", "MET_pt", "ht", "hard", "nMuon"]])

    found = session.run(See(), node)
    ht = ak.sum(truth.Jet_pt[truth.Jet_pt > 30], axis=1)
    good = truth[(truth.nMuon >= 1) & (ht > 50)]
    expected = {
        event: (met, hard)
        for event, met, hard in zip(
            good.event.to_list(),
            good.MET_pt.to_list(),
            good.Jet_pt[good.Jet_pt > 40].to_list(),
            strict=True,
        )
    }
    assert len(found["rows"]) == len(good) > 100
    for row in found["rows"]:
        met, hard = expected.pop(row["event"])
        assert (row["MET_pt"], row["hard"]) == (met, hard)
        assert row["nMuon"] >= 1
        assert row["ht"] > 50
    assert not expected
    assert found["fields"] >= {"ht", "hard", "Jet_pt"}
    assert "leading" not in found["fields"], "elements are for expressions"
    assert session.report.entries == len(truth)


def test_objects_that_a_node_defines_are_for_expressions_only(session, events):
    node = events.define("good", "[m for m in Muon if m.pt > 20]").define("first", "Muon[0]")

    def members(chunk):
        assert not hasattr(chunk, "first")
        return {"pt": float(ak.sum(chunk[chunk.nMuon > 0].good.pt))}

    with raises(tm.WorkerError, said="good has objects, define good_pt , good.pt"):
        session.run(members, node)
    with raises(tm.WorkerError, said="no field named nothing"):
        session.run(lambda chunk: {"x": chunk.nothing}, node)
    found = session.run(
        lambda chunk: {"pt": float(ak.sum(chunk.good_pt))}, node.define("good_pt", "good.pt")
    )
    assert found["pt"] == pytest.approx(node.sum("good.pt").value)


def test_a_node_with_collections_subsets_and_entry_lists(session, events, truth):
    class Jets(tm.Selector):
        collections = True

        def process(self, chunk):
            return {"pt": float(ak.sum(chunk.Jet.pt)), "n": len(chunk)}

    mask = np.arange(len(truth)) % 3 == 0
    node = events.select_entries(mask).filter("MET_pt > 20")
    found = session.run(Jets(), node)
    good = truth[mask & np.asarray(truth.MET_pt > 20)]
    assert found["n"] == len(good)
    assert found["pt"] == pytest.approx(float(ak.sum(good.Jet_pt)), rel=1e-4)
    part = session.run(Jets(), events.filter("MET_pt > 20"), entries=(4000, 9000))
    assert part["n"] == int(ak.sum(truth.MET_pt[4000:9000] > 20))


def test_what_is_wrong_with_a_node_is_said_before_any_work(session, events):
    with raises(tm.QueryError, about="nMuons"):
        session.run(columns, events.filter("nMuons > 2"))
    with raises(tm.UnsupportedError, about="vary"):
        session.run(columns, events.vary("MET_pt", {"up": "MET_pt * 2"}).filter("MET_pt > 3"))


class Both(tm.Selector):
    """Half by the core, half in Python."""

    def __init__(self, events):
        self.events = events

    def begin(self, inputs):
        good = self.events.filter("nMuon >= 1")
        self.book("met", good.hist("MET_pt", bins=(50, 0, 100)))
        self.book("count", good.count())
        self.book("taken", good.take("MET_pt"))
        self.events = None  # which is not to be sent

    def begin_worker(self, inputs):
        self.output["own"] = hist.Hist(hist.axis.Regular(50, 0, 100))
        self.output["n"] = 0

    def process(self, chunk):
        good = chunk[chunk.nMuon >= 1]
        self.output["own"].fill(good.MET_pt)
        self.output["n"] += len(good)

    def end(self, output):
        assert output["met"].sum(flow=True) == output["n"]


def test_bookings_beside_a_selector(session, events, truth):
    output = session.run(Both(events), events)
    good = truth[truth.nMuon >= 1]
    assert output["count"] == output["n"] == len(good)
    assert output["met"].values(flow=True).tolist() == output["own"].values(flow=True).tolist()
    assert output["taken"].tolist() == good.MET_pt.to_list(), "in the order of entries"
    assert session.report.entries == len(truth)
    assert session.queries[-1].progress.entries == len(truth)


class Varied(tm.Selector):
    """Books two sums below a variation, which changes one of them."""

    def __init__(self, events):
        self.events = events

    def begin(self, inputs):
        varied = self.events.vary("MET_pt", {"up": "MET_pt * 2"})
        self.book("met", varied.sum("MET_pt"))
        self.book("jets", varied.sum("nJet"))
        self.events = None

    def process(self, chunk):
        pass


def test_a_variation_that_changes_nothing_is_known_beside_a_selector(session, events):
    output = session.run(Varied(events), events)
    assert output["met"]["MET_pt:up"] == pytest.approx(2 * output["met"].nominal)
    assert output["jets"]["MET_pt:up"] == output["jets"].nominal > 0


def test_bookings_beside_a_selector_of_no_entries(session, events):
    output = session.run(Both(events), events, entries=0)
    assert output["count"] == output["n"] == 0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda events: events.hist("MET_pt"), "needs bins"),
        (lambda events: tm.dataset(events.files, "Events").count(), "another dataset"),
        (lambda events: 3, "takes a booking"),
        (lambda events: events.snapshot("x.root", ["MET_pt"]), "FileOutput"),
    ],
)
def test_what_cannot_be_booked_is_named(events, make, message):
    class Books(tm.Selector):
        def begin(self, inputs):
            self.book("this", make(events))

        def process(self, chunk):
            raise AssertionError("nothing runs")

    with connect(workers=1) as session, pytest.raises(tm.TreemillError, match=message):
        session.run(Books(), events)


def test_queries_run_in_the_selectors_session(session, events, truth):
    """The same packetizer, monitor and workers, and both at once."""
    first = session.submit(columns_of, events)
    second = session.submit(events.count())
    assert second.result(60) == (len(truth),)
    assert first.result(60)["n"] == len(truth)
    assert session.queries[-2:] == (first.account, second.account)


def columns_of(chunk):
    return {"n": len(chunk)}
