"""A file of XRootD's server that another one has replaced while this process has it open. Such a
server gives the older file to all who open its path, as long as it is open.
"""

import os
import shutil
import time

import pytest
import treemill as tm

from tests.remote.conftest import skip_without
from tools.servers.xrootd import XRootD

PATH = "store/trees/events.root"
OLDER, NEWER, NEWEST = (f"store/trees/events_{i}.root" for i in (0, 2, 1))
ENTRIES = {OLDER: 5000, NEWER: 7321, NEWEST: 1}


@pytest.fixture
def server(files, nothing_remembered):
    skip_without(XRootD.missing())
    with XRootD() as made:
        made.put(files[OLDER], PATH)
        age(made.data / PATH, 3000)
        yield made


def age(path, seconds):
    """Files that have just been written have no identity."""
    when = time.time() - seconds
    os.utime(path, (when, when))


def renamed(path, file):
    beside = path.with_suffix(".new")
    shutil.copyfile(file, beside)
    age(beside, 2000)
    beside.replace(path)


def created_anew(path, file):
    path.unlink()
    shutil.copyfile(file, path)
    age(path, 2000)


def count(url):
    return tm.run(tm.dataset(url, tree="Events").count())


@pytest.mark.parametrize("replace", [renamed, created_anew])
@pytest.mark.parametrize("first", ["count", "arrays"])
def test_runs_read_the_newer_file(server, files, replace, first):
    url = server.url(PATH)
    events = tm.dataset(url, tree="Events")
    before = events.count().value if first == "count" else len(events.arrays("nJet"))
    assert before == ENTRIES[OLDER]
    replace(server.data / PATH, files[NEWER])
    assert [count(url) for _ in range(3)] == 3 * [ENTRIES[NEWER]]
    assert events.count().value == ENTRIES[NEWER]
    assert len(tm.dataset(url, tree="Events").arrays("nJet")) == ENTRIES[NEWER]


def test_a_file_that_was_renamed_and_then_overwritten(server, files):
    url = server.url(PATH)
    events = tm.dataset(url, tree="Events")
    assert events.count().value == ENTRIES[OLDER]
    renamed(server.data / PATH, files[NEWER])
    assert count(url) == ENTRIES[NEWER]
    server.put(files[NEWEST], PATH)
    age(server.data / PATH, 1000)
    assert [count(url) for _ in range(2)] == 2 * [ENTRIES[NEWEST]]
    assert events.count().value == ENTRIES[NEWEST]
