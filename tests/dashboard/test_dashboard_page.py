"""The dashboard's page in a real browser: a query's histogram grows, Stop stops it, hostile names
are text, colours are those that the user likes, and nothing is wider than a phone."""

import os
import shutil
import time
from contextlib import ExitStack

import numpy as np
import pytest
import treemill as tm
import uproot
from treemill.facility.load_test_board import LoadTestBoard, LoadTestState
from treemill.facility.load_tests.run_summary import Moment, Tally
from treemill.monitoring.progress import Progress
from treemill.monitoring.report import Report
from treemill.monitoring.server import Dashboard
from treemill.monitoring.worker_histograms import WorkerHistograms
from treemill.scheduling import Monitored, WorkerCounters
from treemill.workers.selector_workload import SelectorTask

from tests.dashboard.held import held

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium on this machine")

HOSTILE = "<img src=x onerror=\"document.title='broken'\"><b>"
PICTURES = os.environ.get("TREEMILL_DASHBOARD_PICTURES")
"""A folder for screenshots, to look at."""


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"]
        )
        yield browser
        browser.close()


@pytest.fixture
def page(browser, request):
    context = browser.new_context(**getattr(request, "param", {}))
    page = context.new_page()
    page.wrong = []
    page.on("pageerror", lambda error: page.wrong.append(str(error)))
    page.on("console", lambda said: said.type == "error" and page.wrong.append(said.text))
    yield page
    if PICTURES:
        page.screenshot(path=f"{PICTURES}/{request.node.name}.png", full_page=True)
    context.close()
    assert page.wrong == []


@pytest.fixture
def serve():
    """Serves a board until the browser has left its page: the fixture comes before `page`."""
    with ExitStack() as served:
        yield lambda board: served.enter_context(Dashboard(board)).url


def number(page, label):
    box = page.locator("#numbers div", has=page.get_by_text(label, exact=True))
    return box.locator("b").inner_text()


def filled(page):
    """Whether the histogram is drawn: pixels of its canvas that are not empty."""
    return page.evaluate(
        """() => {
          const canvas = document.querySelector("#histogram canvas");
          if (canvas === null) return 0;
          const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
          return data.filter((value, i) => i % 4 === 3 && value > 0).length;
        }"""
    )


SEEN = """() => [
  shown.chosen.figure.values.reduce((sum, value) => sum + value, 0),
  plots.get("histogram").plot.data[1].reduce((sum, value) => sum + value, 0),
  shown.chosen.entries,
]"""
"""What the histogram has, what of it is drawn, and the events."""


def test_a_query_is_watched_and_stopped(session, page, events, monkeypatch):
    always = property(lambda task: 0.0, lambda task, seconds: None)  # after each packet
    monkeypatch.setattr(SelectorTask, "commit_seconds", always, raising=False)
    with held(free=1) as (selector, gate):
        query = session.submit(selector, events)
        page.goto(session.dashboard().url)
        page.get_by_role("heading", name="held").wait_for()
        gate.let(3)
        gate.done(4)
        page.wait_for_function("() => document.querySelector('#histogram canvas') !== null")
        assert filled(page) > 1000
        before = page.evaluate(SEEN)
        assert min(before) > 0
        picture = page.locator("#histogram canvas").screenshot()
        gate.let(4)
        gate.done(8)
        page.wait_for_function(
            f"(before) => ({SEEN})().every((value, i) => value > before[i])", arg=before
        )
        # The page draws with the next frame, which a busy machine may show late.
        until = time.monotonic() + 30
        while page.locator("#histogram canvas").screenshot() == picture:
            assert time.monotonic() < until
        assert page.locator("#worker-rows tr").count() > 0
        with page.expect_response("**/stop*"):  # the gate opens when the session knows of it
            page.get_by_role("button", name="Stop").click()
        gate.open()
        page.get_by_text("events are in the result").wait_for()
        query.result(timeout=60)
    for name in ("Stop", "Abort"):
        assert page.get_by_role("button", name=name, exact=True).count() == 0, "it does not work"
    assert 0 < query.report.entries < events.num_entries
    entries = f"{query.report.entries:,} of {events.num_entries:,}"
    assert page.locator("#words").inner_text() == f"Ended. {entries} events are in the result."
    assert page.locator("#missing li").count() > 0
    assert page.locator("#queries .state").first.inner_text().startswith("stopped: ")


