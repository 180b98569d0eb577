"""`python -m tests.faults.many_sessions MODE SESSIONS FILE...`: so many sessions in a row, in a
process in which nothing else was done. Prints as JSON what the process used before and after them.
"""

import ctypes
import gc
import json
import os
import re
import sys
import threading
from pathlib import Path

import treemill as tm

from .conftest import children

_THP_DISABLE = 41
"""`PR_SET_THP_DISABLE` of prctl(2): pages of 2 MB that come and go would hide a leak."""


class Nothing(tm.Selector):
    def process(self, cycles):
        return {"n": len(cycles)}


def used():
    """What a process may leak."""
    gc.collect()
    memory = re.search(r"RssAnon:\s+(\d+)", Path("/proc/self/status").read_text())
    return {
        "files": len(list(Path("/proc/self/fd").iterdir())),
        "processes": children(os.getpid()),
        "threads": threading.active_count(),
        "kB": int(memory[1]),
    }


def one(events, mode):
    with tm.connect(workers=2, mode=mode) as session:
        assert session.run(events.count(), entries=10) == 10
        if mode == "threads":
            assert session.run(Nothing(), cycles=10) == {"n": 10}


def main(mode, sessions, *paths):
    ctypes.CDLL(None).prctl(_THP_DISABLE, 1, 0, 0, 0)
    events = tm.dataset(list(paths), "Events")
    # The first ones load modules, and fill caches and the allocator's pools.
    for _ in range(int(sessions) // 10):
        one(events, mode)
    before = used()
    for _ in range(int(sessions)):
        one(events, mode)
    print(json.dumps([before, used()]))


if __name__ == "__main__":
    main(*sys.argv[1:])
