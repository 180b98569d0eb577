"""What a step of a query costs does not grow with the number of the others, nor does the stack."""

import pytest
import treemill as tm
from treemill.query.planning import plan

from tests.python.interpreter import steps


def chain(events, length, booked=False):
    """A chain of definitions and filters, and what is booked after each of them."""
    node, bookings = events.define("v0", "MET_pt"), []
    for k in range(1, length + 1):
        node = node.define(f"v{k}", f"v{k - 1} + 1").filter(f"v{k} > -1", name=f"cut {k}")
        if booked:
            bookings.append(node.hist(f"v{k}", bins=(10, 0, 100)))
    return node, bookings


def variations(events, length):
    """A chain of variations, each with a name of its own."""
    node = events.define("w", "MET_pt + 1")
    for k in range(length):
        node = node.vary("w", {"up": f"w * 1.{k}"}, name=f"v{k}")
    return [node.hist("MET_pt", bins=(10, 0, 100), weight="w")]


def varied(events, length):
    """A histogram after each filter below a variation."""
    node, bookings = events.vary("MET_pt", {"up": "MET_pt * 1.1"}), []
    for k in range(length):
        node = node.filter(f"nMuon > -{k}")
        bookings.append(node.hist("MET_pt", bins=(10, 0, 100)))
    return bookings


@pytest.mark.parametrize(
    "book",
    [
        lambda events, length: [chain(events, length)[0].count()],
        lambda events, length: [chain(events, length)[0].report()],
        lambda events, length: chain(events, length, booked=True)[1],
        variations,
        varied,
    ],
    ids=["one booking", "a report", "a booking at each step", "variations", "below a variation"],
)
def test_steps_are_planned_once_each(events, book):
    made = [book(events, length) for length in (20, 200)]
    for bookings in made:
        plan(bookings)  # what is found once
    few, many = (steps(lambda b=bookings: plan(b)) for bookings in made)
    assert many < 11 * few


def test_thousands_of_steps_need_no_deep_stack(events):
    length = 3000
    node, _ = chain(events, length)
    total = node.sum(f"v{length}")
    plain, entries = events.sum("MET_pt"), events.count()
    assert "v2999 + 1" in repr(node)
    assert "MET_pt" in total.explain()
    flow = node.report()
    tm.run([total, flow, plain, entries], progress=False)
    assert total.value == pytest.approx(plain.value + length * entries.value)
    assert len(flow.value) == length
    with tm.connect(workers=1, mode="processes") as session:
        assert session.run(node.sum(f"v{length}"), progress=False) == pytest.approx(total.value)
