"""Layouts that the metadata server wants back: of one file, of a file system, or all; also before
the client has them, and of a file that is open twice.
"""

import gc
import threading

import awkward as ak
import pytest
import treemill as tm

from tests.remote.pnfs_peer import (
    FILES,
    FLEX,
    OF_A_FILE,
    OF_A_FILE_SYSTEM,
    OF_ALL,
    DataServer,
    MetadataServer,
)

DELAY, NO_LAYOUT = 10008, 10060
LAYOUT, READ = 50, 25
WRITING = 2


@pytest.fixture
def data():
    servers = [DataServer() for _ in range(2)]
    yield servers
    for server in servers:
        server.stop()


@pytest.fixture(params=[FILES, FLEX], ids=["files", "flex"])
def meta(request, data, paths, core, nothing_remembered):
    made = MetadataServer(data, request.param)
    with open(paths[2], "rb") as file:
        content = file.read()
    made.urls = [made.put(name, content) for name in ("one.root", "two.root")]
    yield made
    made.stop()


class Gate:
    """Stands where a barrier may: what comes to it waits until it is let through."""

    def __init__(self):
        self.arrived, self.opened = threading.Event(), threading.Event()

    def wait(self, seconds):
        self.arrived.set()
        assert self.opened.wait(seconds)


def opened(meta):
    """Both files, open and with layouts."""
    both = [tm.dataset(url, "Events") for url in meta.urls]
    for events in both:
        assert len(events.arrays("MET_pt", start=0, stop=10)) == 10
    assert sorted(meta.laid) == [b"one.root", b"two.root"]
    return both


def is_whole(events, paths):
    found = events.arrays(["Jet_pt", "Muon_pt"])
    return ak.array_equal(found, tm.dataset(paths[2], "Events").arrays(["Jet_pt", "Muon_pt"]))


def said(meta):
    """What the client has said to the last call."""
    assert meta.heard.wait(20)
    meta.heard.clear()
    return meta.said.pop()


def test_one_file_is_recalled(meta, paths):
    """The other one keeps its layout."""
    both = opened(meta)
    meta.recall("one.root")
    assert said(meta) == 0
    assert meta.gave_back.wait(20)
    assert meta.given == [(OF_A_FILE, b"one.root")]
    assert list(meta.laid) == [b"two.root"]
    before = meta.reads, meta.layouts
    assert is_whole(both[1], paths)
    assert (meta.reads, meta.layouts) == before
    assert is_whole(both[0], paths)
    assert (meta.reads, meta.layouts) == (before[0], before[1] + 1)


@pytest.mark.parametrize("kind", [OF_A_FILE_SYSTEM, OF_ALL])
def test_all_files_are_recalled(meta, paths, kind):
    """One word gives all of them back, and no layout is asked for before it is heard."""
    both = opened(meta)
    before = meta.reads, meta.layouts
    meta.recall(kind=kind)
    assert said(meta) == 0
    assert meta.gave_back.wait(20)
    assert [given for given, _ in meta.given] == [kind]
    assert all(is_whole(events, paths) for events in both)
    assert (meta.reads, meta.layouts) == (before[0], before[1] + 2)


def test_what_is_not_there_is_not_given_back(meta):
    meta.gives_layouts = False
    both = [tm.dataset(url, "Events") for url in meta.urls]
    assert all(len(events.arrays("MET_pt", start=0, stop=10)) == 10 for events in both)
    for recall in ({"name": "one.root"}, {"kind": OF_ALL}, {"name": "never.root"}):
        meta.recall(**recall)
        assert said(meta) == NO_LAYOUT
    assert meta.given == []


def test_layouts_for_writing_are_not_there(meta):
    both = opened(meta)
    meta.recall("one.root", mode=WRITING)
    assert said(meta) == NO_LAYOUT
    assert len(both) == 2
    assert meta.given == []


@pytest.mark.parametrize("recall", [{"name": "one.root"}, {"kind": OF_ALL}], ids=["one", "all"])
def test_a_recall_that_overtakes_the_layout_is_answered_later(meta, paths, recall):
    gate = meta.together[LAYOUT] = Gate()
    found = []
    events = tm.dataset(meta.urls[0], "Events")
    reading = threading.Thread(target=lambda: found.append(is_whole(events, paths)))
    reading.start()
    assert gate.arrived.wait(20)
    meta.recall(**recall)
    assert said(meta) == DELAY
    gate.opened.set()
    reading.join(60)
    assert found == [True]
    meta.recall(**recall)
    assert said(meta) == 0
    assert meta.gave_back.wait(20)


def test_a_file_that_is_open_twice_has_one_layout(meta, data, paths):
    """The first one that is closed gives nothing back; the last one does."""
    other = meta.urls[0].replace("/one.root", "/./one.root")
    first, second = (tm.dataset(url, "Events") for url in (meta.urls[0], other))
    assert is_whole(first, paths)
    assert is_whole(second, paths)
    closed = meta.together[4] = Gate()
    del first
    gc.collect()
    assert closed.arrived.wait(20)
    closed.opened.set()
    assert meta.given == []
    before = meta.reads, meta.layouts
    assert len(second.arrays("Electron_pt")) == 7321
    assert (meta.reads, meta.layouts) == before
    del second
    gc.collect()
    assert meta.gave_back.wait(20)
    assert meta.given == [(OF_A_FILE, b"one.root")]
