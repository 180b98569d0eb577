"""The benchmark as a program: it runs, compares, and judges rightly. No timings are tested."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import pytest

REPOSITORY = Path(__file__).parents[2]
sys.path.insert(0, str(REPOSITORY))

from bench import __main__ as bench_main  # noqa: E402
from bench import goals, report, warm  # noqa: E402
from bench.queries import QUERIES  # noqa: E402
from bench.rivals import RIVALS, treemill_  # noqa: E402
from bench.times import Times  # noqa: E402


@pytest.mark.slow
def test_quick_run(tmp_path):
    command = [sys.executable, "-m", "bench", "--quick", "--parts", "warm", "memory"]
    chosen = ["--rivals", "treemill", "uproot", "--codecs", "zstd", "none"]
    folders = ["--data", str(tmp_path / "data"), "--output", str(tmp_path / "results")]
    done = subprocess.run(
        [*command, *chosen, *folders], cwd=REPOSITORY, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    (written,) = (tmp_path / "results").glob("*.json")
    found = json.loads(written.read_text())
    assert {(c["rival"], c["query"], c["codec"]) for c in found["warm"]} == {
        (rival, query.key, codec)
        for rival in ("treemill", "uproot")
        for query in QUERIES
        for codec in ("zstd", "none")
    }
    assert [sweep["rival"] for sweep in found["memory"]] == ["treemill"]
    # In the table of times and in that of ratios; whether goals were reached is not tested.
    assert written.with_suffix(".md").read_text().count("| q1 MET_pt of all events, zstd |") == 2


@pytest.mark.slow
@pytest.mark.skipif(find_spec("ROOT") is None, reason="ROOT is not installed: it converts")
def test_quick_run_of_ntuples(tmp_path):
    command = [sys.executable, "-m", "bench", "--quick", "--ntuples", "--events", "2000"]
    rivals = ("treemill", "treemill-remembering", "uproot")
    chosen = ["--rivals", *rivals, "limit", "--codecs", "lz4"]
    folders = ["--data", str(tmp_path / "data"), "--output", str(tmp_path / "results")]
    done = subprocess.run(
        [*command, *chosen, *folders], cwd=REPOSITORY, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    (written,) = (tmp_path / "results").glob("*-rntuple-quick.json")
    found = json.loads(written.read_text())
    there = {(c["rival"], c["codec"]) for c in found["warm"]}
    # The limit is a program that `make bench` builds.
    assert there - {("limit", "RNTuple lz4")} == {(rival, "RNTuple lz4") for rival in rivals}
    assert "neither reads nor decompresses" in written.with_suffix(".md").read_text()


class Fake:
    """A rival's process that answers the same each time."""

    def __init__(self, rival, bins, seconds=1.0):
        self.rival, self.bins, self.seconds = rival, bins, seconds

    def run(self, query, path):
        return {"bins": self.bins, "seconds": self.seconds, "cpu": self.seconds / 2}


def measured(*fakes, clock="wall"):
    files = {"none": Path("x")}
    return warm.measure(warm.Pool(list(fakes)), QUERIES[:1], files, 3, clock, lambda text: None)


def rival(key):
    return next(r for r in RIVALS if r.key == key)


def test_different_bins_are_an_error():
    one, other = Fake(rival("treemill"), [0, 1, 2, 0]), Fake(rival("uproot"), [0, 1, 3, 0])
    with pytest.raises(warm.WrongBinsError, match="uproot"):
        measured(one, other)


def test_the_limit_has_no_flow_bins():
    assert len(measured(Fake(rival("treemill"), [9, 1, 2, 9]), Fake(rival("limit"), [1, 2]))) == 2
    with pytest.raises(warm.WrongBinsError):
        measured(Fake(rival("treemill"), [9, 1, 2, 9]), Fake(rival("limit"), [1, 3]))


def test_verdicts():
    bins = [0, 1, 0]
    cells = measured(
        *(Fake(rival(key), bins, seconds) for key, seconds in [("treemill", 1.0), ("rdf", 9.0)]),
        *(Fake(rival(key), bins, seconds) for key, seconds in [("rdf-c++", 7.0), ("limit", 0.9)]),
        Fake(rival("treemill-2"), bins, 0.5),
    )
    found = {v.goal: v for v in goals.warm(goals.medians(cells, RIVALS))}
    assert {name: (v.measured, v.reached) for name, v in found.items()} == {
        "RDataFrame / treemill": (7.0, False),
        "RDataFrame strings / treemill": (9.0, True),
        "limit / treemill": (0.9, True),
        "1 thread / 2 threads": (2.0, True),
    }
    assert "out of reach" in found["RDataFrame / treemill"].reason
    page = report.markdown(
        "t", {}, cells, {"treemill draw": Times((0.5,))}, [], list(found.values())
    )
    assert "7.00 ✗ (≥ 8)" in page
    assert "2.00 ✓ (≥ 1.8)" in page


