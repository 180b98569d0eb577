"""The measurement of clusters as a program: it runs, the contestants' histograms are equal, and
what watches them sees what they do. Tests no timings."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from bench.cluster.watching import Watch, slowed

REPOSITORY = Path(__file__).parents[2]


def quick_run(folder, *options):
    command = [sys.executable, "-W", "ignore", "-m", "bench", "cluster", "--quick", "--rounds", "1"]
    folders = ["--data", str(folder / "data"), "--output", str(folder / "results")]
    done = subprocess.run(
        [*command, *folders, *options], cwd=REPOSITORY, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    (written,) = (folder / "results").glob("*-cluster-quick.json")
    return {row["what"]: row["median"] for row in json.loads(written.read_text())["rows"]}


@pytest.mark.slow
def test_quick_run(tmp_path):
    pytest.importorskip("coffea")
    pytest.importorskip("distributed")
    options = ["--events", "3000", "--parts", "uneven", "connecting", "latency"]
    rows = quick_run(tmp_path, *options, "--contestants", "treemill", "processor", "coffea")
    assert rows["uneven: treemill, a query"] > 0
    assert rows["uneven: treemill, a query, first result"] > 0
    assert rows["uneven: coffea's processor, DaskExecutor against treemill, a query"] > 0
    assert rows["from connect to the first packet"] > 0
    waits = [what for what in rows if "waiting for the next one, 99th percentile" in what]
    assert waits
    assert all(rows[what] > 0 for what in waits)


@pytest.mark.slow
def test_all_contestants_and_parts(tmp_path):
    pytest.importorskip("ROOT")
    pytest.importorskip("coffea")
    rows = quick_run(tmp_path, "--events", "3000")
    for load in ("even", "uneven", "slowed"):
        assert rows[f"{load}: distributed RDataFrame against treemill, a query"] > 0
    for how in ("Dask's profilers off", "Dask as it is"):
        assert rows[f"packets per second, 4 worker processes, {how}"] > 0


COMPUTES = "import sys\nprint('on', flush=True)\nwhile True: pass"


def test_a_process_that_computes_is_not_idle_and_goes_on_after_it_was_slowed():
    process = subprocess.Popen([sys.executable, "-c", COMPUTES], stdout=subprocess.PIPE)
    try:
        assert process.stdout.readline() == b"on\n"
        with Watch([process.pid, os.getpid()]) as watch, slowed(process.pid):
            sum(range(10_000_000))
        assert 0 <= watch.idle <= watch.seconds
        state = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[0]
        assert state in "RS", "it is not stopped"
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.mark.slow
def test_users_who_share_a_cluster(tmp_path):
    rows = quick_run(tmp_path, "--parts", "shared")
    assert rows["a short query beside a long one of another user"] > 0
    assert rows["the same, 99th percentile"] > 0
    assert rows["throughput of users together against one alone"] > 0
