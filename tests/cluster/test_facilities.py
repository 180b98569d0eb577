"""What facilities need of a session on a cluster: TLS, scaling down, quiet logs, live results."""

import os
import shutil
import subprocess
import sys

import numpy as np
import pytest
import treemill as tm

from tests.raising import raises
from tests.waiting import until

from .processes import Processes


@pytest.mark.parametrize("watched", ["--no-nanny", pytest.param("--nanny", marks=pytest.mark.slow)])
def test_quiet_logs(tmp_path, events, watched, caplog):
    caplog.set_level("WARNING")
    with Processes(tmp_path) as processes:
        processes.add(2, 1, watched)
        with tm.connect(processes.address) as session:
            session._pool._client.wait_for_workers(2, timeout=60)
            for _ in range(3):
                session.run(events.count(), events.hist("MET_pt", bins=20))
            session.run(lambda chunk: {"n": len(chunk)}, events)
            looks = []
            session.run(lambda chunk: {"n": len(chunk)}, events, feedback=looks.append)
        lines = processes.text().splitlines()
        bad = [
            line for line in lines if "WARNING" in line or "ERROR" in line or "Traceback" in line
        ]
        assert not bad, bad
        assert not caplog.records, "of this process's client"


def test_feedback_and_snapshot(session, events):
    seen = []

    def slow(chunk):
        import time

        time.sleep(len(chunk) * 1e-4)
        return {"n": len(chunk)}

    query = session.submit(slow, events)
    until(lambda: seen.append(query.snapshot()) or seen[-1] or query.done, "a first result")
    part = next(found for found in seen if found)
    assert 0 < part["n"] <= events.num_entries
    assert query.result(60)["n"] == events.num_entries
    assert query.snapshot()["n"] == events.num_entries


def test_stop_gives_what_is_done(session, events):
    def slow(chunk):
        import time

        time.sleep(len(chunk) * 1e-3)
        return {"n": len(chunk)}

    query = session.submit(slow, events)
    until(lambda: query.progress.entries > 0, "something is done")
    query.stop()
    found = query.result(60)
    assert 0 < found["n"] < events.num_entries
    assert query.report.entries == found["n"]
    assert sum(each.stop - each.start for each in query.report.missing if each.stop) > 0


def test_workers_with_work_are_not_chosen_for_scaling_down(session, events, tmp_path):
    gate, at_work = str(tmp_path / "gate"), str(tmp_path / "at-work")

    def waits(chunk):
        import os
        import time

        open(f"{at_work}-{os.getpid()}", "w").close()
        while not os.path.exists(gate):
            time.sleep(0.01)
        return {"n": len(chunk)}

    def choose(dask_scheduler):
        return [str(each) for each in dask_scheduler.workers_to_close(n=2)]

    client = session._pool._client
    query = session.submit(waits, events)
    until(lambda: len(list(tmp_path.glob("at-work-*"))) == 2, "both are at work")
    assert client.run_on_scheduler(choose) == []
    (tmp_path / "gate").touch()
    assert query.result(60)["n"] == events.num_entries
    until(lambda: len(client.run_on_scheduler(choose)) == 2, "both may go")


@pytest.mark.slow
def test_an_adaptive_cluster_grows_for_a_query_and_shrinks_after_it(events):
    from distributed import LocalCluster

    def slow(chunk):
        import time

        time.sleep(len(chunk) * 2e-4)
        return {"n": len(chunk)}

    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0") as cluster:
        cluster.adapt(minimum=1, maximum=2, interval="100ms", target_duration="100ms")
        with tm.connect(cluster) as session:
            query = session.submit(slow, events)
            until(lambda: len(cluster.workers) == 2, "a second worker is started")
            assert query.result(120)["n"] == events.num_entries
            assert query.report.complete
            until(lambda: len(cluster.workers) == 1, "the second one goes")
            assert session.run(events.count()) == events.num_entries


def certificate(folder):
    """A key and a certificate that signs itself."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("needs openssl")
    private, public = str(folder / "key.pem"), str(folder / "cert.pem")
    words = (
        "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 -subj /CN=treemill"
    )
    made = [openssl, *words.split(), "-keyout", private, "-out", public]
    subprocess.run(made, check=True, capture_output=True)
    return private, public


def test_tls(tmp_path, events):
    from distributed import Security

    private, public = certificate(tmp_path)
    words = ("--tls-ca-file", public, "--tls-cert", public, "--tls-key", private)
    roles = ("client", "scheduler", "worker")
    keys = {f"tls_{role}_key": private for role in roles}
    keys |= {f"tls_{role}_cert": public for role in roles}
    security = Security(require_encryption=True, tls_ca_file=public, **keys)
    with Processes(tmp_path, ("--protocol", "tls", *words)) as processes:
        assert processes.address.startswith("tls://")
        processes.add(2)
        with tm.connect(processes.address, security=security) as session:
            session._pool._client.wait_for_workers(2, timeout=60)
            histogram = session.run(events.hist("MET_pt", bins=(20, 0, 100)))
            assert np.array_equal(
                histogram.values(), tm.run(events.hist("MET_pt", bins=(20, 0, 100))).values()
            )
        with raises(tm.QueryError, about="security"):
            tm.connect(processes.address)
        configured = {"CA_FILE": public, "CLIENT__CERT": public, "CLIENT__KEY": private}
        environment = {f"DASK_DISTRIBUTED__COMM__TLS__{key}": configured[key] for key in configured}
        done = subprocess.run(
            [sys.executable, "-m", "treemill", "cluster", "check", processes.address],
            env=os.environ | environment,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert "2 workers" in done.stdout, done.stdout + done.stderr
