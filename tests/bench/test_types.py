"""The benchmark of kinds of branches: it runs, compares, and judges rightly. No timings tested."""

import importlib.util
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
sys.path.insert(0, str(REPOSITORY))

from bench.times import Times  # noqa: E402
from bench.types import cells, page  # noqa: E402


def measured(kind="x", interpretation="AsJagged", uproot=4.0, limit=0.5):
    theirs = None if uproot is None else Times((uproot,))
    return cells.Cell(
        kind, "lz4", "int", interpretation, 10**6, Times((1.0, 9.0, 0.5)), theirs, Times((limit,))
    )


def test_what_is_promised_depends_on_uproots_way():
    fast, slow = measured(), measured(interpretation="AsObjects")
    assert (fast.wanted, fast.reached, fast.reason) == (3, True, "")
    assert (slow.wanted, slow.reached) == (10, False)
    assert slow.reason == "out of reach: decompression alone has 8.0"
    assert "treemill takes 4.0 of it" in measured(interpretation="AsObjects", limit=0.25).reason


def test_nothing_is_promised_where_uproot_cannot_read():
    assert (measured(uproot=None).ratio, measured(uproot=None).reached) == (None, True)


def test_the_page_is_made_of_raw_numbers():
    made = [measured("vector<int>"), measured("map", "AsObjects"), measured("odd", "cannot", None)]
    raw = json.loads(json.dumps([c.as_dict() for c in made]))
    text = page.markdown("t", {"a": "b"}, [cells.cell(r) for r in raw])
    assert text == page.markdown("t", {"a": "b"}, made)
    assert "1 of 2 promises kept" in text
    assert "| `map`, lz4 | 4.00 | 10 | out of reach: decompression alone has 8.0 |" in text


@pytest.mark.slow
def test_quick_run(tmp_path):
    if importlib.util.find_spec("ROOT") is None or shutil.which("c++") is None:
        pytest.skip("ROOT or a C++ compiler is not installed")
    built = REPOSITORY / "target" / "release" / "examples" / "unpack"
    if not built.exists():
        pytest.skip("build treemill-read's examples: cargo build --release --examples")
    folders = ["--data", str(tmp_path), "--output", str(tmp_path / "results")]
    command = [sys.executable, "-m", "bench", "types", "--quick", "--codecs", "zstd", *folders]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (written,) = (tmp_path / "results").glob("*.json")
    assert len(json.loads(written.read_text())["cells"]) > 40
