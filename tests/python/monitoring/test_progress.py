import importlib.util
import threading
import warnings
from dataclasses import replace

import hist
import numpy as np
import pytest
from treemill.backends.merged_partial import MergedPartial
from treemill.monitoring import watch
from treemill.monitoring.progress import Progress, pick
from treemill.monitoring.progress_bar import ProgressBar, numbers
from treemill.monitoring.report import MissingEntries, Report
from treemill.monitoring.watch import SeveralQueries, Watch
from treemill.pictures.pictures import save
from treemill.pictures.tables import size
from treemill.pictures.text_histogram import text
from treemill.session.api import connect


def progress(**changes):
    return replace(
        Progress("filling", 1_500_000, 6_000_000, 30_000_000, 60_000_000, 3.0, 2, 2.0), **changes
    )


def test_progress():
    now = progress()
    assert now.events_per_second == 750_000
    assert now.megabytes_per_second == 15
    assert now.seconds_left == 6
    assert numbers(now) == "1.50M events  750.00k events/s  15.0 MB/s  2 workers  ETA 0:06"
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
        self.titles = ()

    def snapshot(self, within=None):
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


def test_short_runs_in_a_row_have_a_bar(monkeypatch, capsys):
    clock = Clock(monkeypatch)
    monkeypatch.setattr(watch, "_row", watch.ConsecutiveRuns())
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "160")
    for _ in range(12):
        watched = Watch(Query(), True, None)
        clock.now += 0.1
        watched.tick()
        watched.close()
        clock.now += 0.05
    err = capsys.readouterr().err
    assert "run 7 in a row" not in err, "not in the first second"
    assert "run 9 in a row: filling" in err
    assert "run 12 in a row: filling" in err
    clock.now += 5
    watched = Watch(Query(), True, None)
    assert watched.delay() == pytest.approx(0.3)
    other = Watch(Query(), True, None)  # at the same time
    assert other.delay() == pytest.approx(0.3)
    watched.close()
    other.close()


def test_a_bar_over_several_datasets():
    first, second = Query(), Query()
    first.progress = progress(entries=100, expected=100, seconds=1.0, workers=0)
    second.progress = progress(entries=50, expected=200, seconds=0.5)
    together = SeveralQueries([("dy", 2), ("tt", 4), ("ww", 2)])
    assert together.progress.entries == 0
    together.start(first)
    now = together.progress
    assert (now.entries, now.expected) == (100, 400), "files not begun count as those begun"
    assert now.phase == "dy (1 of 3): filling"
    together.start(second)
    now = together.progress
    assert (now.entries, now.expected, now.phase) == (150, 400, "tt (2 of 3): filling")
    assert (now.events_per_second, now.seconds_left) == (100, 2.5)
    second.values, second.titles = (7,), ("n",)
    assert (together.snapshot(), together.titles) == ((7,), ("n",))


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
    assert lines[-1] == "sum 400, 5 above (1.2 %)"


@pytest.mark.slow
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


def filled(value):
    made = hist.Hist(axis())
    made.view()[...] = value
    return made


def test_the_histogram_that_is_meant():
    output = {"n": 3, "dy": {"mass": filled(1), "pt": filled(2)}, "tt": {"pt": filled(3)}}
    assert pick(output, (), None)[0] == "dy.mass"
    assert pick(output, (), "pt") == ("dy.pt", output["dy"]["pt"])
    assert pick(output, (), "tt.pt") == ("tt.pt", output["tt"]["pt"])
    assert pick(output, (), "eta") is None
    values = (7, filled(1), filled(2))
    assert pick(values, ["count", "MET_pt", "ht"], "ht") == ("ht", values[2])


def test_a_histogram_is_drawn_under_the_bar(monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")  # for rich, this is a terminal
    monkeypatch.setenv("LINES", "60")
    clock = Clock(monkeypatch)
    query = Query()
    query.values = {"n": 1, "met": filled(5)}
    watched = Watch(query, True, "met")
    for _ in range(12):
        clock.now += 0.11
        watched.tick()
    err = capsys.readouterr().err
    assert "met" in err
    assert "█" in err
    query.values = {"met": filled(6)}
    watched.close()
    assert "sum 24" in capsys.readouterr().err, "what is left on the screen is the end"


def test_a_name_that_no_histogram_has_is_told_at_the_end(monkeypatch):
    clock = Clock(monkeypatch)
    query = Query()
    query.values = {"n": 1, "met": filled(5), "dy": {"mass": filled(1)}}
    query.measured = lambda name: None
    for name, told in [("mett", 1), ("mass", 0)]:
        watched = Watch(query, True, name)
        clock.now += 2
        watched.tick()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            watched.close()
        assert len(caught) == told
        assert all("'mett'" in str(each.message) for each in caught)
        assert all("met, dy.mass" in str(each.message) for each in caught)


def test_nobody_looks_and_nothing_is_drawn():
    assert Watch(Query(), False, "met").delay() == float("inf")


def test_a_submitted_query_tells_on_a_thread_of_its_own(events, monkeypatch):
    """Held after the first commit until feedback was seen."""
    monkeypatch.setattr(watch, "_FEEDBACK_EVERY", 0.01)
    seen, told = [], threading.Event()
    commit = MergedPartial.merge

    def held(self, partial, packets):
        commit(self, partial, packets)
        told.wait(60)

    def note(values):
        seen.append((values, threading.current_thread().name))
        told.set()

    monkeypatch.setattr(MergedPartial, "merge", held)
    with connect(workers=1) as session:
        query = session.submit(lambda chunk: {"n": len(chunk)}, events, feedback=note)
        assert query.result(60) == {"n": 12322}
    assert 0 < seen[0][0]["n"] <= 12322
    assert seen[0][1] == "treemill-watch"


NOTEBOOK = """
import hist, time
import treemill as tm
class Met(tm.Selector):
    def begin_worker(self, inputs):
        self.output["met"] = hist.Hist(hist.axis.Regular(20, 0, 100, name="met"))
    def process(self, events):
        print("a worker's words", flush=True)
        time.sleep(0.15)
        self.output["met"].fill(events.MET_pt)
with tm.connect(workers=2, mode="processes") as session:
    output = session.run(Met(), tm.dataset({paths!r} * 6, "Events"), feedback="met")
assert output["met"].sum(flow=True) == 6 * 12322
"""


@pytest.mark.slow
def test_in_a_notebook_a_picture_is_updated_and_workers_are_heard(paths, monkeypatch):
    # Where it is set, a kernel does not show what its child processes print.
    monkeypatch.delenv("PYTEST_CURRENT_TEST")
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
    if importlib.util.find_spec("ipykernel") is None:
        pytest.skip("ipykernel is not installed")
    nbformat = pytest.importorskip("nbformat")
    book = nbformat.v4.new_notebook()
    book.cells.append(nbformat.v4.new_code_cell(NOTEBOOK.replace("{paths!r}", repr(paths))))
    updates = []

    class Client(nbclient.NotebookClient):
        def process_message(self, message, cell, index):
            if message["msg_type"] == "update_display_data":
                updates.append(message["content"]["data"]["text/html"])
            return super().process_message(message, cell, index)

    Client(book, timeout=120, kernel_name="python3").execute()
    assert len(updates) > 2
    assert "<progress" in updates[0]
    assert any("<img src=" in each or "<pre>" in each for each in updates)
    assert "73.93k events" in updates[-1]
    words = "".join(o.get("text", "") for o in book.cells[0].outputs if o.output_type == "stream")
    assert "a worker's words" in words
