import gc
import json

import hist
import pytest
from treemill.errors import QueryError
from treemill.query.node import Node, Origin
from treemill.query.planning import Specification, extents, plan

from tests.raising import raises


class Runs:
    """Stands in for the services, notes what it is asked to run, gives 42 for everything, and says
    which bookings are bad; and for the chain."""

    def __init__(self):
        self.asked = []
        self.bad = None

    def referred(self, members):
        return ()

    def called(self, column):
        return ()

    def __repr__(self):
        return "'data'"

    def run(self, bookings):
        self.asked.append(list(bookings))
        self.explain(self, bookings)
        for booking in bookings:
            booking.set_value(42)

    def explain(self, chain, bookings):
        if self.bad in bookings:
            raise QueryError("bad")


@pytest.fixture
def runs():
    return Runs()


@pytest.fixture
def root(runs):
    return Node(Origin(runs, runs))


def test_nodes_are_immutable_and_say_what_they_are(root):
    good = root.filter("nMuon >= 2", name="two").define("ht", "sum(Jet_pt)")
    assert repr(good) == "'data'.filter('nMuon >= 2').define('ht', 'sum(Jet_pt)')"
    assert repr(root) == "'data'"
    with pytest.raises(AttributeError):
        root.other = 1


def test_spec_has_each_step_once(root):
    good = root.filter("a > 1", name="cut")
    wide = good.define("c", "a + b")
    bookings = [
        wide.hist("c", bins=(2, 0, 1), weight="w"),
        good.count(),
        wide.sum("c"),
        root.mean("b"),
    ]
    made = plan(bookings).specification
    assert json.loads(made.text)["version"] == 1
    assert [step["parent"] for step in made.steps] == [None, 0]
    assert made.steps[0]["action"]["kind"] == "filter"
    assert made.steps[0]["action"]["name"] == "cut"
    assert made.steps[1]["action"]["name"] == "c"
    assert made.steps[1]["action"]["expr"]["text"] == "a + b"
    assert [booking["at"] for booking in made.bookings] == [1, 0, 1, None]
    histogram, count, total, mean = (booking["result"] for booking in made.bookings)
    assert histogram["weight"]["text"] == "w"
    assert histogram["axes"][0]["axis"]["kind"] == "regular"
    assert histogram["axes"][0]["expr"]["tree"]["kind"] == "name"
    assert count == {"kind": "count"}
    assert (total["kind"], mean["kind"]) == ("sum", "mean")


def test_extents_are_asked_once_per_node_and_expression(root):
    good = root.filter("a")
    bookings = [root.hist("x"), root.hist("x", bins=7), good.hist("x"), good.hist("x", "y")]
    bookings += [root.hist("x", bins=(1, 0, 1)), root.count()]
    made, places = extents(bookings)
    asked = [(b["at"], b["result"]["expr"]["text"]) for b in made.bookings]
    assert asked == [(None, "x"), (0, "x"), (0, "y")]
    numbers = [booking.number for booking in bookings]
    assert places == {
        (numbers[0], 0): [0],
        (numbers[1], 0): [0],
        (numbers[2], 0): [1],
        (numbers[3], 0): [1],
        (numbers[3], 1): [2],
    }
    with raises(QueryError, about="automatic"):
        plan(bookings)


def test_value_runs_all_that_is_booked_once(root, runs):
    a, b = root.count(), root.sum("x")
    assert not a.done
    assert a.value == 42
    assert runs.asked == [[a, b]]
    assert b.value == 42
    c = root.max("x")
    assert c.value == 42
    assert runs.asked == [[a, b], [c]]


def test_a_booking_that_nobody_keeps_is_not_run(root, runs):
    root.count()
    gc.collect()
    kept = root.count()
    assert kept.value == 42
    assert runs.asked == [[kept]]


def test_another_bookings_error_does_not_spoil_this_one(root, runs):
    runs.bad = root.sum("nonsense")
    good, beside = root.count(), root.sum("x")
    assert good.value == 42
    assert runs.asked == [[runs.bad, good, beside], [good, beside]]
    with raises(QueryError, about="bad"):
        _ = runs.bad.value


def test_wrong_use(root):
    with raises(QueryError, said="needs an expression"):
        root.hist()
    with raises(QueryError, about="'a b' is not a name for a column"):
        root.define("a b", "1")
    with raises(QueryError, about="labels"):
        root.hist("x", label=["a", "b"])
    with raises(QueryError, said="invalid syntax"):
        root.filter("x +")
    with raises(QueryError, said="list of 2"):
        root.hist("x", "y", bins=hist.axis.Regular(1, 0, 1))


def test_titles(root):
    assert root.hist("x", "y").title == "x : y"
    assert root.hist("x", name="hx").title == "hx"
    assert root.count().title == "count"
    assert repr(root.sum("x+1")) == "<scalar sum(x+1): not run yet>"


def test_the_text_is_that_of_all_steps_and_bookings(root):
    cut = root.define("odd", "name == '\"é\"'").filter("odd", name="é")
    booked = [cut.hist("c", bins=(2, 0, 1), weight="w"), cut.sum("c"), cut.report(), root.count()]
    action = {"kind": "define", "name": "c", "expr": {"text": "1"}}
    varied = [
        {"parent": None, "action": action},
        {"parent": 0, "action": action, "variation": "é:up"},
    ]
    counts = [{"at": n, "result": action, "variation": v} for n, v in ((0, "é:up"), (None, "b"))]
    planned = plan(booked).specification, extents([cut.hist("c")])[0]
    for made in (*planned, Specification(varied, counts)):
        related = made.relating({"formats": None, "ids": {"Jet": 1}, "classes": {}})
        for each in (made, related):
            parts = {"version": 1, "steps": each.steps, "bookings": each.bookings}
            parts |= {"relations": each.relations} if each.relations else {}
            assert each.text == json.dumps(parts)
