"""Files and questions that are not what they should be: the right exception, never a crash."""

import random
import shutil

import awkward as ak
import pytest
import treemill as tm
import treemill._core as core
from treemill.errors import FormatError, QueryError, SourceError, TreemillError

from tests.raising import raises
from tests.random_search import share
from tools.readers.compare import read

from .cases import write


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    path = tmp_path_factory.mktemp("bad") / "good.root"
    write(path, entries=1_500, step=400)
    return path


def read_all(path):
    """Every branch of every tree; a panic of the core is no TreemillError and ends the test."""
    file = core.File(str(path))
    found = {}
    for info in file.trees():
        tree = file.tree(info["path"])
        for branch in tree.branches():
            if branch["supported"]:
                found[info["path"], branch["name"]] = read(tree, branch["name"]).to_list()
    return found


NOT_ROOT = {
    "empty": b"",
    "short": b"root",
    "magic only": b"root" + bytes(60),
    "text": b"run,event,pt\n1,2,3.5\n" * 100,
    "png": b"\x89PNG\r\n\x1a\n" + bytes(1000),
    "hdf5": b"\x89HDF\r\n\x1a\n" + bytes(1000),
    "zeros": bytes(4096),
    "ones": b"\xff" * 4096,
    "magic and ones": b"root" + b"\xff" * 4096,
}


@pytest.mark.parametrize("content", NOT_ROOT.values(), ids=NOT_ROOT)
def test_not_a_root_file(content, tmp_path):
    path = tmp_path / "file.root"
    path.write_bytes(content)
    with pytest.raises(FormatError) as caught:
        _ = tm.dataset(path, tree="Events").num_entries
    assert str(path) in str(caught.value)


def test_no_such_file(tmp_path):
    with raises(SourceError, about="nowhere.root"):
        _ = tm.dataset(tmp_path / "nowhere.root", tree="Events").num_entries
    with pytest.raises(SourceError):
        _ = tm.dataset(tmp_path, tree="Events").num_entries


def test_truncated_at_any_place(good, tmp_path):
    """A download that broke off: whatever is left, no reader may give values from it as if all was
    well."""
    whole = good.read_bytes()
    choose = random.Random(1)
    places = {
        *range(0, 300, 7),
        *(choose.randrange(len(whole)) for _ in range(150)),
        len(whole) - 1,
    }
    for place in sorted(places):
        path = tmp_path / "cut.root"
        path.write_bytes(whole[:place])
        with pytest.raises(FormatError):
            read_all(path)


def test_damaged_bytes(good, tmp_path):
    """Flipped bytes in the metadata or in a basket: an error or an answer, nothing else."""
    whole = good.read_bytes()
    choose = random.Random(2)
    right = read_all(good)
    outcomes = {"error": 0, "answer": 0, "same": 0}
    for number in range(share(400)):
        damaged = bytearray(whole)
        for _ in range(1 + number % 3):
            # Half of them in the header, the keys and the tree's own record at the file's end.
            place = choose.choice(
                [choose.randrange(len(whole)), len(whole) - choose.randrange(8000)]
            )
            damaged[place % len(whole)] = choose.choice([0, 1, 0x40, 0x7F, 0x80, 0xFF])
        path = tmp_path / "damaged.root"
        path.write_bytes(damaged)
        try:
            found = read_all(path)
        except TreemillError:
            outcomes["error"] += 1
        else:
            outcomes["same" if repr(found) == repr(right) else "answer"] += 1
    assert outcomes["error"] > 20, outcomes


def test_replaced_while_open(good, tmp_path):
    """A file that shrinks under an open dataset."""
    path = tmp_path / "shrinks.root"
    shutil.copy(good, path)
    file = core.File(str(path))
    tree = file.tree("Events")
    with path.open("r+b") as stream:
        stream.truncate(1000)
    with pytest.raises((FormatError, SourceError)):
        read(tree, "Jet_pt")


def test_wrong_names(good):
    with raises(QueryError, about="Events"):
        _ = tm.dataset(good, tree="Evnts").num_entries
    events = tm.dataset(good, tree="Events")
    for ask in (
        lambda: events.arrays(["Jet_ptt"]),
        lambda: events.hist("Jet_ptt", bins=(10, 0, 1)).value,
        lambda: events.filter("Jet_ptt > 3").count().value,
    ):
        with raises(QueryError, about="Jet_pt"):
            ask()


WRONG = [
    "x +",
    "x > > y",
    "Jet_pt[",
    "nosuch(x)",
    "x.y.z",
    "'text' + x",
    "Jet_pt + Muon_pt",
    "import os",
    "__import__('os')",
    "x if",
]


@pytest.mark.parametrize("text", WRONG)
def test_wrong_expressions(text, good):
    with pytest.raises(TreemillError):
        _ = tm.dataset(good, tree="Events").hist(text, bins=(10, 0, 1)).value


def test_a_wrong_booking_leaves_the_others(good):
    events = tm.dataset(good, tree="Events")
    right = events.count()
    wrong = events.filter("Jet_pt > 3").count()  # Not one bool an event.
    assert right.value == 1_500
    with pytest.raises(QueryError):
        _ = wrong.value
    assert ak.sum(events.arrays(["flag"]).flag) == events.filter("flag").count().value
