"""Results that are remembered of runs on a cluster: they are those of a fresh run, workers compute
only what is not there, and threads take what a cluster has computed."""

import shutil
import subprocess
import sys

import pytest
import treemill as tm
from treemill.backends.remembered_partial import HERE
from treemill.data import source
from treemill.session import booking_run, known_files, results_folder

from tests.python.session.test_remember import settled
from tests.waiting import until

from .processes import Processes


@pytest.fixture(autouse=True)
def remembers(monkeypatch, tmp_path, files):
    monkeypatch.setattr(results_folder, "_given", [])
    settled(*files)
    tm.remember(tmp_path / "results")


def booked(files, *cuts):
    events = tm.dataset(files, "Events")
    good = events.filter("MET_pt > 20")
    wanted = good.count(), good.hist("MET_pt", bins=(50, 0, 200)), good.hist("Muon_pt", bins=20)
    return *wanted, *(events.filter(f"MET_pt > {cut}").count() for cut in cuts)


def equal(ones, others):
    return all(one == other for one, other in zip(ones, others, strict=True))


def fresh(files):
    return tm.run(*booked(files), remember=False)


def about(session):
    return session.report.remembered


def test_a_second_run_computes_nothing(session, files):
    first = session.run(*booked(files))
    assert equal(first, fresh(files))
    assert (about(session).found, about(session).parts) == (0, 3 * len(files))
    assert equal(session.run(*booked(files)), first)
    assert (about(session).found, about(session).parts) == (3, 0)
    assert session.report.entries_before == session.report.entries > 0
    assert equal(session.run(*booked(files, 30))[:3], first)
    assert (about(session).found, about(session).parts) == (3, len(files))


def test_threads_and_clusters_have_one_memory(session, files):
    first = session.run(*booked(files[:2]))
    assert equal(tm.run(*booked(files[:2])), first)
    assert tm.report().remembered.parts == 0
    counted = tm.run(*booked(files)[:2])
    assert tm.report().remembered.parts == 2 * (len(files) - 2)
    assert equal(counted, fresh(files)[:2])
    assert equal(session.run(*booked(files)), fresh(files))
    assert about(session).found == 2, "the range of one is another one"


def test_samples_of_a_fileset_are_apart(session, files):
    def both():
        samples = {
            "a": {"files": dict.fromkeys(files[:2], "Events")},
            "b": {"files": dict.fromkeys(files[2:], "Events")},
        }
        return tm.fileset(samples).count()

    first = session.run(both())
    assert about(session).parts == len(files)
    assert session.run(both()) == first == tm.run(both(), remember=False)
    assert about(session).parts == 0


CLIENT = """
import functools, sys
import treemill as tm
from treemill.checkpoint import Pace
from treemill.session import remembered
remembered.Pace = functools.partial(Pace, every=0.1, share=1.0)
tm.remember(sys.argv[2])

def slow(met):
    for _ in range(10_000 * len(met)):
        pass
    return met

events = tm.dataset(sys.argv[3:], "Events").define("slow", slow, columns="MET_pt")
with tm.connect(sys.argv[1]) as session:
    print(session.run(events.filter("slow > 20").count()), session.report.entries_before)
"""


def test_after_the_client_was_killed_another_goes_on(files, tmp_path):
    folder = tmp_path / "results"
    with Processes(tmp_path) as processes:
        processes.add(1, 1)
        command = [sys.executable, "-c", CLIENT, processes.address, str(folder), *files]
        with subprocess.Popen(command) as running:
            until(
                lambda: [*folder.glob("open.*.results")] or running.poll() is not None, "it is kept"
            )
            assert running.poll() is None
            running.kill()
        done = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    total = tm.dataset(files, "Events").num_entries
    assert int(done[0]) == tm.dataset(files, "Events").filter("MET_pt > 20").count().value
    assert 0 < int(done[1]) < total


def test_another_session_attaches_to_what_is_partly_remembered(cluster, session, files):
    """It knows no folder, and gets what was remembered from the scheduler."""
    session.run(*booked(files[:2])[:2])
    with tm.connect(cluster) as other:
        name = other.submit(*booked(files)[:2]).id
    tm.remember(None)
    query = session.attach(name)
    assert equal(query.result(60), fresh(files)[:2])
    assert 0 < query.report.entries_before < query.report.entries


def test_a_large_result_of_many_files_is_not_held_by_the_cluster(session, files, monkeypatch):
    monkeypatch.setattr(booking_run, "_MOST_HELD", 100)
    for _ in range(2):
        assert equal(session.run(*booked(files)), fresh(files))
        assert about(session).found == 0
    assert "too much memory in the cluster" in str(session.report)


def test_a_copy_on_another_host_is_another_file(files, tmp_path):
    """Workers may have another file by the same path."""
    here = source.identity(files[0])
    copy = source.identity(str(shutil.copy2(files[0], tmp_path / "copy.root")))
    assert known_files.is_seen(here, source.state(here, "uuid"))
    assert not known_files.is_seen(here, source.state(copy, "uuid"))
    assert not known_files.is_seen(here, None)


def test_sites_and_threads_have_one_memory(cluster, files):
    with tm.connect({"near": tm.connect(workers=1), "far": cluster}) as session:
        first = session.run(*booked(files))
        assert equal(first, fresh(files))
        assert about(session).parts == 3 * len(files)
        assert equal(session.run(*booked(files)), first)
        assert about(session).parts == 0
    assert equal(tm.run(*booked(files)), first)
    assert tm.report().remembered.parts == 0


def test_a_file_of_which_sites_have_seen_copies_is_another_one(files, tmp_path):
    here = source.identity(files[0])
    copy = source.identity(str(shutil.copy2(files[0], tmp_path / "copy.root")))
    own, other = source.state(here, "uuid"), source.state(copy, "uuid")
    assert known_files.is_seen(here, [HERE, own])
    assert not known_files.is_seen(here, [HERE, other])
