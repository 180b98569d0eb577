"""The chain beneath a dataset: what is sent to workers, and how often a pass looks at a file."""

import os
import pickle
from contextlib import nullcontext
from types import SimpleNamespace

import awkward as ak
import numpy as np
import pytest
import treemill as tm
from treemill.data import chain_trees, open_tree, source
from treemill.data.location import Location
from treemill.data.source import Identity
from treemill.errors import SourceError

from tests.python.written import write
from tests.raising import raises

N = 1000


@pytest.fixture
def path(core, tmp_path):
    return write(tmp_path / "f.root", x=np.arange(N, dtype="i4"), y=np.ones(N))


@pytest.fixture
def looks(monkeypatch):
    """The paths of files whose identity was looked at."""
    seen = []

    def watched(look):
        def looked(storage, path):
            seen.append(path)
            return look(storage, path)

        return looked

    # Below all ways to ask for it.
    for storage in (source._Local, type(source._REMOTE)):
        monkeypatch.setattr(storage, "identity", watched(storage.identity))
    changed = chain_trees._Pinned.changed

    def looked_by_the_core(trees, numbers=None, threads=1):
        asked = trees.near.all_seen() if numbers is None else [*numbers]
        seen.extend(trees.locations[number].path for number in asked)
        return changed(trees, asked, threads)

    monkeypatch.setattr(chain_trees._Pinned, "changed", looked_by_the_core)
    monkeypatch.setattr(open_tree, "_SETTLED", -1.0)  # files of the tests are young
    return seen


def test_a_pass_looks_at_a_file_when_it_begins_and_opens_it_after_a_packet_and_at_its_end(
    path, looks
):
    events = tm.dataset(path)
    cuts = [f"x > {number}" for number in range(40)]

    def looked(*bookings):
        looks.clear()
        session.run(*bookings)
        return len(looks)

    with tm.connect(workers=1) as session:
        assert looked(events.count(), events.sum("y")) == 4
        assert looked(events.count(), events.sum("y")) == 3
        assert looked(*(events.filter(cut).hist("y", bins=(5, 0, 2)) for cut in cuts)) == 3
        assert looked(events.hist("x")) == 6, "an automatic range takes a pass of its own"


@pytest.mark.parametrize("workers", [1, 4])
def test_a_selector_looks_at_a_file_as_often_whatever_its_chunks(path, looks, workers):
    events = tm.dataset(path)
    with tm.connect(workers=workers) as session:
        session.run(lambda chunk: {"n": ak.sum(chunk.x)}, events)
        assert len(looks) == 4, "it opens the file"
        looks.clear()
        session.run(lambda chunk: {"n": ak.sum(chunk.x), "m": ak.sum(chunk.y)}, events)
    assert len(looks) == 3


def test_reading_again_takes_two_looks(path, looks):
    events = tm.dataset(path)
    events.arrays("x")
    assert len(looks) == 3
    looks.clear()
    events.arrays("x")
    assert len(looks) == 2


def test_a_file_that_is_written_to_in_the_middle_of_a_pass_is_an_error(path, paths, monkeypatch):
    chain = tm.dataset(path).chain.pinned()
    assert chain.sizes[0][0] == N
    os.utime(path, ns=(0, 0))
    assert chain.trees[0].num_entries == N, "what is open is read on"
    monkeypatch.setattr(open_tree, "_most_kept", lambda: 1)
    other = tm.dataset(paths[0], "Events")
    assert other.num_entries
    assert other.chain.trees[0], "as when many other files were opened meanwhile"
    with raises(SourceError, said="was written to while it was read"):
        chain.trees[0]


def test_what_is_sent_is_where_the_files_are(path, tmp_path):
    other = write(tmp_path / "g.root", z=np.arange(N))
    events = tm.dataset(path, missing={"w": 0.0}, metadata={"xsec": 6.2})
    both = events.add_friend(tm.dataset(other), alias="g").select_entries([1, 2, 999])
    for chain in (both.chain, both.chain.pinned()):
        sent = pickle.loads(pickle.dumps(chain))
        assert sent.files == (str(path),)
        assert (sent.num_entries, sent.metadata) == (3, {"xsec": 6.2})
        assert "g.z" in sent.branches
        assert sent.trees.missing.has("w")
    assert len(pickle.dumps(both.chain)) < 5000


def test_methods_of_datasets_have_help():
    assert "automatic" in tm.Dataset.hist.__doc__ or "range" in tm.Dataset.hist.__doc__
    for name in ("filter", "hist", "snapshot", "draw", "take", "vary"):
        assert getattr(tm.Dataset, name) is getattr(tm.Node, name)


def test_a_snapshot_does_not_replace_a_file_that_it_reads(path, tmp_path):
    link = tmp_path / "link.root"
    link.symlink_to(path)
    events = tm.dataset(path)
    with raises(tm.QueryError, said="which it reads"):
        events.snapshot(link, ["x"])


