"""A result that is merged on many hosts: it is joined there before the client fetches it."""

import os
import signal

import pytest
import treemill as tm
from treemill.backends.dask.dask_pass import ROOTS
from treemill.scheduling import Committed, HandedOn

from tests.waiting import until

from .queries import again, check, hurried, slow
from .test_faults import processes, pytestmark  # noqa: F401
from .test_retiring import held

HOSTS = 6


@pytest.fixture
def connected(processes):  # noqa: F811
    """A worker on each of several addresses of this machine, which count as hosts."""
    for number in range(HOSTS):
        processes.add(1, 1, "--no-nanny", "--host", f"127.0.0.{number + 2}")
    with tm.connect(processes.address, silence=20, trace=100_000) as session:
        session._pool._client.wait_for_workers(HOSTS, timeout=120)
        yield session


def handed_on(query):
    return sum(isinstance(each.event, HandedOn) for each in query.report.trace.records)


def together(folder, workers):
    """Says which entries it saw. No worker ends its first packet before so many have begun theirs.

    Each of them then has something to merge.
    """
    folder = str(folder)

    def spans(chunk):
        import os
        import time

        open(os.path.join(folder, f"at-work-{os.getpid()}"), "w").close()
        while len([name for name in os.listdir(folder) if name.startswith("at-work-")]) < workers:
            time.sleep(0.01)
        data = chunk.metadata
        span = (data["filename"], data["entrystart"], data["entrystop"])
        return {"n": len(chunk), "spans": [span]}

    return spans


@pytest.mark.slow
@again
def test_partials_of_many_hosts_are_joined_there(connected, events, tmp_path, turn):
    query = connected.submit(together(tmp_path, workers=4), events)
    check(events, query.result(60))
    # On a busy machine some of the four may be so late that others have done their packets, too.
    records = query.report.trace.records
    holding = {each.event.merger for each in records if isinstance(each.event, Committed)}
    assert handed_on(query) > 0 or len(holding) <= ROOTS


@pytest.mark.slow
@again
def test_one_of_them_is_killed(connected, events, tmp_path, turn):
    client = connected._pool._client
    folder = tmp_path / "seen"
    folder.mkdir()
    query = connected.submit(slow(folder, 1e-3), events)
    until(lambda: query.done or len(held(client)) > 3, "commits on several hosts")
    pids = client.run(os.getpid)
    os.kill(pids[held(client)[0]], signal.SIGKILL)
    check(events, hurried(query, tmp_path))
    assert handed_on(query) > 0