DESK = {"width": 1280, "height": 900}
PHONE = {"width": 390, "height": 844}
LOOKS = [
    {"color_scheme": scheme, "viewport": size}
    for scheme in ("light", "dark")
    for size in (DESK, PHONE)
]
NAMES = ["light", "light-phone", "dark", "dark-phone"]
# The ground, a card, words; the main colour, of which what is drawn is made.
LIGHT = ["rgb(246, 247, 249)", "rgb(255, 255, 255)", "rgb(27, 35, 48)"], (0x25, 0x63, 0xB0)
DARK = ["rgb(20, 24, 31)", "rgb(28, 34, 43)", "rgb(230, 234, 240)"], (0x6E, 0xA8, 0xFE)


def colours(page):
    return page.evaluate(
        """() => {
          const look = (selector, name) => getComputedStyle(document.querySelector(selector))[name];
          return [look("body", "backgroundColor"), look("#query", "backgroundColor"),
                  look("body", "color")];
        }"""
    )


def pens(page, selector):
    """The colours of a canvas, without what is see-through."""
    return page.evaluate(
        """(selector) => {
          const canvas = document.querySelector(selector);
          const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
          const found = new Set();
          for (let i = 0; i < data.length; i += 4) {
            if (data[i + 3] === 255) found.add(`${data[i]},${data[i + 1]},${data[i + 2]}`);
          }
          return [...found];
        }""",
        selector,
    )


def is_wide(page):
    return page.evaluate("() => document.documentElement.scrollWidth > innerWidth")


@pytest.mark.slow
@pytest.mark.parametrize("page", LOOKS, ids=NAMES, indirect=True)
def test_a_query_is_shown_in_the_colours_and_the_width_of_the_user(page, events, request):
    """With all that there is to see: the histogram, activity, workers, the trace."""
    with tm.connect(workers=2, mode="threads", trace=10_000) as session:
        query = session.submit(events.hist("MET_pt", bins=(40, 0, 160)))
        query.result(timeout=60)
        page.goto(session.dashboard().url)
        page.locator("#overview-5 canvas").wait_for()
        expected, main = DARK if "dark" in request.node.name else LIGHT
        assert colours(page) == expected
        for canvas in ("#histogram canvas", "#overview-0 canvas", "#workers canvas"):
            assert ",".join(map(str, main)) in pens(page, canvas), canvas
        assert ",".join(map(str, main)) in pens(page, "#overview-5 canvas.map")
        assert not is_wide(page), "the page is wider than the screen"
        assert page.locator("#overview figure").count() == 6
        assert page.locator("#overview figcaption").all_inner_texts()[:2] == [
            "Packets by worker",
            "Entries by worker",
        ]
        rows = page.locator("#worker-rows tr td:first-child").all_inner_texts()
        assert rows == [str(number) for number in sorted(query.report.measured.counts.workers)]
        address = page.get_by_role("link", name="Trace").get_attribute("href")
        page.goto(f"{session.dashboard().url.partition('?')[0]}{address}")
        page.get_by_role("heading", name="Where the workers").wait_for()
        drawn = page.locator("figure img").evaluate(
            "(image) => image.complete && image.naturalWidth"
        )
        assert drawn > 100, "the figures of the trace are there"
        assert not is_wide(page), "the trace's page is wider than the screen"


