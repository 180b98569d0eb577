"""The site in a real browser, opened as files without a server: what is searched is found, and no
page asks for anything from elsewhere. Slow: the site is built, without running its notebooks.
"""

import shutil
from pathlib import Path

import pytest

from tests.tutorials import build_site

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytest.importorskip("myst_nb", reason="myst-nb is not installed (dependency group `dev`)")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium on this machine"),
]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    build_site(folder)
    return folder


@pytest.fixture(scope="module")
def page(site):
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page()
        page.elsewhere = []
        page.wrong = []
        page.on("request", lambda asked: note(page.elsewhere, asked.url))
        page.on("pageerror", lambda error: page.wrong.append(str(error)))
        yield page
        browser.close()


def note(found, url):
    if not url.startswith(("file:", "data:", "about:")):
        found.append(url)


def test_what_is_searched_is_found(site, page):
    page.goto((site / "index.html").as_uri())
    page.get_by_label("Search").first.fill("lumi_mask")
    page.keyboard.press("Enter")
    page.get_by_text("treemill.lumi_mask").first.wait_for()
    page.get_by_role("link", name="treemill.lumi_mask").first.click()
    page.get_by_text("Make a mask of good luminosity sections").first.wait_for()


def test_words_below_the_pictures_of_hist_are_not_cut_off(site, page):
    page.goto((site / "drawing.html").as_uri())
    look = """() => {
        const output = document.createElement("div");
        output.className = "cell_output";
        output.innerHTML = "<svg viewBox='-10 -105 270 120'></svg>";
        document.querySelector("article").append(output);
        return getComputedStyle(output.firstChild).overflow;
    }"""
    assert page.evaluate(look) == "visible"


def test_no_page_asks_for_anything_from_elsewhere(site, page):
    pages = sorted(site.rglob("*.html"))
    assert site / "tutorials" / "ttbar.html" in pages
    for path in pages:
        page.goto(Path(path).as_uri())
    assert page.elsewhere == []
    assert page.wrong == []