def test_cpu_clock_judges_single_threads_only():
    fakes = [Fake(rival(key), [1]) for key in ("treemill", "treemill-2", "uproot", "limit")]
    found = goals.warm(goals.medians(measured(*fakes, clock="cpu"), RIVALS))
    assert [v.goal for v in found] == ["uproot / treemill"]


def test_measurements_remember_nothing_but_where_a_rival_says_so(monkeypatch):
    seen = []

    def fake(arguments):
        seen.append(os.environ["TREEMILL_CACHE"])
        return 0

    monkeypatch.setenv("TREEMILL_CACHE", "1 GB")
    monkeypatch.setitem(sys.modules, "fake_measurement", SimpleNamespace(main=fake))
    monkeypatch.setitem(bench_main.MEASUREMENTS, "fake", "fake_measurement")
    assert bench_main.main(["fake"]) == 0
    assert seen == ["0"]
    treemill_.make(1, rival("treemill").variant)
    assert os.environ["TREEMILL_CACHE"] == "0"
    treemill_.make(1, rival("treemill-remembering").variant)
    assert "TREEMILL_CACHE" not in os.environ


@pytest.mark.slow
def test_cache_quick_run(tmp_path):
    command = [sys.executable, "-m", "bench", "cache", "--quick", "--rounds", "1"]
    folders = ["--data", str(tmp_path / "data"), "--output", str(tmp_path / "results")]
    some = ["--tasks", "adl1", "--codecs", "zstd"]
    done = subprocess.run(
        [*command, *some, *folders], cwd=REPOSITORY, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    (written,) = (tmp_path / "results").glob("*.json")
    rows = {row["what"]: row["median"] for row in json.loads(written.read_text())["rows"]}
    assert "adl1, zstd: third run / nothing remembered" in rows
    assert set(rows) > {"adl1, zstd: held"}


@pytest.mark.slow
def test_variations_quick_run(tmp_path):
    command = [sys.executable, "-m", "bench", "variations", "--quick", "--rounds", "1"]
    folders = ["--data", str(tmp_path / "data"), "--output", str(tmp_path / "results")]
    command += ["--events", "10000", *folders]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (written,) = (tmp_path / "results").glob("*.json")
    rows = json.loads(written.read_text())["rows"]
    assert sum(row["what"].startswith("a variation") for row in rows) == 3


@pytest.mark.slow
def test_remembered_quick_run(tmp_path):
    command = [sys.executable, "-m", "bench", "remembered", "--quick"]
    folders = ["--data", str(tmp_path / "data"), "--output", str(tmp_path / "results")]
    done = subprocess.run([*command, *folders], cwd=REPOSITORY, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (written,) = (tmp_path / "results").glob("*.json")
    rows = {row["what"] for row in json.loads(written.read_text())["rows"]}
    assert {"unchanged", "one file more", "one histogram more, beside it alone"} <= rows


@pytest.mark.slow
def test_bookings_quick_run(tmp_path):
    command = [sys.executable, "-m", "bench", "bookings", "--quick", "--rounds", "1"]
    folders = ["--data", str(tmp_path / "data"), "--output", str(tmp_path / "results")]
    done = subprocess.run([*command, *folders], cwd=REPOSITORY, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (written,) = (tmp_path / "results").glob("*.json")
    rows = json.loads(written.read_text())["rows"]
    assert sum("per entry" in row["what"] for row in rows) == 1
    filters = sum("1 % pass" in row["what"] for row in rows)
    assert written.with_suffix(".md").read_text().count("| 1 % pass") == filters > 0


def test_what_monitoring_adds_to_a_packet(tmp_path):
    from bench import data, monitoring

    path = data.make("zstd", 60_000, tmp_path, cluster=monitoring.CLUSTER)
    found = {row.what: row.median for row in monitoring.counted([str(path)] * 4, times=1)}
    assert found["packets of that run"] >= 10
    assert 0 < found["added for a packet"] <= 20