@pytest.mark.parametrize("page", [LOOKS[2], LOOKS[1]], ids=["dark", "phone"], indirect=True)
def test_hostile_names_are_text(session, page, events):
    with held(free=100, title=HOSTILE, name=HOSTILE) as (selector, _):
        query = session.submit(selector, events)
        query.result(timeout=60)
    session.run(events.count())
    page.goto(session.dashboard().url)
    page.locator("nav button").nth(1).click()
    page.get_by_role("heading", name=HOSTILE).wait_for()
    page.wait_for_function("() => document.querySelector('#histogram canvas') !== null")
    assert page.locator("#histograms option").all_inner_texts()[:2] == [HOSTILE, "x.y"]
    page.locator("#histograms").select_option("x.y")
    assert page.title() == "treemill"
    assert page.locator("main img, main nav b").count() == 0
    assert not is_wide(page), "the page is wider than the screen"
    assert number(page, "events") == f"{events.num_entries:,}"


def test_hostile_names_of_files_and_branches_are_text(session, page, tmp_path):
    branch = "<img src=x onerror=alert(1)>"
    paths = [tmp_path / f"{HOSTILE}{number}.root" for number in range(2)]
    for path in paths:
        with uproot.recreate(path) as file:
            file.mktree("Events", {branch: "f8"}).extend({branch: np.arange(10.0)})
    data = tm.dataset([str(path) for path in paths], tree="Events")
    booked = data.hist(f"`{branch}`", bins=(10, 0, 10))
    paths[1].unlink()
    query = session.submit(booked, on_error="skip")
    (filled_from_one,) = query.result(timeout=60)
    page.goto(session.dashboard().url)
    page.get_by_role("heading", name=branch).wait_for()
    assert HOSTILE in page.locator("#missing").inner_text()
    assert branch in page.locator("#histograms option").first.inner_text()
    page.wait_for_function("() => document.querySelector('#histogram canvas') !== null")
    assert page.title() == "treemill"
    assert page.locator("main img, main li b, nav b").count() == 0
    assert filled_from_one.sum() == 10


def test_the_trace_of_hostile_names_is_text(page, tmp_path):
    branch = "<img src=x onerror=alert(1)>"
    path = tmp_path / f"{HOSTILE.replace('/', '')}.root"
    with uproot.recreate(path) as file:
        file.mktree("Events", {branch: "f8"}).extend({branch: np.arange(10.0)})
    data = tm.dataset(str(path), tree="Events")
    with tm.connect(workers=1, mode="threads", trace=1000) as session:
        query = session.submit(data.hist(f"`{branch}`", bins=(10, 0, 10)))
        query.result(timeout=60)
        page.goto(session.dashboard().url.replace("/?", f"/trace?query={query.id}&"))
        page.get_by_role("heading", name=branch).wait_for()
        assert HOSTILE in page.locator("table").nth(2).inner_text(), "the table of files"
        assert page.locator("img").count() == 1, "the figures are one"
        assert page.locator("td b, h1 b, script").count() == 0
        assert page.title().startswith(f"`{branch}`")
    # Even a script that came through would not run.
    said = []
    page.on("console", lambda word: said.append(word.text))
    page.evaluate(
        "() => { const made = document.createElement('script');"
        "made.textContent = 'document.title = 1'; document.body.append(made); }"
    )
    assert page.title().startswith(f"`{branch}`")
    page.wrong.clear()  # the browser notes that it was refused


class Board:
    """One query of workers on hosts with these names."""

    def __init__(self, hosts, node, seconds=1.5):
        """`seconds`: of all packets of a worker."""
        sums = {"packets": 3, "entries": 600, "seconds": seconds, "cpu": 1.0, "bytes_read": 2e6}
        done = {
            number: WorkerCounters(host, {**sums, "packets": 3 + number}, {"cpu": {20: 3}})
            for number, host in enumerate(hosts)
        }
        bins = [len(hosts) * 0.1] * 20 + [0.0] * 100
        counts = Monitored(3.0, done, 0.1, {node: bins})
        self.report = Report(600, {}, [], 3.0, 0, 0, len(hosts), measured=WorkerHistograms(counts))
        self.progress = Progress("filling", 600, 1200, 0, 0, 3.0, len(hosts), 3.0)
        self.id = self.title = "query"
        self.feedback, self.traced, self.done = None, False, False

    def named(self):
        return "a cluster"

    def accounts(self):
        return [self]

    def live(self, name):
        return None

    def trace_page(self, name):
        return None


