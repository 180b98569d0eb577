"""The sessions' benchmark as a program: it runs, and writes what it found. Tests no timings."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]


@pytest.mark.slow
def test_quick_run(tmp_path):
    command = [sys.executable, "-m", "bench", "sessions", "--quick", "--rounds", "1"]
    folders = ["--data", str(tmp_path / "data"), "--output", str(tmp_path / "results")]
    done = subprocess.run(
        [*command, *folders, "--events", "5000", "--parts", "reading", "coffea"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    (written,) = (tmp_path / "results").glob("*-sessions-quick.json")
    rows = json.loads(written.read_text())["rows"]
    assert any(row["what"].startswith("reading in a selector") for row in rows)
    assert any(row["what"].startswith("a processor by treemill") for row in rows)
    assert all(row["median"] > 0 for row in rows)
    assert "| reading in a selector" in written.with_suffix(".md").read_text()
