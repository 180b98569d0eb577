"""The benchmark of the eight tasks as a program: it runs, compares, and judges rightly."""

import dataclasses
import json
import subprocess
import sys
from pathlib import Path

import pytest

from bench import spent
from bench.adl import goals, report, whole
from bench.adl.tasks import TASKS
from bench.goals import medians
from bench.rivals.adl import ADL_RIVALS, MEASURED
from bench.times import Times
from bench.warm import Cell

REPOSITORY = Path(__file__).parents[2]


@pytest.mark.slow
def test_quick_run(tmp_path):
    pytest.importorskip("vector", reason="vector is not installed (dependency group `dev`)")
    command = [sys.executable, "-m", "bench", "adl", "--quick", "--parts", "warm"]
    rivals = ("adl-treemill", "adl-reading", "adl-awkward", "adl-awkward-kept")
    chosen = ["--rivals", *rivals, "--codecs", "zstd"]
    folders = ["--data", str(tmp_path / "data"), "--output", str(tmp_path / "results")]
    done = subprocess.run(
        [*command, *chosen, *folders], cwd=REPOSITORY, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    (written,) = (tmp_path / "results").glob("*-adl-quick.json")
    found = json.loads(written.read_text())
    assert {(c["rival"], c["query"]) for c in found["warm"] if c["rival"] != "adl-limit"} == {
        (rival, task) for rival in rivals for task in TASKS
    }
    page = written.with_suffix(".md").read_text()
    assert page.count("| adl1 MET of all events, zstd |") == 3
    for cell in found["warm"]:
        counts = cell["rival"] in ("adl-treemill", "adl-reading")
        assert list(cell.get("spent", {})) == list(spent.STEPS) * counts


def cell(rival, task, seconds):
    times = Times((seconds,) * 5)
    return Cell(rival, task, "lz4", times, times, "wall")


def test_verdicts():
    cells = [
        *(cell("adl-treemill", task, 1.0) for task in ("adl1", "adl5")),
        cell("adl-rdf", "adl1", 32.0),
        cell("adl-cling", "adl1", 40.0),
        cell("adl-rdf", "adl5", 4.5),
        cell("adl-cling", "adl5", 3.0),
        cell("adl-awkward", "adl1", 2.0),
        cell("adl-awkward", "adl5", 6.0),
        cell("adl-limit", "adl1", 0.5),
        cell("adl-reading", "adl1", 4.0),
        cell("adl-reading", "adl5", 1.5),
        cell("adl-awkward-kept", "adl1", 1.5),
    ]
    first = {
        ("adl1", "treemill"): Times((0.4,)),
        ("adl1", "RDataFrame"): Times((2.4,)),
    }
    verdicts = [*goals.warm(medians(cells, MEASURED)), *goals.cold(first)]
    found = {(v.goal, v.where): (v.measured, v.wanted, v.reached) for v in verdicts}
    # The faster of RDataFrame's two forms counts.
    assert found["RDataFrame / treemill", "adl1 lz4"] == (32.0, 4.0, True)
    assert found["RDataFrame / treemill", "adl5 lz4"] == (3.0, 4.0, False)
    mean, wanted, reached = found["RDataFrame / treemill", "geometric mean lz4"]
    assert (mean, wanted, reached) == (pytest.approx(96**0.5), 8.0, True)
    assert found["RDataFrame / decompression", "adl1 lz4"] == (64.0, None, True)
    limited = "decompression / treemill, nothing remembered"
    assert found[limited, "adl1 lz4"] == (0.125, 0.71, False)
    # So does the faster of awkward's, one of which keeps its arrays between rounds.
    assert found["awkward / treemill", "adl1 lz4"] == (1.5, None, True)
    each = "awkward / treemill, nothing remembered by either"
    assert found[each, "adl1 lz4"] == (0.5, None, True)
    assert found["RDataFrame / treemill, nothing remembered", "adl5 lz4"] == (2.0, None, True)
    (why,) = [v.reason for v in verdicts if v.where == "adl5 lz4" and not v.reached]
    assert "750.0 ms would do; it takes 1000.0 ms, with nothing remembered 1500.0 ms" in why
    assert found["awkward / treemill", "adl5 lz4"] == (6.0, 5.0, True)
    ratio, wanted, reached = found["cold: RDataFrame / treemill", "adl1"]
    assert (ratio, wanted, reached) == (pytest.approx(6.0), 5.0, True)
    page = report.markdown("t", {}, cells, first, verdicts, 500_000)
    assert "neither reads nor decompresses" in page
    assert "3.00 ✗ (≥ 4)" in page
    assert "| adl1, RDataFrame | 2.40 |" in page
    assert "Where the time goes" not in page  # nothing was counted

    counted = {"opening": 0.1, "reading": 0.2, "decompressing": 0.4, "decoding": 0.1}
    steps = spent.steps(counted | {"seconds": 3.0}, 4.0)
    cells[-3] = dataclasses.replace(cells[-3], spent=spent.medians([steps]))
    page = report.markdown("t", {}, cells, first, verdicts, 500_000)
    assert "lz4 | 100.0 | 200.0 | 400.0 | 100.0 | 2200.0 | 1000.0 | 500.0 |" in page


def test_all_tasks_in_proportion_to_the_whole_file():
    cells = [cell("adl-reading", task, 0.05) for task in TASKS]
    cells += [cell("adl-rdf", task, 0.5) for task in TASKS]
    cells += [cell("adl-awkward", "adl1", 1.0)]
    found = whole.seconds(cells, 500_000)
    in_all = 0.4 * whole.EVENTS / 500_000
    assert found == {
        ("adl-reading", "lz4"): pytest.approx(in_all),
        ("adl-rdf", "lz4"): pytest.approx(10 * in_all),
    }
    (verdict,) = whole.verdicts(cells, ADL_RIVALS, 500_000)
    assert (verdict.wanted, verdict.reached) == (60.0, True)
    page = whole.markdown(cells, ADL_RIVALS, 500_000)
    assert "| treemill, nothing remembered | 42.8 |" in page
    assert "| RDataFrame, 48 cores, published | 58.6 |" in page
    assert "| adl1, lz4 | 10.0 | 1.0 | 0.5 |" in page
