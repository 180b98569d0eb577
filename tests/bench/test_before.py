"""The benchmark of two versions as a program: it runs, compares their results, and names what is
slower. Both versions are the present one here: building another takes minutes."""

import argparse
import json
from pathlib import Path
from statistics import median

import pytest
import treemill
from hypothesis import given
from hypothesis import strategies as st

from bench import before
from bench.queries import Query
from bench.ratios import interval
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


def _cells(before_seconds, now_seconds):
    def cell(rival, seconds):
        times = Times((seconds,) * 9)
        return Cell(rival, "q", "lz4", times, times, "wall")

    return cell("before", before_seconds), cell("now", now_seconds)


def test_what_is_slower_is_named():
    adl, ntuples = before.PARTS["adl"], before.PARTS["ntuples"]
    a, b, c = (Query(key, key, ()) for key in "abc")
    starts = {
        (adl, "lz4"): {
            a: [_cells(1.0, 1.02)] * 8 + [_cells(1.0, 2.0)],
            b: [_cells(1.0, 1.04)] * 8 + [_cells(1.0, 1.0)],
            c: [_cells(1.0, 1.04)] * 5 + [_cells(1.0, 1.0)] * 4,
        },
        # Another part may ask the same query of files of its own.
        (ntuples, "lz4"): {b: [_cells(2.0, 1.0)] * 9},
    }
    page = before._page("1234567", {"clock": "wall"}, starts)
    assert "| adl a lz4 | 1000.00 | 1020.00 | 1.020 | 1.020 to 1.020 | 9 |" in page
    assert "| ntuples b lz4 | 2000.00 | 1000.00 | 0.500 | 0.500 to 0.500 | 9 |" in page
    assert "Slower by more than 3 %: adl b lz4.\n" in page
    assert page.endswith("as the starts do not agree: adl c lz4.\n")


def test_a_cell_near_the_limit_gets_more_starts(monkeypatch):
    adl = before.PARTS["adl"]
    far, near = Query("far", "", ()), Query("near", "", ())
    ratios = {"far": [1.0] * 6, "near": [1.0, 1.1] * 3 + [1.0] * 20}
    asked = []

    def measured(part, queries, code, files, chosen):
        queries = queries or [far, near]
        asked.append([query.key for query in queries])
        return [(query, _cells(1.0, ratios[query.key][len(asked) - 1])) for query in queries]

    monkeypatch.setattr(before, "_measured", measured)
    chosen = argparse.Namespace(starts=6, most=40)
    starts = before._starts([adl], Path(), {adl.files: {"lz4": Path()}}, chosen)
    assert asked[:6] == [["far", "near"]] * 6
    assert asked[6:] == [["near"]] * (len(asked) - 6)
    assert len(starts[adl, "lz4"][far]) == 6
    assert 6 < len(starts[adl, "lz4"][near]) < 20


@given(st.lists(st.floats(0.5, 2), min_size=1, max_size=60))
def test_the_interval_holds_the_median(ratios):
    low, high = interval(ratios)
    assert low <= median(ratios) <= high


@pytest.mark.parametrize(("count", "place"), [(5, 0), (6, 0), (9, 1), (15, 3), (25, 7), (40, 13)])
def test_the_interval_narrows_as_the_table_of_the_sign_test_says(count, place):
    assert interval(range(count)) == (place, count - 1 - place)
