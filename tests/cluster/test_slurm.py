"""A real Slurm: the example of docs/clusters.md. Jobs are workers, and one of them is cancelled."""

import os
import sys
import threading
from pathlib import Path

import pytest
import treemill as tm

from tools.servers.process import ServerError
from tools.servers.slurm import Slurm

EXAMPLES = Path(__file__).parents[2] / "examples" / "clusters"


@pytest.fixture(scope="module")
def slurm():
    pytest.importorskip("dask_jobqueue", reason="needs dask-jobqueue: pip install dask-jobqueue")
    if reason := Slurm.missing():
        pytest.skip(reason)
    try:
        made = Slurm()
    except ServerError as error:
        pytest.skip(f"Slurm does not start here: {error}")
    with made:
        yield made


@pytest.fixture
def cluster(slurm, tmp_path, monkeypatch):
    """The example's cluster, of two small jobs."""
    for name, value in slurm.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
    monkeypatch.syspath_prepend(str(EXAMPLES))
    monkeypatch.delitem(sys.modules, "slurm", raising=False)
    import slurm as example

    options = {"cores": 1, "memory": "1GB", "walltime": "00:10:00", "log_directory": str(tmp_path)}
    scheduler = {"host": "127.0.0.1", "dashboard_address": None}
    with example.cluster(
        slurm.partition, scheduler_options=scheduler, local_directory=str(tmp_path), **options
    ) as made:
        made.scale(jobs=2)
        made.wait_for_workers(2, timeout=60)
        yield made


class Slow(tm.Selector):
    """Waits at its first chunk, until the test has done what it wants."""

    def begin_worker(self, inputs):
        self.output["n"] = 0
        self.path = Path(inputs["path"])

    def process(self, chunk):
        (self.path / f"began-{os.environ['SLURM_JOB_ID']}").touch()
        while not (self.path / "go").exists():
            threading.Event().wait(0.02)
        self.output["n"] += len(chunk)


@pytest.mark.slow
def test_jobs_are_workers_and_one_that_is_cancelled_is_no_error(slurm, cluster, events, tmp_path):
    with tm.connect(cluster) as session:
        count, met = session.run(events.count(), events.hist("MET_pt", bins=(10, 0, 100)))
        assert count == met.sum(flow=True) == events.num_entries
        jobs = slurm.said("squeue", "-h", "-t", "RUNNING", "-o", "%A").split()
        assert len(jobs) == 2
        query = session.submit(Slow(), events, inputs={"path": str(tmp_path)})
        began = tmp_path / f"began-{jobs[0]}"
        while not (began.exists() or query.done):
            threading.Event().wait(0.05)
        slurm.said("scancel", "--full", "--signal=KILL", jobs[0])
        (tmp_path / "go").touch()
        assert query.result(120) == {"n": events.num_entries}
        assert query.report.complete
        while jobs[0] in slurm.said("squeue", "-h", "-t", "RUNNING", "-o", "%A").split():
            threading.Event().wait(0.05)
