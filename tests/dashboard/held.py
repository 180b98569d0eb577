"""A selector whose chunks, but for the first ones, wait until the test lets them go."""

import threading
from contextlib import contextmanager

import hist
import numpy as np

WAIT = 60
"""Seconds after which a gate opens by itself, so that no test hangs."""


class Gate:
    """Lets `free` chunks pass, and the others after `open`."""

    def __init__(self, free):
        self._free = free
        self._done = 0
        self._changed = threading.Condition()
        self._is_open = False

    def open(self):
        with self._changed:
            self._is_open = True
            self._changed.notify_all()

    def let(self, number):
        """Lets so many more chunks pass."""
        with self._changed:
            self._free += number
            self._changed.notify_all()

    def done(self, number):
        """Waits until so many chunks are done."""
        with self._changed:
            assert self._changed.wait_for(lambda: self._done >= number, WAIT)

    def enter(self):
        with self._changed:
            self._changed.wait_for(lambda: self._is_open or self._free > 0, WAIT)
            self._free -= 1

    def leave(self):
        with self._changed:
            self._done += 1
            self._changed.notify_all()


@contextmanager
def held(free=1, title="held", name="met"):
    """A selector for a session of threads with this title, and the gate before its chunks. What it
    fills is a histogram of this name."""
    gate = Gate(free)

    def process(chunk):
        gate.enter()
        filled = hist.Hist.new.Reg(20, 0, 200, label="MET").Double()
        filled.fill(np.asarray(chunk.MET_pt))
        gate.leave()
        return {name: filled, "x": {"y": filled.copy()}}

    process.__name__ = title
    try:
        yield process, gate
    finally:
        gate.open()
