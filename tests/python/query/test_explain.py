"""What explain() says of a pass, on a dataset whose reads are known."""

import re

import pytest
import treemill as tm

from tests.raising import raises

pytestmark = pytest.mark.usefixtures("core")


def part(text, head):
    """The lines below a heading."""
    found = re.search(rf"^{head}:\n((?:  .*\n?)+)", text, re.MULTILINE)
    return [line.strip() for line in found[1].splitlines()] if found else []


def test_filter_columns_are_read_first(events):
    node = events.filter("nMuon >= 2", name="two")
    booking = node.hist("MET_pt", bins=(10, 0, 100))
    text = booking.explain()
    assert part(text, "reads for filters") == ["nMuon"]
    assert part(text, "reads where an entry passes") == ["MET_pt"]
    (only,) = part(text, "filters")
    assert "nMuon" in only
    assert part(text, "books") == [booking.title]


def test_nothing_is_read(events):
    booking = events.hist("MET_pt", bins=(10, 0, 100))
    booking.explain()
    assert not booking.done


def test_shared_values_and_lists(events):
    one = events.hist("sum(Muon_pt * 2)", bins=(10, 0, 100))
    two = events.hist("sum(Muon_pt * 2)", "MET_pt", bins=[(10, 0, 100), (10, 0, 100)])
    text = one.explain()
    assert part(text, "lists"), text
    assert any("Muon_pt" in line for line in part(text, "computed once")), text
    assert part(text, "books") == [one.title, two.title]


def test_automatic_ranges_cost_a_pass(events):
    automatic = events.hist("MET_pt")
    assert "ranges of MET_pt" in part(automatic.explain(), "first")[0]


def test_filters_of_variations_come_after_the_widest(events):
    varied = events.vary("Muon_pt", {"up": "Muon_pt * 1.1", "down": "Muon_pt * 0.9"})
    text = varied.filter("sum(Muon_pt > 20) >= 1").count().explain()
    widest, *narrower = part(text, "filters")
    assert "narrower filters" in widest, text
    assert len(narrower) == 2
    assert not any("narrower filters" in line for line in narrower)


def test_of_a_dataset_with_nothing_booked(events):
    assert part(events.explain(), "books")


def test_what_is_wrong_is_said(events):
    with raises(tm.QueryError, about="Muon_qt"):
        events.hist("Muon_qt", bins=(1, 0, 1)).explain()


def test_what_is_wrong_with_others_is_not_said(events):
    wrong = events.hist("Muon_qt", bins=(1, 0, 1))
    right, beside = events.hist("MET_pt", bins=(1, 0, 1)), events.sum("MET_pt")
    assert part(right.explain(), "books") == [right.title, beside.title]
    assert not wrong.done


def test_those_that_are_right_run_in_one_pass(events):
    wrong = events.hist("Muon_qt", bins=(1, 0, 1))
    right, beside = events.hist("MET_pt", bins=(1, 0, 1)), events.sum("MET_pt")
    assert right.value.sum(flow=True) == events.count().value
    assert beside.done
    assert not wrong.done
    with raises(tm.QueryError, about="Muon_qt"):
        _ = wrong.value


def test_programs_show_what_was_fused(events):
    mass = "max((a + b).mass for a, b in combinations(Muon, 2))"
    text = events.hist(mass, bins=(10, 0, 100)).explain()
    steps = [line.partition(" = ")[2] for line in part(text, "programs") if " = " in line]
    assert "px, py(Muon_pt, Muon_phi)" in steps, text
    assert "pz, energy(Muon_pt, Muon_eta, Muon_mass)" in steps, text
    assert any(step.startswith("signed root of difference of squares of sums(") for step in steps)
