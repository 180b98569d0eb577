"""Sixty-four worker processes of one thread on this machine: each entry is in the result once,
also if some processes are killed meanwhile.
"""

import os
import signal

import pytest
import treemill as tm

from tests.waiting import until

from .processes import Processes
from .queries import at_work, check, slow

pytestmark = pytest.mark.slow

PROCESSES = 64
WITHOUT_PROFILERS = {
    "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False",
    "DASK_DISTRIBUTED__ADMIN__TICK__INTERVAL": "1s",
    "DASK_DISTRIBUTED__WORKER__MEMORY__MONITOR_INTERVAL": "1s",
}


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    folder = tmp_path_factory.mktemp("many")
    with Processes(folder, settings=WITHOUT_PROFILERS) as processes:
        processes.add(PROCESSES)
        yield processes


@pytest.mark.parametrize("killed", [0, 3])
def test_sixty_four_processes(many, events, tmp_path, killed):
    with tm.connect(many.address, silence=60) as session:
        alive = sum(worker.poll() is None for worker in many.workers)
        session._pool._client.wait_for_workers(alive, timeout=300)
        query = session.submit(slow(tmp_path, 1e-2 if killed else 0.0), events)
        if killed:
            until(lambda: len(at_work(tmp_path)) > 2 * killed or query.done, "workers at work")
            assert not query.done
            for pid in sorted(at_work(tmp_path))[:killed]:
                os.kill(pid, signal.SIGKILL)
            (tmp_path / "hurry").touch()
        check(events, query.result(300))
        assert query.report.complete
        assert query.report.entries == events.num_entries
