"""What users are told while a cluster does nothing, when its scheduler is gone, and where an error
was."""

import os
import signal
import socket
import subprocess
import sys

import pytest
import treemill as tm
from treemill.backends.dask import dask_pass, scheduler_client

from .processes import Processes
from .queries import started


@pytest.fixture
def processes(tmp_path):
    with Processes(tmp_path) as made:
        yield made


def test_a_cluster_without_workers_is_named(processes, events, monkeypatch):
    monkeypatch.setattr(dask_pass, "_NO_WORKERS", 0.2)
    with tm.connect(processes.address) as session:
        query = session.submit(events.count())
        words = f"no workers at {processes.address} yet"
        with pytest.warns(RuntimeWarning, match=words) as told, pytest.raises(TimeoutError):
            query.result(2.5)
        assert [each.filename for each in told] == [__file__], "once, at the user's line"
        processes.add(1)
        assert query.result(60) == (events.num_entries,)


def test_a_frozen_scheduler_is_named(processes, events, tmp_path, monkeypatch):
    monkeypatch.setattr(dask_pass, "_SILENT", 1.0)
    monkeypatch.setattr(scheduler_client, "_SAY", 1.0)
    processes.add(1)
    with tm.connect(processes.address, silence=3.0) as session:
        query = started(session, events, tmp_path, workers=1)
        os.kill(processes.scheduler.pid, signal.SIGSTOP)
        try:
            words = f"the scheduler {processes.address} has not answered"
            with pytest.warns(RuntimeWarning, match=words), pytest.raises(TimeoutError):
                query.result(3.0)
            with pytest.warns(RuntimeWarning, match=words), pytest.raises(tm.WorkerError):
                session.submit(events.count())
        finally:
            os.kill(processes.scheduler.pid, signal.SIGCONT)


CLIENT = """
import os, signal, sys
import treemill as tm

def slow(chunk):
    import time
    time.sleep(len(chunk) * 1e-3)
    return {"n": len(chunk)}

events = tm.dataset(sys.argv[3:], tree="Events")
with tm.connect(sys.argv[1]) as session:
    query = session.submit(slow, events)
    os.kill(int(sys.argv[2]), signal.SIGKILL)
    query.result()
"""


def test_dask_prints_no_tracebacks_of_its_own(processes, events):
    processes.add(1)
    words = [processes.address, str(processes.scheduler.pid), *events.files]
    done = subprocess.run(
        [sys.executable, "-c", CLIENT, *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 1
    assert "does not answer" in done.stderr
    assert done.stderr.count("Traceback") == 1, done.stderr


def test_errors_name_the_host(session, events):
    def wrong(chunk):
        raise ValueError("no")

    with pytest.raises(tm.WorkerError) as caught:
        session.run(wrong, events)
    assert "tcp://" in caught.value.worker
    assert f"({socket.gethostname()})" in caught.value.worker
