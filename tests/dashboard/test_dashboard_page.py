"""The dashboard's page in a real browser: a query's histogram grows, Stop stops it, hostile names
are text, and nothing is wider than a phone."""

import os
import shutil

import numpy as np
import pytest
import treemill as tm
import uproot
from treemill.bench.hammer.account import Moment, Tally
from treemill.cli.benchmark.hammer_board import HammerBoard, HammerState
from treemill.dashboard.server import Dashboard
from treemill.selector.task import SelectorTask

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
        with page.expect_response("**/stop*"):  # the gate opens when the session knows of it
            page.get_by_role("button", name="Stop").click()
        gate.open()
        page.get_by_text("events are in the result").wait_for()
        query.result(timeout=60)
    assert page.get_by_role("button", name="Stop").is_disabled()
    assert 0 < query.report.entries < events.num_entries
    entries = f"{query.report.entries:,} of {events.num_entries:,}"
    assert page.locator("#words").inner_text() == f"Ended. {entries} events are in the result."
    assert page.locator("#missing li").count() > 0


@pytest.mark.parametrize(
    "page",
    [
        {"color_scheme": "dark", "viewport": {"width": 1280, "height": 900}},
        {"color_scheme": "light", "viewport": {"width": 390, "height": 844}},
    ],
    ids=["dark", "phone"],
    indirect=True,
)
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
    wide = page.evaluate("() => document.documentElement.scrollWidth > innerWidth")
    assert not wide, "the page is wider than the screen"
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


def test_maps_have_marks_and_words(session, page, events):
    session.run(events.hist("MET_pt", bins=(10, 0, 100)))
    page.goto(session.dashboard().url)
    page.wait_for_function("() => document.querySelector('#histogram canvas') !== null")
    page.locator("#histograms").select_option("latency_per_worker")
    page.wait_for_function("() => document.querySelector('.field canvas') !== null")
    assert page.locator(".field .below span").first.inner_text() == "0"
    marks = [float(mark) for mark in page.locator(".field .left span").all_inner_texts()]
    assert marks == sorted(marks)
    assert 0 < marks[0] < marks[-1] < 60, "only decades that have something"
    assert page.locator(".field .about").inner_text().startswith("latency [s] against worker")


def test_a_session_that_has_ended_is_said(page, events):
    with tm.connect(workers=1, mode="threads") as session:
        session.run(events.count())
        page.goto(session.dashboard().url)
        page.get_by_role("heading", name="count").wait_for()
    page.get_by_text("The session does not answer").wait_for()
    page.wrong.clear()  # the browser notes that the server is gone


def test_failures_of_an_endurance_run_are_named(page):
    """In the list of storages, and by the beginnings of their causes below the histogram."""
    causes = {"no connection: Connection refused (server h:1)": 2, "another cause " * 9: 1}
    tallies = [Tally("copy", "root://h:1", 3, 3, 600, causes=causes), Tally("copy", "nfs://h:2")]
    board = HammerBoard("run", ["root://h:1", "nfs://h:2"], lambda how: None)
    board.put(HammerState(Moment(9.0, 0, 3, 3, 600, 0), {}, tallies, 0.4))
    page.add_init_script(
        """window.written = new Set();
        const write = CanvasRenderingContext2D.prototype.fillText;
        CanvasRenderingContext2D.prototype.fillText = function (words, ...more) {
          written.add(words);
          write.call(this, words, ...more);
        };"""
    )
    with Dashboard(board) as shown:
        page.goto(shown.url)
        page.locator("nav").get_by_text("running, 3 failed: 40 %").first.wait_for()
        assert page.locator("nav").get_by_text("failed").count() == 2, "all storages, and one"
        page.locator("#histograms").select_option("failures by cause")
        page.wait_for_function("() => [...written].some((words) => words.startsWith('another'))")
        names = {
            words
            for words in page.evaluate("() => [...written]")
            if "cause" in words or "conn" in words
        }
        assert any(name.startswith("no connection: Connection refused") for name in names)
        assert any(name.endswith("…") for name in names)
        board.put(HammerState(Moment(9.0, 0, 3, 3, 600, 0), {}, tallies, 1.0, stopping=True))
        page.get_by_text("stopping, 3 failed", exact=True).wait_for()
