"""The examples of docs/clusters.md: those that can run here do, on real schedulers and workers."""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
import treemill as tm

EXAMPLES = Path(__file__).parents[2] / "examples" / "clusters"
DOCS = Path(__file__).parents[2] / "docs" / "clusters.md"


def run(name, *arguments):
    return subprocess.run(
        [sys.executable, str(EXAMPLES / name), *arguments],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def expected(files):
    events = tm.dataset(files, tree="Events")
    count = tm.run(events.filter("nMuon >= 2").count())
    return f"{count} of {events.num_entries} events pass, mean "


def test_a_local_cluster(files):
    done = run("local.py", *files)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(expected(files))


@pytest.mark.slow
def test_by_hand(files, tmp_path):
    """With the commands of the docs."""
    (scheduler,) = re.findall(r"^(dask scheduler)\b", DOCS.read_text(), re.MULTILINE)
    (worker,) = re.findall(r"^(dask worker) tcp://HOST:8786 (.*?)  +#", DOCS.read_text(), re.M)
    dask = [sys.executable, "-m", "dask"]
    file = tmp_path / "scheduler.json"
    scheduler = [*scheduler.split()[1:], "--host", "127.0.0.1", "--port", "0", "--no-dashboard"]
    options = worker[1].replace("--nthreads 8", "--nthreads 2").split()
    environment = os.environ | {"DASK_DISTRIBUTED__WORKER__DAEMON": "True"}
    processes = []

    def start(words):
        processes.append(subprocess.Popen([*dask, *words], cwd=tmp_path, env=environment))

    try:
        start([*scheduler, "--scheduler-file", str(file)])
        deadline = time.monotonic() + 60
        while not file.exists():
            assert time.monotonic() < deadline
            time.sleep(0.05)
        from distributed import Client

        with Client(scheduler_file=str(file), timeout=60, set_as_default=False) as client:
            address = client.scheduler.address
            start(["worker", address, *options, "--no-dashboard"])
            client.wait_for_workers(1, timeout=60)
            done = run("by_hand.py", address, *files)
    finally:
        for process in reversed(processes):
            process.terminate()
        for process in processes:
            process.wait(60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(expected(files))


@pytest.mark.parametrize(
    ("name", "first", "wanted"),
    [
        ("slurm", "'short', ", ["#SBATCH -p short", "--cpus-per-task=4", "-t 02:00:00"]),
        ("htcondor", "", ["+MaxRuntime = 7200", "RequestDisk", "RequestCpus"]),
    ],
)
@pytest.mark.slow
def test_what_is_submitted(name, first, wanted):
    """The script of a job, which needs no batch system to be written."""
    pytest.importorskip("dask_jobqueue", reason="needs dask-jobqueue: pip install dask-jobqueue")
    options = "scheduler_options={'port': 0, 'dashboard_address': None}"
    code = (
        f"import sys; sys.path.insert(0, {str(EXAMPLES)!r}); import {name}\n"
        f"with {name}.cluster({first}{options}) as made: print(made.job_script())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    for words in [*wanted, "--nthreads 4", "distributed"]:
        assert words in done.stdout, done.stdout


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_examples_are_python_and_in_the_docs(path):
    compile(path.read_text(), str(path), "exec")
    assert path.stem == "analysis" or f"examples/clusters/{path.name}" in DOCS.read_text()
