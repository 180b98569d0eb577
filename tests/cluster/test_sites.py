"""Two Dask clusters under one session."""

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import numpy as np
import pytest
import treemill as tm

from .queries import again


@pytest.fixture(scope="module")
def clusters(cluster):
    from distributed import LocalCluster

    with LocalCluster(n_workers=1, threads_per_worker=2, dashboard_address=None) as other:
        yield cluster, other


def bookings(events):
    good = events.filter("nMuon >= 2")
    return {"met": good.hist("MET_pt", bins=(50, 0, 200)), "n": good.count()}


def test_two_clusters_give_what_one_machine_gives(clusters, events, files):
    here = tm.run(bookings(events))
    for reach in (None, {"0": files[:2], "1": files[2:]}):
        with tm.connect(list(clusters), reach=reach) as session:
            there = session.run(bookings(events))
            assert there["n"] == here["n"] > 0
            assert np.array_equal(there["met"].values(), here["met"].values())
            assert session.report.entries == events.num_entries
            assert not session.report.missing


def test_selectors_on_a_cluster_and_on_threads(clusters, events):
    with tm.connect({"near": tm.connect(workers=1), "far": clusters[0]}) as session:
        out = session.run(lambda chunk: {"n": len(chunk)}, events)
    assert out["n"] == events.num_entries


@pytest.mark.slow
@again
def test_a_site_whose_scheduler_is_killed(clusters, events, files, tmp_path, turn):
    from distributed import Client

    where = tmp_path / "scheduler.json"
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--port", "0"]
    command += ["--no-dashboard", "--scheduler-file", str(where)]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as scheduler:
        try:
            while not where.exists() or not where.read_text().endswith("}"):
                assert scheduler.poll() is None
                time.sleep(0.05)
            flag = tmp_path / "reached"

            def slow(chunk):
                if os.environ.get("SITE") == "doomed":
                    flag.touch()
                    time.sleep(3600)
                return {"n": len(chunk)}

            with _worker(where, tmp_path), Client(scheduler_file=str(where)) as client:
                client.wait_for_workers(1, timeout=60)
                reach = {"doomed": files[0], "well": files[1:]}
                with tm.connect({"doomed": client, "well": clusters[1]}, reach=reach) as session:
                    query = session.submit(slow, events)
                    while not flag.exists():
                        time.sleep(0.05)
                    scheduler.send_signal(signal.SIGKILL)
                    with pytest.raises(tm.WorkerError):
                        query.result(timeout=60)
                    report = query.report
        finally:
            scheduler.kill()
    assert report.entries == events.num_entries - 20_000
    assert {gap.file for gap in report.missing} == {files[0]}


@contextmanager
def _worker(where, folder):
    command = [sys.executable, "-m", "distributed.cli.dask_worker", "--nthreads", "1"]
    command += ["--no-nanny", "--no-dashboard", "--scheduler-file", str(where)]
    command += ["--local-directory", str(folder), "--death-timeout", "5"]
    env = {**os.environ, "SITE": "doomed"}
    with subprocess.Popen(command, env=env, stderr=subprocess.DEVNULL) as made:
        try:
            yield made
        finally:
            made.kill()
