"""Local files that change during a pass on a cluster are an error, also where only workers see it:
each process looks at files by itself, and two of them may see two states of one."""

import os
import shutil

import numpy as np
import pytest
import treemill as tm
import uproot
from treemill.errors import ChangedError

from tests.raising import raises
from tests.waiting import until

CLUSTERS, CLUSTER = 10, 1000
N = CLUSTERS * CLUSTER
SEEN = "/proc/self/cwd"
"""A folder that is another one for each process."""

pytestmark = pytest.mark.skipif(not os.path.isdir(SEEN), reason="processes' folders have no path")


def write(path, value):
    """A file of clusters, whose entries are all `value`."""
    with uproot.recreate(path, compression=None) as file:
        tree = file.mktree("t", {"x": "float64"})
        for _ in range(CLUSTERS):
            tree.extend({"x": np.full(CLUSTER, value)})
    return str(path)


def in_place(new, old):
    shutil.copyfile(new, old)


def by_rename(new, old):
    shutil.copyfile(new, f"{old}.new")
    os.replace(f"{old}.new", old)


@pytest.fixture(scope="module")
def made():
    from distributed import LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def dask(made):
    from distributed import Client

    with Client(made) as client:
        yield client


@pytest.fixture
def session(made):
    with tm.connect(made) as session:
        yield session


@pytest.fixture
def folders(dask, tmp_path, monkeypatch):
    """The folders of this process and of the two workers, each with a copy of one file `a.root`."""
    first = write(tmp_path / "a.root", 1.0)
    names = ["client", "one", "other"]
    for name in names:
        (tmp_path / name).mkdir()
        shutil.copyfile(first, tmp_path / name / "a.root")
    monkeypatch.chdir(tmp_path / "client")
    move(dask, tmp_path / "one", tmp_path / "other")
    yield [tmp_path / name for name in names]
    move(dask, "/", "/")


def move(dask, *folders):
    for address, folder in zip(dask.scheduler_info()["workers"], folders, strict=True):
        dask.run(os.chdir, str(folder), workers=[address])


@pytest.fixture
def meeting(tmp_path):
    folder = tmp_path / "meeting"
    folder.mkdir()
    return folder


class Meeting:
    """Sums. The first chunk of each process waits until both processes have one, so that there are
    entries of both in the result."""

    def __init__(self, meeting, *columns):
        self.meeting, self.columns = str(meeting), columns

    def __call__(self, events):
        open(os.path.join(self.meeting, str(os.getpid())), "w").close()
        until(lambda: len(os.listdir(self.meeting)) >= 2, "a chunk of the other process")
        sums = {name: float(np.sum(events[name])) for name in self.columns}
        return sums | {"n": len(events)}


@pytest.mark.parametrize("on_error", ["stop", "skip"])
def test_two_workers_do_not_mix_two_states(session, folders, meeting, on_error):
    write(folders[2] / "a.root", 3.0)
    events = tm.dataset(f"{SEEN}/a.root")
    with raises(ChangedError, said="run again") as raised:
        session.run(Meeting(meeting, "x"), events, on_error=on_error, second_runs=False)
    assert raised.value.file == f"{SEEN}/a.root"


def test_workers_on_two_hosts_do_not_mix_two_states(session, folders, meeting, dask):
    """Places on two hosts cannot be compared: files are told apart all the same."""
    write(folders[2] / "a.root", 3.0)
    events = tm.dataset(f"{SEEN}/a.root")
    address = list(dask.scheduler_info()["workers"])[1]
    dask.run(call_host, "elsewhere", workers=[address])
    try:
        with pytest.raises(ChangedError):
            session.run(Meeting(meeting, "x"), events, second_runs=False)
    finally:
        dask.run(call_host, None, workers=[address])


_REAL = os.uname()


def call_host(name):
    os.uname = lambda: os.uname_result((_REAL.sysname, name or _REAL.nodename, *_REAL[2:]))


def test_copies_of_one_file_are_the_same(session, folders, meeting):
    events = tm.dataset(f"{SEEN}/a.root")
    assert session.run(Meeting(meeting, "x"), events, second_runs=False) == {"x": N, "n": N}


def test_a_query_does_not_mix_two_states(session, folders, meeting):
    write(folders[2] / "a.root", 3.0)
    meet, seen = Meeting(meeting), tm.dataset(f"{SEEN}/a.root", tree="t")

    def met(x):
        meet(x)
        return x

    events = seen.define("y", "met(x)", {"met": tm.batched(met, returns="float64")})
    try:
        out = session.run(events.sum("y"))
    except ChangedError:
        return
    assert out in (N, 3 * N)  # one of them has run what the other one was late with


def test_a_friend_is_the_same_for_all_workers(session, folders, meeting):
    main = write(folders[0].parent / "main.root", 2.0)
    write(folders[2] / "a.root", 3.0)
    events = tm.dataset(main).add_friend(tm.dataset(f"{SEEN}/a.root"), alias="f")
    with pytest.raises(ChangedError) as raised:
        session.run(Meeting(meeting, "x", "f.x"), events, second_runs=False)
    assert raised.value.file == f"{SEEN}/a.root"


class Changing:
    """Writes to the file, which the client does not see, in the first chunk of all."""

    def __init__(self, flag, how, new, old):
        self.flag, self.how, self.files = str(flag), how, (str(new), str(old))

    def __call__(self, events):
        try:
            os.close(os.open(self.flag, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            pass
        else:
            self.how(*self.files)
        return {"sum": float(np.sum(events.x))}


@pytest.mark.parametrize("how", [in_place, by_rename])
def test_workers_look_at_a_file_that_only_they_see(session, folders, dask, tmp_path, how):
    move(dask, folders[1], folders[1])
    new, events = write(tmp_path / "new.root", 3.0), tm.dataset(f"{SEEN}/a.root")
    with pytest.raises(ChangedError) as raised:
        session.run(Changing(tmp_path / "flag", how, new, folders[1] / "a.root"), events)
    assert raised.value.file == f"{SEEN}/a.root"
    assert session.run(Changing(tmp_path / "flag", how, new, ""), events) == {"sum": 3 * N}


@pytest.mark.parametrize("how", [in_place, by_rename])
@pytest.mark.parametrize("at", ["a.root", "b.root"])
def test_a_file_that_all_see_is_of_one_state(session, tmp_path, how, at):
    files = [write(tmp_path / "a.root", 1.0), write(tmp_path / "b.root", 1.0)]
    change = Changing(tmp_path / "flag", how, write(tmp_path / "c.root", 3.0), tmp_path / at)
    with pytest.raises(ChangedError) as raised:
        session.run(change, tm.dataset(files))
    assert raised.value.file == str(tmp_path / at)
