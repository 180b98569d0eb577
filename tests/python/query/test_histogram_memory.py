"""What large histograms and many expressions take of memory, as docs/bookings.md tells it. Slow: a
process of its own for each measurement."""

import subprocess
import sys

import pytest
from treemill.facility.generate import Recipe, write_dataset

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss has other units"),
]

PROGRAM = """
import resource, sys
import treemill as tm

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

events = tm.dataset(sys.argv[1] + "/*.root", tree="Events")
with tm.connect(workers=int(sys.argv[2])) as session:
    session.run(events.hist("MET_pt", bins=(10, 0, 100), weight="MET_phi"))
    before = peak()
    {made}
    print(peak() - before)
"""
LARGE = """
    found = session.run(events.hist("MET_pt", "MET_phi", bins=[(4000, 0, 200), (5000, -4, 4)]))
    print(found.view(flow=True).nbytes)
"""
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


@pytest.mark.parametrize("workers", [1, 2])
def test_a_large_histogram_is_there_four_times_and_once_for_each_worker(folder, workers):
    size, peak = measured(folder, workers, LARGE)
    assert size > 150e6
    assert peak < (4.3 + workers) * size


def test_values_of_expressions_are_kept_for_a_batch(folder):
    (different,) = measured(folder, 1, MANY)
    assert different < 250e6
    (same,) = measured(folder, 1, SAME)
    assert same < 20e6
