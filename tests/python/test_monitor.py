from dataclasses import replace

import hist
import numpy as np
import pytest
from treemill.monitor import watch
from treemill.monitor.display import save, text
from treemill.monitor.feedback import Progress
from treemill.monitor.progress import ProgressBar, numbers
from treemill.monitor.report import MissingEntries, Report
from treemill.monitor.tables import size
from treemill.monitor.watch import Watch


def progress(**changes):
    return replace(
        Progress("filling", 1_500_000, 6_000_000, 30_000_000, 60_000_000, 3.0, 2, 2.0), **changes
    )


def test_progress():
    now = progress()
    assert now.events_per_second == 750_000
    assert now.megabytes_per_second == 15
    assert now.seconds_left == 6
    assert numbers(now) == "1.50M events  750.00k events/s  15.0 MB/s  ETA 0:06"
    assert numbers(progress(workers=0)).endswith("3.0 s")
    begun = progress(entries=0, pass_seconds=0.0)
    assert begun.seconds_left is None
    assert begun.events_per_second == 0


def test_report():
    report = Report(1000, {"a": [(0, 1000)]}, [], 2.0, 4_000_000, 8_000_000, 1)
    assert str(report) == "1,000 events in 2.000 s on 1 worker: 500 events/s, 2.0 MB/s"
    gaps = [MissingEntries("b", 5, 9, "cut short"), MissingEntries("c", 0, None, "gone")]
    report = Report(1000, {"a": [(0, 1000)]}, gaps, 2.0, 0, 0, 2)
    assert not report.complete
    assert "b: entries 5..9: cut short" in str(report)
    assert "c: all entries: gone" in str(report)


class Clock:
    def __init__(self, monkeypatch):
        self.now = 100.0
        monkeypatch.setattr(watch.time, "monotonic", lambda: self.now)


class Query:
    def __init__(self):
        self.values = None
        self.progress = progress()

    def snapshot(self):
        return self.values


def test_nothing_is_drawn_before_a_third_of_a_second(monkeypatch, capsys):
    clock = Clock(monkeypatch)
    watched = Watch(Query(), True, None)
    assert watched.delay() == pytest.approx(0.3)
    clock.now += 0.29
    watched.tick()
    assert watched._bar is None
    clock.now += 0.02
    watched.tick()
    assert watched._bar is not None
    assert watched.delay() == pytest.approx(0.1)
    watched.close()
    assert "filling" in capsys.readouterr().err


def test_no_tick_without_a_watcher():
    assert Watch(Query(), False, None).delay() == float("inf")


def test_feedback_gets_values_once_there_are_some(monkeypatch):
    clock = Clock(monkeypatch)
    query, seen = Query(), []
    watched = Watch(query, False, seen.append)
    clock.now += 1.1
    watched.tick()
    assert seen == []
    query.values = (7,)
    clock.now += 1.1
    watched.tick()
    watched.tick()
    assert seen == [(7,)]


def test_bar_is_for_terminals(monkeypatch):
    assert not watch.wants_bar()  # the tests' standard error is not one
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    assert watch.wants_bar()
    monkeypatch.setenv("TERM", "dumb")
    assert not watch.wants_bar()


def test_bar_draws_to_standard_error(capsys):
    bar = ProgressBar()
    bar.update(progress())
    bar.close()
    out, err = capsys.readouterr()
    assert out == ""
    assert "25%" in err


def axis(n=4):
    return hist.axis.Regular(n, 0, 4, label="x")


def test_bars():
    made = hist.Hist(axis())
    made.view()[...] = [4, 2, 0, 0.001]
    lines = text(made, "title", 51).splitlines()
    assert lines[0] == "title"
    drawn = lines[1:15]
    assert drawn[0].startswith("        4 ")
    assert drawn[0][11:] == "█" * 9 + " " * 27
    assert drawn[-1][11:] == "█" * 18 + " " * 9 + "▁" * 9
    assert lines[-1] == "sum 6.001"
    assert max(map(len, lines)) <= 51


def test_bars_with_more_bins_than_characters_add_them_up():
    made = hist.Hist(axis(400))
    made.view()[...] = 1
    made[hist.overflow] = 5
    lines = text(made, "", 60).splitlines()
    assert lines[0].split("│")[0].strip() == "9"
    assert lines[-1] == "sum 400, outside 5"


@pytest.mark.parametrize(
    "axes",
    [
        [axis()],
        [axis(), axis(2)],
        [axis(), axis(), axis()],
        [hist.axis.StrCategory(["a", "b"])],
        [hist.axis.Boolean()],
        [hist.axis.Integer(0, 3), hist.axis.IntCategory([1, 7])],
    ],
    ids=lambda axes: " ".join(type(a).__name__ for a in axes),
)
@pytest.mark.parametrize("storage", [hist.storage.Double(), hist.storage.Weight()])
def test_every_histogram_can_be_drawn(axes, storage, tmp_path):
    empty = hist.Hist(*axes, storage=storage)
    assert "sum 0" in text(empty)
    full = empty.copy()
    view = full.view(flow=True)
    (view["value"] if view.dtype.names else view)[...] = np.arange(view.size).reshape(view.shape)
    assert "sum" in text(full, "t")
    if len(axes) < 3:
        save([empty, full], ["empty", "full"], tmp_path / "p.png")
        assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")


def test_negative_weights_are_drawn(tmp_path):
    made = hist.Hist(axis(), storage=hist.storage.Weight())
    made.fill([0.5, 1.5], weight=[-1, 2])
    assert "sum 1" in text(made)
    save([made], [""], tmp_path / "p.svg")


def test_size():
    assert [size(n) for n in (5, 5000, 5_000_000, 5 * 10**9)] == [
        "5 B",
        "5.0 kB",
        "5.0 MB",
        "5.0 GB",
    ]
