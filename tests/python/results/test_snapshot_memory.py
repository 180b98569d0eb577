"""What entries of megabytes take of memory: batches of them, and the pieces that snapshots write,
have few entries. Slow: a process of its own for each measurement."""

import subprocess
import sys

import numpy as np
import pytest
import uproot

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's"),
]

ENTRIES, ITEMS = 600, 130_000
PROGRAM = """
import sys
import treemill as tm

def peak():
    (line,) = [line for line in open("/proc/self/status") if line.startswith("VmHWM")]
    return int(line.split()[1]) * 1024

tm.cache.limit = 0
events = tm.dataset(sys.argv[1])
with tm.connect(workers=1) as session:
    session.run(events.count())
    before = peak()
    {made}
    print(peak() - before)
"""
SUM = "session.run(events.sum('sum(wave)'))"
SNAPSHOT = "session.run(events.snapshot(sys.argv[1] + '.copy.root', '*', compression=None))"


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("memory") / "waves.root"
    rng = np.random.default_rng(1)
    with uproot.recreate(path, compression=None) as file:
        tree = file.mktree("Events", {"event": "i8", "wave": ("f8", (ITEMS,))})
        for start in range(0, ENTRIES, 20):
            events = np.arange(start, start + 20)
            tree.extend({"event": events, "wave": rng.random((20, ITEMS))})
    return path


def measured(path, made):
    words = [sys.executable, "-c", PROGRAM.replace("{made}", made), str(path)]
    ran = subprocess.run(words, capture_output=True, text=True, check=True)
    return int(ran.stdout)


def test_batches_of_large_entries_are_small(path):
    assert measured(path, SUM) < 200e6 < path.stat().st_size / 3


def test_a_snapshot_of_large_entries_is_never_in_memory_as_a_whole(path):
    assert measured(path, SNAPSHOT) < 500e6 < path.stat().st_size
    with uproot.open(f"{path}:Events") as old, uproot.open(f"{path}.copy.root:Events") as new:
        assert new["event"].array(library="np").tolist() == list(range(ENTRIES))
        for at in range(0, ENTRIES, 100):
            span = {"entry_start": at, "entry_stop": at + 3, "library": "np"}
            assert np.array_equal(new["wave"].array(**span), old["wave"].array(**span))
