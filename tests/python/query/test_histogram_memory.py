"""What large histograms and many expressions take of memory, as docs/bookings.md tells it. Slow: a
process of its own for each measurement."""

import subprocess
import sys

import pytest
from treemill.facility.generate import Recipe, write_dataset

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's"),
]

PROGRAM = """
import sys
import treemill as tm

def peak():
    (line,) = [line for line in open("/proc/self/status") if line.startswith("VmHWM")]
    return int(line.split()[1]) * 1024

events = tm.dataset(sys.argv[1] + "/*.root", tree="Events")
with tm.connect(workers=int(sys.argv[2])) as session:
    session.run(events.hist("MET_pt", bins=(10, 0, 100), weight="MET_phi"))
    before = peak()
    {made}
    print(peak() - before)
"""
LARGE = """
    bins = [(4000, 0, 1), (5000, 0, 1)]
    found = session.run(events.hist("random(seed=1)", "random(seed=2)", bins=bins))
    print(found.view(flow=True).nbytes)
"""
"""What it fills is in all pages of its memory."""
MANY = """
    session.run([events.hist(f"MET_pt * 1.{i:04}", bins=(10, 0, 100)) for i in range(1500)])
"""
SAME = """
    session.run([events.hist("MET_pt", bins=(10, 0, 100 + i)) for i in range(1500)])
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("memory")
    list(write_dataset(folder, Recipe(files=2, events_per_file=100_000)))
    return folder


def measured(folder, workers, made):
    code = PROGRAM.replace("{made}", made.strip())
    words = [sys.executable, "-c", code, str(folder), str(workers)]
    ran = subprocess.run(words, capture_output=True, text=True, check=True)
    return [int(line) for line in ran.stdout.split()]


@pytest.mark.parametrize("workers", [1, 4])
def test_a_large_histogram_is_there_once_whoever_fills_it(folder, workers):
    size, peak = measured(folder, workers, LARGE)
    assert size > 150e6
    assert 0.9 * size < peak < 1.5 * size


def test_values_of_expressions_are_kept_for_a_batch(folder):
    (different,) = measured(folder, 1, MANY)
    assert different < 250e6
    (same,) = measured(folder, 1, SAME)
    assert same < 20e6
