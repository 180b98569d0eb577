"""`tm.show`: histograms as text, however one has them."""

import hist
import treemill as tm

from tests.raising import raises


def test_of_histograms_and_bookings(events, capsys):
    booked = events.hist("MET_pt", bins=(10, 0, 100))
    tm.show(booked)
    assert booked.done
    told = capsys.readouterr().out
    assert told.startswith(booked.title)
    assert "└" in told
    assert "sum" in told
    tm.show(booked.value, booked.title)
    assert capsys.readouterr().out == told
    tm.show(booked.value)
    assert not capsys.readouterr().out.startswith(booked.title)


def test_of_variations_the_nominal_one(events, capsys):
    booked = events.vary("MET_pt", {"up": "MET_pt * 2"}).hist("MET_pt", bins=(10, 0, 100))
    tm.show(booked, "met")
    told = capsys.readouterr().out
    tm.show(booked.value.nominal, "met")
    assert capsys.readouterr().out == told


def test_is_as_wide_as_the_terminal(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    tm.show(hist.Hist.new.Reg(1000, 0, 1).Double().fill([0.5]))
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 60


def test_of_what_is_no_histogram(events):
    with raises(tm.QueryError, said="is not a histogram"):
        tm.show(events.count())
