"""The dashboard's numbers: samples of a long query, histograms as plain numbers."""

import json
import math
from types import SimpleNamespace

import hist
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from treemill.monitoring.dashboard_page import (
    LOOK_EVERY,
    MOST_BINS,
    Screen,
    detail,
    figure,
)
from treemill.monitoring.progress import Progress, ProgressHistory


def progress(seconds, entries, read=0, workers=2):
    return Progress("filling", entries, 1_000_000, read, read, seconds, workers, seconds)


@given(
    steps=st.lists(st.tuples(st.floats(0.01, 5), st.integers(0, 10**6)), min_size=1, max_size=300),
    most=st.integers(2, 20),
)
def test_samples_are_few_and_lose_no_events(steps, most):
    samples, now, entries = ProgressHistory(most), 0.0, 0
    samples.add(progress(0.0, 0))
    taken = [(0.0, 0)]
    for pause, more in steps:
        now, entries = now + pause, entries + more
        samples.add(progress(now, entries, 3 * entries))
        taken.append((now, entries))
    series = samples.series()
    seconds, events = np.array(series["seconds"]), np.array(series["events"])
    assert len({len(column) for column in series.values()}) == 1
    assert len(seconds) <= most
    assert all(np.diff(seconds) > 0)
    if len(seconds):
        # Rates times their durations are the events between the first and the last sample.
        total = float(np.sum(events * np.diff([0.0, *seconds])))
        assert total == pytest.approx(dict(taken)[seconds[-1]], rel=1e-9)
        assert series["megabytes"] == pytest.approx(events * 3e-6)


@given(
    pause=st.floats(0.5, 5),
    words=st.integers(3, 20),
    workers=st.integers(1, 4),
)
def test_rates_are_spread_over_the_time_of_a_packet(pause, words, workers):
    """Each worker tells of a packet of 100 events at its end, all at the same time."""
    samples, every = ProgressHistory(), 0.25
    for at in range(int(words * pause / every) + 1):
        now = at * every
        samples.add(progress(now, 100 * workers * int(now / pause + 1e-9)))
    rates = np.array(samples.series(pause)["events"])
    assert rates.min() > 0, "no saw-teeth"
    assert rates == pytest.approx(100 * workers / pause, rel=every / pause + 0.05)
    assert np.ptp(samples.series()["events"]) > 100 * workers / pause


class Told:
    """One query that is not counted by worker. Its workers tell of it now and then."""

    id = title = "query"
    done = traced = False
    feedback = None
    report = SimpleNamespace(measured=None, entries=0, workers=1, missing=[])

    def named(self):
        return "a session"

    def accounts(self):
        return [self]

    def live(self, name):
        return None


def test_how_often_workers_tell_makes_no_saw_teeth():
    board = Told()
    screen = Screen(board)
    for at in range(200):
        now = at * LOOK_EVERY
        board.progress = progress(now, 1000 * int(now / 0.4))
        screen.look()
    rates = np.array(screen.state({})["chosen"]["series"]["events"])
    assert rates[4:] == pytest.approx(2500.0, rel=0.25)


def test_a_start_without_a_word_has_no_rate():
    samples = ProgressHistory()
    for at in range(100):
        samples.add(progress(at, 100 * max(at - 49, 0)))
    rates = samples.series(3.0)["events"]
    assert rates[:45] == [0.0] * 45
    assert rates[52:] == pytest.approx([100.0] * 47)


def test_another_pass_begins_anew():
    samples = ProgressHistory()
    for each in [progress(1, 10), progress(2, 20), progress(3, 5), progress(4, 15)]:
        samples.add(each)
    assert samples.series()["seconds"] == [4]
    assert samples.series()["events"] == [10.0]


def test_a_query_that_ends_meanwhile_is_not_said_to_have_ended_with_fewer_events():
    class Ending:
        """Ends when its report is asked for."""

        id = title = "query"
        done = traced = False
        progress = progress(1.0, 10)

        @property
        def report(self):
            self.done = True
            return SimpleNamespace(entries=10, workers=2, missing=["the rest"])

    found = detail(Ending(), {}, [], None, can_end=True)
    assert (found["done"], found["inResult"], found["missing"]) == (False, 10, [])


def test_a_histogram_is_numbers_without_its_flow():
    one = hist.Hist.new.Reg(3, 0, 3, label="x").Double().fill([-1, 0.5, 1.5, 1.5, 9])
    assert figure("h", one) == {
        "title": "h",
        "about": "",
        "axes": [{"label": "x", "edges": [0.0, 1.0, 2.0, 3.0]}],
        "values": [1.0, 2.0, 0.0],
    }


def test_two_axes_row_by_row_of_the_second():
    two = hist.Hist.new.StrCat(["a", "b"], name="kind").Reg(3, 0, 3, name="x").Weight()
    two.fill(["a", "b", "b"], [0.5, 2.5, 2.5], weight=[1.0, 2.0, 3.0])
    made = figure("h", two)
    assert made["axes"][0] == {"label": "kind", "names": ["a", "b"]}
    assert made["values"] == [1.0, 0.0, 0.0, 0.0, 0.0, 5.0]


def test_time_goes_to_the_right():
    nodes = hist.Hist.new.StrCat(["a", "b"], name="node").Reg(3, 0, 3, name="time").Double()
    nodes.fill(["a", "b", "b"], [0.5, 2.5, 2.5])
    made = figure("workers_per_node", nodes)
    assert [axis["label"] for axis in made["axes"]] == ["time", "node"]
    assert made["values"] == [1.0, 0.0, 0.0, 0.0, 0.0, 2.0]


def test_decades_without_anything_do_not_count_as_bins():
    names = [str(number) for number in range(1000)]
    times = hist.axis.Regular(80, 1e-5, 1e3, transform=hist.axis.transform.log, name="cpu")
    many = hist.Hist(hist.axis.StrCategory(names, name="worker"), times)
    many.fill(names, 0.01)
    assert len(figure("cpu_per_worker", many)["values"]) == 1000


def test_what_is_not_finite_is_left_out_of_json():
    one = hist.Hist.new.Reg(2, 0, 2).Double()
    one[...] = [math.nan, 1.0]
    made = figure("h", one)
    assert made["values"] == [None, 1.0]
    json.dumps(made, allow_nan=False)
    endless = hist.Hist.new.Var([-math.inf, 0, 5, math.inf]).Double()
    made = figure("h", endless)
    assert made["axes"][0]["edges"] == [-5.0, 0.0, 5.0, 10.0]
    json.dumps(made, allow_nan=False)


def test_what_no_screen_can_show_is_not_sent():
    assert figure("h", hist.Hist.new.Reg(2, 0, 1).Reg(2, 0, 1).Reg(2, 0, 1).Double()) is None
    assert figure("h", hist.Hist.new.Reg(MOST_BINS + 1, 0, 1).Double()) is None
