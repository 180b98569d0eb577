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
