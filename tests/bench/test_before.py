"""The benchmark of two versions as a program: it runs, compares their results, and names what is
slower. Both versions are the present one here: building another takes minutes."""

import json
from pathlib import Path

import pytest
import treemill

from bench import before
from bench.times import Times
from bench.warm import Cell

CODE = Path(treemill.__file__).parents[1]


@pytest.mark.slow
def test_quick_run(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(before, "build", lambda commit, folder: CODE)
    folders = ["--data", str(tmp_path / "data"), "--output", str(tmp_path / "results")]
    assert before.main(["HEAD", "--quick", "--codecs", "lz4", *folders]) == 0
    (written,) = (tmp_path / "results").glob("*-before-quick.json")
    found = json.loads(written.read_text())
    asked = {query.key for part in before.PARTS.values() for query in part.queries}
    assert {cell["query"] for cell in found["warm"]} > asked  # and each kind of branch
    made = {name: file["events"] for name, file in found["files"].items() if "events" in file}
    assert made == {"demo lz4": 20_000, "opendata lz4": 20_000, "ntuples lz4": 20_000}
    assert "| adl adl6 lz4 |" in written.with_suffix(".md").read_text()


def test_what_is_slower_is_named():
    def cell(rival, query, seconds):
        times = Times((seconds,) * 9)
        return Cell(rival, query, "lz4", times, times, "wall")

    cells = [cell("now-adl", "a", 1.02), cell("before-adl", "a", 1.0)]
    cells += [cell("now-adl", "b", 1.04), cell("before-adl", "b", 1.0)]
    # A start that disagrees with two others does not decide.
    odd = [cell("now-adl", "a", 2.0), cells[1], cell("now-adl", "b", 1.0), cells[3]]
    page = before._page("1234567", {"clock": "wall"}, [cells, odd, cells])
    assert "| adl a lz4 | 1000.00 | 1020.00 | 1.020 | 1.020 to 2.000 |" in page
    assert page.endswith("Slower by more than 3 %: adl b lz4.\n")


def test_parts_that_ask_the_same_have_a_line_each():
    def cell(rival, seconds):
        times = Times((seconds,) * 9)
        return Cell(rival, "q1", "lz4", times, times, "wall")

    cells = [cell("now-queries", 1.0), cell("before-queries", 2.0)]
    cells += [cell("now-ntuples", 1.5), cell("before-ntuples", 1.0)]
    page = before._page("1234567", {"clock": "wall"}, [cells])
    assert "| queries q1 lz4 | 2000.00 | 1000.00 | 0.500 |" in page
    assert "| ntuples q1 lz4 | 1000.00 | 1500.00 | 1.500 |" in page
