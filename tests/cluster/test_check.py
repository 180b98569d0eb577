"""`treemill cluster check` with a real scheduler and two real workers, which differ."""

import os
import signal
import socket
import subprocess
import sys
import time

import pytest
from treemill import QueryError, WorkerError
from treemill.facility.cluster_checks import check_results
from treemill.facility.cluster_facts import gathered
from treemill.facility.generate import write

from tests.raising import raises

from .processes import Processes


def started(command, home, **environment):
    env = os.environ | {"HOME": str(home)} | environment
    return subprocess.Popen(
        [sys.executable, "-m", "distributed.cli." + command[0], *command[1:]],
        env=env,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


@pytest.fixture(scope="module")
def homes(tmp_path_factory):
    """Three home directories. One file is in two of them, another is in all, of two sizes."""
    made = [tmp_path_factory.mktemp(name) for name in ("client", "first", "second")]
    for home in made[1:]:
        write(home / "sizes.root", events=100 if home is made[1] else 200)
        write(home / "same.root", events=100)
        (home / "program.py").write_text("import treemill\n")
    write(made[1] / "missing.root", events=100)
    return made


@pytest.fixture(scope="module")
def address(homes, tmp_path_factory):
    """The scheduler's address; its second worker is another user's, so to say."""
    folder = tmp_path_factory.mktemp("dask")
    file = folder / "scheduler.json"
    common = ["--no-dashboard", "--no-nanny", "--nthreads", "1", "--memory-limit", "1GiB"]
    scheduler = ["dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard"]
    processes = [started([*scheduler, "--scheduler-file", str(file)], homes[0])]
    try:
        deadline = time.monotonic() + 60
        while not file.exists():
            assert time.monotonic() < deadline
            assert processes[0].poll() is None
            time.sleep(0.05)
        for number, home in enumerate(homes[1:]):
            worker = ["dask_worker", "--scheduler-file", str(file), *common]
            worker += ["--name", f"w{number}", "--local-directory", str(home)]
            processes.append(started(worker, home, XRD_STREAMTIMEOUT=str(60 + number)))
        from distributed import Client

        with Client(scheduler_file=str(file), timeout=60, set_as_default=False) as client:
            client.wait_for_workers(2, timeout=60)
            yield client.scheduler.address
    finally:
        for process in reversed(processes):
            process.kill()  # what ends in order may wait for one another
        for process in processes:
            process.wait(30)


def run(address, home, *arguments):
    command = [sys.executable, "-m", "treemill", "cluster", "check", address, *arguments]
    env = os.environ | {"HOME": str(home)}
    return subprocess.run(
        command, env=env, capture_output=True, text=True, timeout=300, check=False
    )


def test_what_differs_is_told(address, homes):
    done = run(address, homes[0], "~/missing.root", "~/sizes.root", "~/same.root")
    text = done.stdout
    assert done.returncode == 1, done.stderr
    assert "~/missing.root: No such file or directory" in text
    assert "~/sizes.root differs: " in text
    assert f"{(homes[1] / 'sizes.root').stat().st_size:,} bytes on tcp://" in text
    assert "~/same.root" not in text
    assert f"{homes[1]} on tcp://" in text
    assert "XRD_STREAMTIMEOUT: 6" in text
    assert "give XRD_STREAMTIMEOUT the same value where workers start" in text
    wrong = {line.split()[1] for line in text.splitlines() if line.startswith("WRONG")}
    assert wrong == {"files", "environment"}, text
    assert "4 to be put right" in text


def test_a_cluster_that_agrees_exits_with_zero(address, homes):
    done = run(address, homes[0], "~/same.root", "~/same.root:Events", "--ignore", "environment")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 workers with 2 threads on 1 host" in done.stdout
    assert "2 files, the same for all" in done.stdout
    assert "all workers agree" in done.stdout


def test_files_are_opened_and_packages_must_be_somewhere(address, homes):
    files = ("~/same.root:Nope", "~/program.py")
    done = run(address, homes[0], *files, "--package", "nosuchpkg", "--ignore", "environment")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "~/same.root:Nope: the file has no tree 'Nope'; it has Events" in done.stdout
    assert "~/program.py: this is not a ROOT file" in done.stdout
    assert "nosuchpkg is installed nowhere" in done.stdout
    assert "3 to be put right" in done.stdout


def test_clocks_and_facts_are_each_worker_s_own(address, homes):
    cluster = gathered(address)
    assert {facts["environment"]["HOME"] for facts in cluster.workers.values()} == set(
        map(str, homes[1:])
    )
    assert {facts["scratch"]["path"] for facts in cluster.workers.values()} != set()
    assert set(cluster.limits.values()) == {2**30}
    assert len({facts["pid"] for facts in cluster.workers.values()}) == 2
    assert not [each for each in check_results(cluster) if each.check == "clocks" and not each.well]


def test_a_scheduler_that_does_not_answer_is_an_error():
    with raises(WorkerError, said="no scheduler answers at tcp://127.0.0.1:9"):
        gathered("tcp://127.0.0.1:9", timeout=1)


def test_a_scheduler_whose_process_is_stopped_is_an_error_of_each_command():
    """The system accepts connections for it, and nobody reads what is sent."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        words = [sys.executable, "-m", "treemill", "cluster", "queries", "--timeout", "1", address]
        done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith(f"treemill: no scheduler answers at {address} within 1 s")
    assert "Traceback" not in done.stderr


def test_a_worker_that_is_silent_is_named_and_the_others_are_checked(tmp_path):
    from distributed import Client

    with Processes(tmp_path) as processes:
        processes.add(2)
        with Client(processes.address, timeout=60, set_as_default=False) as client:
            client.wait_for_workers(2, timeout=60)
            pids = client.run(os.getpid)
        gathered(processes.address, timeout=60)  # workers have imported what it takes
        frozen, *others = pids
        os.kill(pids[frozen], signal.SIGSTOP)
        cluster = gathered(processes.address, timeout=3)
    assert cluster.untold == {frozen: "no answer within 3 s"}
    assert list(cluster.workers) == list(cluster.clocks) == others
    silent = next(each for each in check_results(cluster) if not each.well)
    assert (silent.check, silent.where) == ("workers", (frozen,))
    assert "--timeout" in silent.todo


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("localhost", "'localhost' is no address of a scheduler"),
        ("tls://127.0.0.1:9", "uses TLS, but Dask has no certificates"),
    ],
)
def test_an_address_that_cannot_be_used_is_told_in_one_line(address, words, homes):
    done = run(address, homes[0])
    assert done.returncode == 1
    assert words in done.stderr
    assert len(done.stderr.splitlines()) == 1, "nothing is left behind that complains as it ends"
    with pytest.raises(QueryError, match=words):
        gathered(address, timeout=1)
