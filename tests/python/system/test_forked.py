"""Processes that were forked from one that has used treemill."""

import os
import subprocess
import sys

import pytest

PROGRAM = """
import os, sys
import treemill as tm

events = tm.dataset(sys.argv[1], "Events")
assert tm.run(events.count()) == 5000
own = tm.connect(workers=1)
own.run(events.count())
child = os.fork()
if child == 0:
    try:
        own.run(events.filter("MET_pt > 0").count())
    except tm.WorkerError as error:
        print(error, flush=True)
    print(tm.run(events.count()), events.hist("MET_pt", bins=(2, 0, 9)).value.sum(flow=True))
    sys.stdout.flush()
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
print(tm.run(events.count()), own.run(events.count()))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_the_child_has_a_session_of_its_own(paths):
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM, paths[0]],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    said, child, parent = ran.stdout.splitlines()
    assert "was made before this process was forked" in said
    assert "make another one here by treemill.connect()" in said
    assert child == "5000 5000.0"
    assert parent == "5000 5000"
