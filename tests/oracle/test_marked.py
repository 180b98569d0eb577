"""What ROOT marks trees with: the weight of TTree::SetWeight, which drawings use, and
kEntriesReshuffled, with which a tree is no friend by entry numbers."""

import json
import subprocess
import sys

import numpy as np
import pytest
import treemill as tm
import uproot

from tests.raising import raises

BINS = (30, 0, 30)


@pytest.fixture(scope="module")
def folder(made_by_root):
    return made_by_root("marked")


@pytest.fixture(scope="module")
def said(folder):
    return json.loads((folder / "said.json").read_text())


def chain(folder, *names):
    return tm.dataset([str(folder / f"{name}.root") for name in names])


@pytest.mark.parametrize("asked", ["x|", "x|x%2==0", "x|x", "LocalEntry$|"])
def test_trees_weigh_their_entries_in_drawings(folder, said, asked):
    expr, where = asked.split("|")
    drawn = chain(folder, "one", "half", "two").draw(expr, where, "goff", bins=BINS)
    assert drawn.values().tolist() == said[asked]


def test_weights_are_of_drawings_alone(folder):
    events = chain(folder, "half")
    assert events.draw("x", "", "goff").sum().value == 5
    assert events.draw("x", "", "goff", weight="2").sum().value == 10
    assert events.draw("x:x", "", "goff prof", bins=[BINS]).sum().sum_of_weights == 5
    assert events.hist("x", bins=BINS).value.sum() == events.count().value == 10
    # Without weights the storage is the usual one.
    assert chain(folder, "one").draw("x", "", "goff", bins=BINS).sum() == 0 + 10
    none = events.filter("x < 0").draw("x", "", "goff", bins=BINS)
    assert none.sum().value == 0


def test_entry_numbers_beside_a_branch_of_that_name(folder):
    events = chain(folder, "one", "half")
    for text, last in (("Entry$", 19), ("LocalEntry$", 9), ("entry_number", 900)):
        assert events.max(text).value == last
    table = events.scan("x", n=2)
    lines = [line.split() for line in str(table or "").splitlines()]
    assert lines == [] or lines[-1][0] == "1"


def test_a_reshuffled_tree_is_no_friend_by_number(folder, tmp_path):
    one, reshuffled = chain(folder, "one"), chain(folder, "reshuffled")
    skim = reshuffled.snapshot(tmp_path / "skim.root", "*").value
    again = tm.dataset(skim)
    for main, friend in ((one, reshuffled), (reshuffled, one), (one, again), (again, one)):
        with raises(tm.QueryError, said="in no particular order"):
            _ = main.add_friend(friend, alias="f").sum("f.x").value
    # The tree alone is as any other; so is an array that goes with it, and an index joins it.
    assert reshuffled.define("w", np.arange(10.0)).sum("w * 0 + x").value == 45
    joined = one.add_friend(reshuffled, alias="f", index="entry_number")
    assert joined.sum("f.x").value == 45


@pytest.mark.parametrize("kind", ["ttree", "rntuple"])
@pytest.mark.parametrize("names", [("one", "reshuffled"), ("reshuffled", "one"), ("one", "two")])
def test_a_skim_has_the_mark_of_any_of_its_files(folder, tmp_path, kind, names):
    """Whatever it is written as, and wherever among the files the marked one is."""
    skim = chain(folder, *names).snapshot(tmp_path / "skim.root", format=kind).value
    main = chain(folder, "one", "two")
    joined = main.add_friend(skim.path, alias="f")
    if "reshuffled" in names:
        with raises(tm.QueryError, said="in no particular order"):
            _ = joined.sum("f.x").value
    else:
        assert joined.sum("f.x - x").value == 0
    # Arrays go with the order that the skim has.
    again = tm.dataset(skim)
    assert again.define("w", np.arange(20.0)).sum("w * 0 + x").value == again.sum("x").value


@pytest.mark.parametrize("kind", ["ttree", "rntuple"])
@pytest.mark.parametrize("name", ["one", "reshuffled"])
def test_a_copied_tree_keeps_its_mark(folder, tmp_path, kind, name):
    booked = chain(folder, name).snapshot(
        tmp_path / "skim.root", "x", tree="skim", format=kind, copy_trees="t"
    )
    copied = tm.dataset(booked.value.path, tree="t")
    joined = chain(folder, "one").add_friend(copied, alias="f")
    if name == "reshuffled":
        with raises(tm.QueryError, said="in no particular order"):
            _ = joined.sum("f.x").value
    else:
        assert joined.sum("f.x - x").value == 0


def test_a_sample_has_the_mark_of_its_own_files(folder, tmp_path):
    samples = {"plain": [str(folder / "one.root")], "mixed": [str(folder / "reshuffled.root")]}
    skims = tm.fileset(samples).snapshot(tmp_path / "skim_{dataset}.root").value
    main = chain(folder, "one")
    assert main.add_friend(skims["plain"].path, alias="f").sum("f.x - x").value == 0
    with raises(tm.QueryError, said="in no particular order"):
        _ = main.add_friend(skims["mixed"].path, alias="f").sum("f.x").value


def test_root_refuses_ours(folder, tmp_path):
    """A snapshot of a reshuffled tree has the bit for ROOT, too; others have not."""
    program = (
        "import ROOT, sys; t = [ROOT.TFile(p).Get('t') for p in ()];"
        "f = [ROOT.TFile(p) for p in sys.argv[1:]];"
        "print([bool(x.Get('t').TestBit(ROOT.TTree.kEntriesReshuffled)) for x in f])"
    )
    paths = []
    for name in ("reshuffled", "one"):
        paths.append(str(tmp_path / f"{name}.root"))
        chain(folder, name).snapshot(paths[-1], "*").value  # noqa: B018
    command = [sys.executable, "-W", "ignore", "-c", program, *paths]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip().endswith("[True, False]")
    with uproot.open(paths[0]) as file:
        assert file["t"].num_entries == 10
