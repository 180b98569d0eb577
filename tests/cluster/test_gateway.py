"""A real dask-gateway: the example of docs/clusters.md, on a cluster that it starts, with TLS and
through its proxy; and what a gateway asks of Dask's scheduler in words of its own.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import treemill as tm

from tools.servers.gateway import Gateway
from tools.servers.process import ServerError

EXAMPLES = Path(__file__).parents[2] / "examples" / "clusters"
SECONDS = 180

pytestmark = pytest.mark.slow  # installs a gateway's packages once


@pytest.fixture(scope="module")
def gateway():
    if reason := Gateway.missing():
        pytest.skip(reason)
    try:
        made = Gateway()
    except ServerError as error:
        pytest.skip(f"dask-gateway does not start here: {error}")
    with made:
        yield made


def run(gateway, *words):
    """Runs a program as its user does: the gateway's address is in the environment."""
    return subprocess.run(
        [sys.executable, *words],
        env=os.environ | gateway.environment,
        cwd=EXAMPLES,
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )


def test_the_example(gateway, files):
    done = run(gateway, "gateway.py", *files)
    assert done.returncode == 0, done.stderr
    events = tm.dataset(files, tree="Events")
    count = tm.run(events.filter("nMuon >= 2").count())
    assert done.stdout.startswith(f"{count} of {events.num_entries} events pass, mean ")


PROGRAM = """
import sys, time
import treemill as tm
from dask_gateway import Gateway

def slow(chunk):
    import os, time
    time.sleep(len(chunk) * 1e-3)
    return {"n": len(chunk), "processes": {os.getpid()}}

events = tm.dataset(sys.argv[1:], tree="Events")
with Gateway().new_cluster() as cluster:
    assert cluster.scheduler_address.startswith("gateway://"), cluster.scheduler_address
    cluster.adapt(minimum=0, maximum=2)
    with tm.connect(cluster) as session:
        found = session.run(slow, events, progress=False)
        assert session.report.complete
        workers = cluster.get_client().scheduler_info()["workers"]
        assert all(address.startswith("tls://") for address in workers), list(workers)
    print(found["n"], len(found["processes"]))
"""


def test_a_gateway_starts_workers_for_a_query_and_its_cluster_object_is_taken(gateway, files):
    done = run(gateway, "-c", PROGRAM, *files[:1])
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [str(tm.dataset(files[0], tree="Events").num_entries), "2"]
