"""Datasets and friends of which some files are on a server and others here."""

import os
import pickle
import shutil
import subprocess
import sys

import numpy as np
import pytest
import treemill as tm
import uproot
from treemill.errors import ChangedError

from tools.servers.nginx import Nginx

from .conftest import skip_without

N = 1000


def write(path, value):
    with uproot.recreate(path) as file:
        file.mktree("t", {"x": "float64", "n": "int64"})
        file["t"].extend({"x": np.full(N, value), "n": np.arange(N)})
    return path


@pytest.fixture
def mixed(tmp_path):
    """A file on a server and one here, and the path of the latter."""
    skip_without(Nginx.missing())
    far, near = write(tmp_path / "far.root", 1.0), write(tmp_path / "near.root", 2.0)
    with Nginx() as server:
        server.put(far, "far.root")
        yield tm.dataset([server.url("far.root"), str(near)], tree="t"), near


@pytest.fixture
def whole(tmp_path):
    return tm.dataset([str(write(tmp_path / f"{i}.root", 5.0)) for i in range(2)], tree="t")


@pytest.mark.parametrize("index", [None, "n"])
@pytest.mark.parametrize("is_friend", [True, False])
def test_a_near_file_is_read_as_it_was_when_it_was_matched(
    mixed, whole, tmp_path, index, is_friend
):
    some, near = mixed
    main, friend = (whole, some) if is_friend else (some, whole)
    events = main.add_friend(friend, alias="f", index=index).chain.pinned()
    shutil.copyfile(write(tmp_path / "new.root", 3.0), near)
    with pytest.raises(ChangedError) as raised, events.one_state():
        events.table(1).read(["x", "f.x"], 0, N)
    assert raised.value.file == str(near)


@pytest.mark.parametrize("index", [None, "n"])
@pytest.mark.parametrize("is_friend", [True, False])
def test_workers_read_a_far_file_as_it_was_when_it_was_matched(whole, tmp_path, index, is_friend):
    """They open it later, in processes that have not seen it before."""
    skip_without(Nginx.missing())
    with Nginx() as server:
        for name in ("a.root", "b.root"):
            server.put(write(tmp_path / name, 1.0), name)
        far = tm.dataset([server.url("a.root"), server.url("b.root")], tree="t")
        main, friend = (whole, far) if is_friend else (far, whole)
        events = main.add_friend(friend, alias="f", index=index).chain.pinned()
        (tmp_path / "chain").write_bytes(pickle.dumps(events))
        worker = [sys.executable, "-c", WORKER, str(tmp_path / "chain")]
        changed = server.data / "b.root"
        shutil.copyfile(write(tmp_path / "new.root", 3.0), changed)
        os.utime(changed, (1, 1))
        found = subprocess.run(worker, capture_output=True, text=True).stdout
        # All of a small file may be in the cache on disk, as it was.
        error = f"{server.url('b.root')} was written to while it was read: run again\n"
        assert found in (error, "5000.0\n")


WORKER = """
import pickle, sys
from treemill.data.columns import numbers
from treemill.errors import ChangedError
with open(sys.argv[1], "rb") as file:
    chain = pickle.load(file)
try:
    x, fx = chain.table(1).read(["x", "f.x"], 0, 1000)
    print(float((numbers(x) * numbers(fx)).sum()))
except ChangedError as error:
    print(error)
"""
