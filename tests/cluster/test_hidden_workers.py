"""Workers that the client cannot reach, as behind a gateway: results come through the scheduler."""

import json
import os
import subprocess
import sys
import textwrap

import pytest

from tools.link.link import Link
from tools.link.link import missing as link_missing

from .processes import Processes


def test_results_that_come_through_the_scheduler_are_the_same(session, events):
    good = events.filter("nMuon >= 2")
    direct = session.run(good.hist("MET_pt", bins=20), good.count())
    scheduler_client = session._pool.scheduler_client
    scheduler_client._reaches_workers = False
    assert session.run(good.hist("MET_pt", bins=20), good.count()) == direct
    scheduler_client._reaches_workers = True
    assert session.run(events.count()) == events.num_entries
    assert scheduler_client._reaches_workers


CLIENT = """
import json, sys
import treemill as tm

def work(chunk):
    import time
    time.sleep(len(chunk) * 5e-5)
    return {"n": len(chunk)}

events = tm.dataset(sys.argv[2:], tree="Events")
seen = []
with tm.connect(sys.argv[1]) as session:
    output = session.run(work, events, feedback=lambda output: seen.append(output["n"]))
    reaches = session._pool.scheduler_client._reaches_workers
    print(json.dumps([output["n"], reaches, session.report.complete]))
"""


@pytest.mark.slow
def test_a_client_that_only_reaches_the_scheduler(events, tmp_path):
    if reason := link_missing():
        pytest.skip(reason)
    with Link(["scheduler", "client", "w1", "w2"], here="scheduler") as link:
        client = link.hosts["client"]
        with Processes(tmp_path, host=link.hosts["scheduler"].address) as processes:
            for name in ("w1", "w2"):
                host = link.hosts[name]
                # What the client sends arrives, and no answer comes back.
                route = ["ip", "route", "add", "blackhole", client.address]
                subprocess.run(host.command(route), check=True)
                processes.add(1, 1, "--no-nanny", enter=host.enter)
            words = [sys.executable, "-c", textwrap.dedent(CLIENT), processes.address]
            done = subprocess.run(
                client.command([*words, *events.files]),
                capture_output=True,
                text=True,
                timeout=100,
                check=False,
                env=os.environ,
            )
            assert done.returncode == 0, done.stderr
            assert json.loads(done.stdout) == [events.num_entries, False, True]
