"""The measurement of remote reading: contestants read the same, and the program runs. Tests no
timings."""

import json
import os
import subprocess
import sys
import threading
from importlib.util import find_spec
from pathlib import Path

import pytest
from treemill.facility.generate import write

from bench.io import field, floor, goals, layouts
from bench.io.contestants import CONTESTANTS, EXERCISE, FILES, Task
from bench.io.field import LOCAL, Run
from tools.link.link import Wire

REPOSITORY = Path(__file__).parents[2]
without_root = pytest.mark.skipif(find_spec("ROOT") is None, reason="ROOT is not installed")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("data")


def run(contestant, task):
    words = [sys.executable, "-W", "ignore", "-m", "bench.io.contestants"]
    done = subprocess.run(
        [*words, contestant.key, task.text()],
        capture_output=True,
        text=True,
        cwd=REPOSITORY,
        timeout=120,
    )
    answer = json.loads(done.stdout)
    assert "error" not in answer, answer
    assert answer["seconds"] > 0
    return answer["total"]


def test_nobody_is_faster_than_round_trips_windows_and_rates():
    far = Wire(delay_ms=50)
    trip, window = 0.1, 8 * floor.FIRST_WINDOW
    assert floor.cold(1, far) == pytest.approx(3 * trip)
    assert floor.cold(7 * window, far) == pytest.approx(5 * trip)  # 1 + 2 + 4 windows
    assert floor.warm(1e9, far) == pytest.approx(trip)
    slow = Wire(delay_ms=50, stream_mbit=160)
    assert floor.warm(160e6, slow) == pytest.approx(trip + 1)  # 8 times 20 MB/s
    assert floor.warm(160e6, Wire(mbit=160)) == pytest.approx(8)
    near = [Wire(mbit=160), Wire(mbit=40)]
    assert floor.together(100e6, near[:1]) == pytest.approx(5, rel=1e-3)
    assert floor.together(100e6, near) == pytest.approx(4, rel=1e-3)
    sizes = [1, 1e5, 1e6, 1e7, 1e8]
    times = [[floor.cold(size, link) for size in sizes] for link in (far, slow)]
    assert all(each == sorted(each) for each in times)
    assert all(a <= b for a, b in zip(*times, strict=True))


@pytest.mark.slow
@without_root
def test_all_read_the_same_of_a_layout(folder):
    path = layouts.make("CMS 2013", 60, folder)
    branches = [f"b{i}" for i in range(layouts.BRANCHES)]
    task = Task(EXERCISE, (str(path),), tuple(branches[::3]), ("b1", "b199"), 60, 50)
    totals = [run(each, task) for each in CONTESTANTS if EXERCISE in each.tasks]
    assert len(totals) >= 4
    assert totals == pytest.approx([totals[0]] * len(totals), rel=1e-9)


@pytest.mark.slow
def test_all_read_the_same_of_many_files(folder):
    paths = [folder / f"{i}.root" for i in range(2)]
    for i, path in enumerate(paths):
        write(path, events=500, index=i, schema="opendata")
    task = Task(FILES, tuple(map(str, paths)), ("Muon_pt", "nMuon"))
    there = [each for each in CONTESTANTS if FILES in each.tasks]
    if find_spec("ROOT") is None:
        there = [each for each in there if each.key != "rdataframe"]
    totals = [run(each, task) for each in there]
    assert totals == pytest.approx([totals[0]] * len(totals), rel=1e-9)


@pytest.mark.slow
@without_root
def test_quick_run(tmp_path, folder):
    if reason := field.missing():
        pytest.skip(reason)
    command = [sys.executable, "-m", "bench", "io", "--quick", "--parts", "CMS 2013"]
    command += ["--links", "0.3 ms", "--contestants", "root-best", "treemill"]
    folders = ["--data", str(folder), "--output", str(tmp_path)]
    done = subprocess.run([*command, *folders], cwd=REPOSITORY, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (written,) = tmp_path.glob("*-quick.json")
    rows = [row["what"] for row in json.loads(written.read_text())["rows"]]
    assert "CMS 2013, here: treemill" in rows
    assert "CMS 2013, 0.3 ms: ROOT, TTreeCache set by hand" in rows
    assert "CMS 2013, 0.3 ms: xrdcp" in rows


@pytest.mark.slow
@without_root
@pytest.mark.parametrize(
    ("part", "line"),
    [
        ("again", "again, 137 ms: second pass, new process / local"),
        ("replicas", "replicas, 20 ms: lost when one of two dies"),
        (
            "columns",
            "columns, RNTuple, 137 ms: bytes read with the filter",
        ),
        ("clients", "clients, 2 ms: scattered, warm, pyxrootd / treemill"),
        ("mounts", "mounts, all columns, 4 servers: plain / planned"),
        ("readers", "readers, nfs, two, 16 processes: errors"),
    ],
)
def test_quick_run_of_a_part(part, line, tmp_path, folder):
    if reason := field.missing():
        pytest.skip(reason)
    if part == "clients" and find_spec("XRootD") is None:
        pytest.skip("the official client is not installed")
    command = [sys.executable, "-m", "bench", "io", "--quick", "--parts", part]
    folders = ["--data", str(folder), "--output", str(tmp_path)]
    done = subprocess.run([*command, *folders], cwd=REPOSITORY, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (written,) = tmp_path.glob("*-quick.json")
    assert line in [row["what"] for row in json.loads(written.read_text())["rows"]]


def test_what_happens_meanwhile_does_not_hold_up_a_contestant():
    hears, says = os.pipe()
    os.write(says, b"!")
    done = []
    with field._beside(hears, field.Meanwhile(3600, lambda: done.append(1))):
        os.close(says)
    assert not done
    hears, says = os.pipe()
    os.write(says, b"!")
    happened = threading.Event()
    with field._beside(hears, field.Meanwhile(0, happened.set)):
        assert happened.wait(60)
        os.close(says)


def test_a_run_that_was_ended_counts_as_long_as_it_was_waited_for():
    done, ended = [Run(2.0), Run(4.0)], [Run(None)]
    assert goals.row("x", ended, 60).values == (60,)
    assert goals.row("x", ended, 60).what == "x (ended after 60 s)"
    runs = {"treemill": done, "root": ended, "uproot": [Run(None, error="no")], LOCAL: done}
    (row,) = goals.ratios("modern", "137 ms", runs, 60)
    assert (row.what, row.values, row.reached) == (
        "modern, 137 ms: root / treemill",
        (30.0,),
        True,
    )
    runs["treemill"] = ended
    assert not list(goals.ratios("modern", "137 ms", runs, 60))
