"""The core lets Python's other threads run while it works."""

import sys
import threading

import numpy as np
import pytest
import uproot
from treemill import _core

TRIES = 20_000
"""Calls within which a waiting thread must get its turn; it takes a few."""


@pytest.fixture
def no_switching():
    """The interpreter takes a thread's turn away only if the thread gives it up."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    yield
    sys.setswitchinterval(interval)


@pytest.mark.parametrize("kind", ["tree", "rntuple"])
def test_listing_columns_lets_other_threads_run(kind, tmp_path, no_switching):
    with uproot.recreate(tmp_path / "t.root") as file:
        getattr(file, f"mk{kind}")("t", {"x": np.arange(10), "y": np.ones(10)})
    tree = _core.File(str(tmp_path / "t.root")).tree("t")
    gate, ran = threading.Lock(), []
    gate.acquire()

    def wait():
        with gate:
            ran.append(True)

    thread = threading.Thread(target=wait)
    thread.start()
    gate.release()
    for _ in range(TRIES):
        if ran:
            break
        tree.branches()
    assert ran
    thread.join()


LOADED_ON_A_THREAD = """
import sys, threading

def count():
    import treemill as tm
    events = tm.dataset(sys.argv[1:], tree="Events")
    found.append(tm.run(events.count()))

found = []
for _ in range(3):  # the first one loads the core
    thread = threading.Thread(target=count)
    thread.start()
    thread.join()
assert found[0] > 0 and found == found[:1] * 3, found
"""


def test_the_thread_that_loads_the_core_may_end(paths):
    import subprocess
    import sys

    words = [sys.executable, "-X", "faulthandler", "-c", LOADED_ON_A_THREAD, *paths]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