@pytest.mark.parametrize("page", [LOOKS[0], LOOKS[3]], ids=["desk", "phone"], indirect=True)
def test_hostile_names_of_hosts_and_nodes_are_text(serve, page):
    node = f"root://{HOSTILE}"
    page.goto(serve(Board([HOSTILE, "node7"], node)))
    page.locator("#overview-5 canvas").wait_for()
    assert page.locator("#worker-rows td.text").all_inner_texts() == [HOSTILE, "node7"]
    assert node in page.locator("#overview-2 .left span").first.get_attribute("title")
    assert page.title() == "treemill"
    assert page.locator("main img, td b, th b, .field b").count() == 0
    assert not is_wide(page), "the page is wider than the screen"


def test_the_tail_is_said_and_workers_are_sorted(serve, page):
    page.goto(serve(Board(["a", "b", "c"], "node")))
    page.locator("#worker-rows tr").first.wait_for()
    assert (number(page, "tail"), number(page, "at work")) == ("1.0 s", "0")
    tints = page.evaluate("() => tinted.get('workers')")
    assert tints == pytest.approx(2.0)
    heading = page.get_by_role("button", name="packets", exact=True)
    heading.click()
    column = page.locator("#worker-rows td:nth-child(3)")
    assert column.all_inner_texts() == ["5", "4", "3"]
    heading.click()
    assert column.all_inner_texts() == ["3", "4", "5"]
    before = page.evaluate_handle("() => shown")
    page.wait_for_function("(before) => shown !== before", arg=before)
    assert column.all_inner_texts() == ["3", "4", "5"], "a new answer keeps the order"


def test_maps_have_marks_and_words(session, page, events):
    session.run(events.hist("MET_pt", bins=(10, 0, 100)))
    page.goto(session.dashboard().url)
    page.locator("#histograms").select_option("latency_per_worker")
    page.locator("#histogram .field canvas").wait_for()
    assert page.locator("#histogram .field .below span").first.inner_text() == "0"
    marks = [float(mark) for mark in page.locator("#histogram .field .left span").all_inner_texts()]
    assert marks == sorted(marks)
    assert 0 < marks[0] < marks[-1] < 60, "only decades that have something"
    about = page.locator("#histogram .field .about").inner_text()
    assert about.startswith("latency [s] against worker")


def test_marks_of_an_axis_are_as_far_apart_as_they_say(serve, page):
    page.goto(serve(Board(["a"], "node")))
    page.locator("#worker-rows tr").first.wait_for()
    said = page.evaluate("() => [0, 0.75, 1.5, 2.25, 3].map(fine)")
    assert said == ["0", "0.75", "1.5", "2.25", "3"]
    assert page.evaluate("() => [0.00005, 0.0005, 0.005].map(fine)") == [
        "0.00005",
        "0.0005",
        "0.005",
    ]


def test_the_marks_of_an_axis_are_in_one_unit(serve, page):
    page.goto(serve(Board(["a"], "node")))
    page.locator("#worker-rows tr").first.wait_for()

    def ticks(*values):
        return page.evaluate("(values) => ticks(values)", list(values))

    assert ticks(0, 500_000, 1_000_000, 1_500_000) == ["0", "0.5M", "1M", "1.5M"]
    assert ticks(800, 1000, 1200) == ["800", "1000", "1200"]
    assert ticks(-20_000, 0, 20_000) == ["-20k", "0", "20k"]
    assert ticks(0, 0.1 + 0.2) == ["0", "0.3"]
    assert ticks(None, 5) == ["", "5"]


