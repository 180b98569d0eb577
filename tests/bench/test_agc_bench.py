"""The benchmark of the tt̄ analysis: it judges rightly, and runs."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bench.agc import report
from bench.agc.run import unlike
from bench.rivals.agc import AGC_RIVALS, DECOMPRESSION
from bench.times import Times
from bench.warm import Cell

REPOSITORY = Path(__file__).parents[2]


def test_verdicts():
    seconds = (0.5, 1.0, 10.0, 4.0, 4.5, 0.8)
    cells = [
        Cell(rival.key, "agc", "zstd", Times((s,) * 3), Times((s,) * 3), "wall")
        for rival, s in zip([*AGC_RIVALS, DECOMPRESSION], seconds, strict=True)
    ]
    found = {v.goal: (v.measured, v.wanted, v.reached) for v in report.verdicts(cells)}
    assert found == {
        "coffea, as its reference / treemill": (20.0, 10.0, True),
        "coffea, as its reference / treemill, nothing remembered": (10.0, None, True),
        "coffea, for speed / treemill": (8.0, 10.0, False),
        "coffea, for speed / treemill, nothing remembered": (4.0, None, True),
        "RDataFrame / treemill": (9.0, 8.0, True),
        "RDataFrame / treemill, nothing remembered": (4.5, None, True),
        "decompression alone / treemill, nothing remembered": (0.8, 0.71, True),
    }
    rows = report.rows([*AGC_RIVALS, DECOMPRESSION], cells, {}, {"agc-rdf": 600.0}, 9_000)
    assert [row[-2:] for row in (rows[0], rows[-2])] == [["18", "-"], ["2", "600"]]
    assert rows[-1] == ["decompression alone", "-", "-", rows[-1][3], "11", "-"]
    assert "| coffea, for speed / treemill | 8.00 | ≥ 10 ✗ |" in report.markdown(
        "t", "", rows, cells, report.verdicts(cells)
    )


def test_bins_that_are_not_explained():
    assert unlike([5.0, 3.0], [4.0, 4.0]) == []
    assert len(unlike([5.0, 3.0], [4.0, 3.0])) == 1


@pytest.mark.slow
def test_quick_run(tmp_path):
    pytest.importorskip("coffea", reason="coffea is not installed (dependency group `dev`)")
    rivals = ("agc-treemill", "agc-reading", "agc-coffea", "agc-coffea-fast")
    command = [sys.executable, "-m", "bench", "agc", "--quick", "--rivals", *rivals]
    folders = ["--data", str(tmp_path / "data"), "--output", str(tmp_path / "results")]
    done = subprocess.run([*command, *folders], cwd=REPOSITORY, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (written,) = (tmp_path / "results").glob("*-agc-quick.json")
    found = json.loads(written.read_text())
    there = [cell["rival"] for cell in found["warm"]]
    assert [rival for rival in there if rival != "agc-limit"] == [*rivals]
    assert set(found["memory"]) == set(found["first"]) == {*rivals}
    assert min(found["memory"].values()) > 50
    assert done.stderr.count("written: ") == 3, "after each part"
