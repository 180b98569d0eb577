"""The facility's benchmark: it runs in one go, and what the docs show of it is there."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from bench import facility
from bench.protocol import REPOSITORY

PICTURES = {f"facility-{name}.png" for name in (*facility.NAMES.values(), facility.TRACE)}


def test_the_docs_show_its_pictures():
    text = (REPOSITORY / "docs" / "benchmark.md").read_text()
    assert set(re.findall(r"images/(facility-\w+\.png)", text)) == PICTURES
    for name in PICTURES:
        assert (facility.PICTURES / name).read_bytes().startswith(b"\x89PNG")


def test_its_results_are_recorded():
    folder = REPOSITORY / "bench" / "results"
    (*_, newest) = sorted(folder.glob("*-facility.md"))
    base = str(newest).removesuffix(".md")
    runs = json.loads(Path(f"{base}-runs.json").read_text())
    assert {run["system"] for run in runs["measurements"]} == {"threads", "processes", "dask"}
    page = Path(f"{base}.html").read_text()
    assert "data:image/svg+xml" in page
    assert "<script" not in page
    rows = json.loads(Path(f"{base}.json").read_text())["rows"]
    (read,) = [row for row in rows if row["what"].startswith("bytes of single reads")]
    assert set(read["values"]) == {1.0}


@pytest.mark.slow
def test_quick_run(tmp_path):
    command = [sys.executable, "-m", "bench", "facility", "--quick"]
    folders = ["--data", str(tmp_path / "data"), "--output", str(tmp_path / "results")]
    done = subprocess.run([*command, *folders], cwd=REPOSITORY, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    made = {path.name for path in (tmp_path / "results").iterdir()}
    assert made > PICTURES
    kinds = {name.rsplit("-", 1)[-1] for name in made - PICTURES}
    own = {f"quick.{kind}" for kind in ("md", "json", "html")}
    assert kinds == own | {"runs.json", "storage.json", "storage.html"}