def test_a_recorded_friend_on_a_server_is_left_out(path):
    chain = tm.dataset(path).chain
    core = SimpleNamespace(friends=[("far", "t", "gopher://host//far.root")])
    tree = SimpleNamespace(core=core, opened=open_tree.OpenTree(core, "t"))
    with pytest.warns(UserWarning, match="its friend far is left out: gopher:// is not supported"):
        assert chain.friends._of_file(chain, 0, tree) == []


class _Server:
    """Files on a server that need not be there: notes which are looked at, and how."""

    def __init__(self, monkeypatch):
        self.looks = []
        self.together = []
        monkeypatch.setattr(chain_trees.source, "is_far", lambda path: True)
        monkeypatch.setattr(chain_trees.source, "identity", self.identity)
        monkeypatch.setattr(chain_trees.source, "look", self.look)
        monkeypatch.setattr(chain_trees.source, "recent_identity", self.identity)
        monkeypatch.setattr(chain_trees.source, "identities", self.identities)

    def identity(self, path):
        self.looks.append(path)
        if "gone" in path:
            raise SourceError("gone", file=path)
        return Identity(len(path), 0, (1,))

    def look(self, path, tree, then):
        try:
            then(self.identity(path))
        except SourceError as error:
            then(error)

    def identities(self, paths):
        self.together.extend(paths)
        return {path: Identity(len(path), 0, (1,)) for path in paths}


def _trees(*paths):
    return chain_trees.ChainTrees([Location(path, "t") for path in paths])


def test_a_pass_asks_no_unknown_file_for_its_state_before_it_opens_it(monkeypatch):
    server = _Server(monkeypatch)
    trees = _trees(*(f"root://h//{i}.root" for i in range(40)))
    pinned = trees.pinned(range(40))
    assert not server.together
    assert not pinned.knows(3)
    assert pinned.identity(5) == pinned.identity(5) == Identity(16, 0, (1,))
    assert [pinned.identity(number) for number in range(40)]
    assert sorted(server.looks) == sorted({each.path for each in trees.locations}), "each once"
    trees.remembered(7)["sizes"] = 1
    trees.pinned()
    assert server.together == ["root://h//7.root"]
    asked = trees.pinned()
    asked.identify()
    assert sorted(server.together[1:]) == sorted(
        {each.path for each in trees.locations} | {server.together[0]}
    )


def test_a_look_for_changes_is_at_the_files_asked_about_while_others_are_opened(monkeypatch):
    _Server(monkeypatch)
    pinned = _trees(*(f"root://h//{i}.root" for i in range(40))).pinned()
    for number in range(20):
        pinned.identity(number)
    asked = []

    class Far(frozenset):
        def __contains__(self, number):
            asked.append(number)
            of_another_thread = len(pinned._identities)
            pinned._identities[of_another_thread] = Identity(1, 0, (1,))
            return True

    monkeypatch.setattr(pinned, "far", Far())
    assert pinned.changed([3]) is None
    assert asked == [3]
    assert pinned.changed() is None
    assert asked == [3, *range(21)]


def test_a_file_that_could_not_be_opened_soon_is_tried_again(monkeypatch):
    server = _Server(monkeypatch)
    pinned = _trees("root://h//gone.root").pinned([0])
    for _ in range(2):
        with raises(SourceError, about="gone"):
            pinned.identity(0)
    assert len(server.looks) == 2


@pytest.mark.parametrize("name", ["here", "gone"])
def test_a_file_of_a_server_is_opened_in_the_background_once(name, monkeypatch):
    server = _Server(monkeypatch)
    pinned = _trees(f"root://h//{name}.root").pinned()
    told = []
    for _ in range(2):
        assert pinned.opens(0, lambda: told.append(len(server.looks)))
    assert told == [1, 1]
    with nullcontext() if name == "here" else raises(SourceError, about="gone"):
        assert pinned.identity(0)
    assert len(server.looks) == 1, "what the opening has seen is the pass's"


def test_a_near_file_is_not_opened_in_the_background(path):
    pinned = tm.dataset(path).chain.trees.pinned()
    assert not pinned.opens(0, pytest.fail)


def test_relative_paths_mean_the_same_files_in_another_folder(tmp_path, paths, monkeypatch):
    for folder, path in (("a", paths[0]), ("b", paths[1])):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "f.root").symlink_to(path)
    monkeypatch.chdir(tmp_path / "a")
    chain = tm.dataset("f.root", "Events").chain
    sent = pickle.dumps(chain)
    assert pickle.loads(sent).files == ("f.root",)
    monkeypatch.chdir(tmp_path / "b")
    assert pickle.loads(sent).num_entries == tm.dataset(paths[0], "Events").num_entries
    (tmp_path / "a" / "f.root").unlink()  # as on another host
    assert pickle.loads(sent).files == ("f.root",)