def test_what_is_drawn_has_a_name_and_a_tail_is_longer_than_packets_are(serve, page):
    """While a query has no histogram of its own, one of its workers' is drawn."""
    page.goto(serve(Board(["a", "b", "c"], "node", seconds=7.0)))
    page.locator("#worker-rows tr").first.wait_for()
    assert page.locator("#histogram canvas").count() == 1
    assert page.locator("#histograms").input_value() == "bytes_read_per_worker"
    assert page.get_by_text("tail", exact=True).count() == 0
    assert page.evaluate("() => tinted.get('workers')") is None


def test_a_session_that_has_ended_is_said(page, events):
    with tm.connect(workers=1, mode="threads") as session:
        session.run(events.count())
        page.goto(session.dashboard().url)
        page.get_by_role("heading", name="count").wait_for()
    page.get_by_text("The session does not answer").wait_for()
    page.wrong.clear()  # the browser notes that the server is gone


def test_failures_of_an_endurance_run_are_named(serve, page):
    """In the list of storages, and by the beginnings of their causes below the histogram."""
    causes = {"no connection: Connection refused (server h:1)": 2, "another cause " * 9: 1}
    mine = Tally("copy", "root://h:1", 3, 3, 600, cpu=3.0, seconds=12.0, causes=causes)
    tallies = [mine, Tally("copy", "nfs://h:2")]
    board = LoadTestBoard("run", ["root://h:1", "nfs://h:2"], lambda how: None)
    board.put(LoadTestState(Moment(9.0, 0, 3, 3, 600, 0), {}, tallies, 0.4))
    page.add_init_script(
        """window.written = new Set();
        const write = CanvasRenderingContext2D.prototype.fillText;
        CanvasRenderingContext2D.prototype.fillText = function (words, ...more) {
          written.add(words);
          write.call(this, words, ...more);
        };"""
    )
    page.goto(serve(board))
    page.locator("nav").get_by_text("running, 3 failed: 40 %").first.wait_for()
    assert page.locator("nav").get_by_text("failed").count() == 2, "all storages, and one"
    numbers = page.locator("#numbers > div")
    assert numbers.filter(has_text="CPU efficiency").locator("b").inner_text() == "25%"
    assert numbers.filter(has_text="jobs failed").locator("b").inner_text() == "3"
    page.locator("#histograms").select_option("failures by cause")
    page.wait_for_function("() => [...written].some((words) => words.startsWith('another'))")
    names = {
        words
        for words in page.evaluate("() => [...written]")
        if "cause" in words or "conn" in words
    }
    assert any(name.startswith("no connection: Connection refused") for name in names)
    assert any(name.endswith("…") for name in names)
    board.put(LoadTestState(Moment(9.0, 0, 3, 3, 600, 0), {}, tallies, 1.0, stopping=True))
    page.get_by_text("stopping, 3 failed", exact=True).wait_for()


CUT = "() => [...document.querySelectorAll('.scroll')].some((x) => x.scrollWidth > x.clientWidth)"


def test_nothing_is_cut_and_no_panel_is_empty(serve, browser):
    """The table of workers, with hosts and large numbers, at usual widths."""
    url = serve(Board(["gpu-a100-017.site.org/12"] * 3, "root://storage.site.org:1094"))
    for width in (800, 1100, 1200, 2000):
        with browser.new_context(viewport={"width": width, "height": 900}) as context:
            page = context.new_page()
            page.goto(url)
            page.locator("#worker-rows tr").first.wait_for()
            assert not page.evaluate(CUT), width
            assert not is_wide(page), width
            assert page.get_by_role("button").filter(has_text="Stop").count() == 0
            figures = page.locator("figure").filter(has_not=page.locator("#histograms"))
            shown = [each for each in figures.all() if each.is_visible()]
            assert shown
            assert all(each.locator("canvas").count() for each in shown)
            assert not page.locator("#megabytes-box").is_visible(), "nothing was read"
