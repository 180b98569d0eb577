"""`python -m tests.dashboard.picture [FILE.png]`: the picture of the page in the docs, of a real
query that has just ended. Needs Chromium and playwright."""

import shutil
import sys
import tempfile
from pathlib import Path

import treemill as tm
from playwright.sync_api import sync_playwright
from treemill.facility.generate import write

DOCS = Path(__file__).parents[2] / "docs" / "images" / "dashboard.png"
FILES, EVENTS, ROUNDS = 12, 100_000, 6
MASS = "max([(a + b + c).mass for a, b, c in combinations(Jet, 3)])"


def main(path):
    with (
        tempfile.TemporaryDirectory() as folder,
        sync_playwright() as playwright,
        tm.connect(workers=4, mode="processes", trace=100_000) as session,
    ):
        paths = [f"{folder}/events_{number}.root" for number in range(FILES)]
        for number, each in enumerate(paths):
            write(each, events=EVENTS, index=number, cluster=5_000, codec="zstd")
        events = tm.dataset(paths * ROUNDS, tree="Events")
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto(session.dashboard().url)
        session.run(events.count())
        query = session.submit(
            events.filter("nJet >= 3").hist(MASS, bins=(60, 0, 1200), name="m3"),
            events.hist("MET_pt", bins=(50, 0, 200)),
        )
        query.result()
        page.get_by_text("are in the result").wait_for()
        page.get_by_role("heading", name="MET_pt").wait_for()
        page.screenshot(path=path, full_page=True)
        browser.close()


if __name__ == "__main__":
    main(*(sys.argv[1:] or [str(DOCS)]))
