"""Snapshots of lists that no branch counts, as those of std::vector, and the names of trees."""

import awkward as ak
import numpy as np
import pytest
import treemill as tm
import uproot


@pytest.fixture
def vectors(tmp_path):
    """An RNTuple: its lists have no counters, as vectors have none."""
    sizes = np.array([2, 0, 3, 1])
    lists = {f"lep_{name}": ak.unflatten(np.arange(6.0) + i, sizes) for i, name in enumerate("abc")}
    others = {"lep_good": ak.unflatten(np.arange(3.0), [1, 0, 1, 1]), "x": np.arange(4.0)}
    path = tmp_path / "in.root"
    with uproot.recreate(path) as file:
        file.mkrntuple("mini", ak.zip({**lists, **others}, depth_limit=1))
    return tm.dataset(path), lists | others


def test_lists_of_equal_lengths_share_a_counter(vectors, tmp_path):
    events, truth = vectors
    made = events.snapshot(tmp_path / "out.root", "*").value
    again = tm.dataset(made)
    counters = {name: again.branches[name].counter for name in truth}
    assert counters == {
        **dict.fromkeys(["lep_a", "lep_b", "lep_c"], "nlep"),
        "lep_good": "nlep_good",
        "x": None,
    }
    assert again.sum("sum(l.a * l.b for l in lep)").value == ak.sum(truth["lep_a"] * truth["lep_b"])
    for name, values in truth.items():
        assert again.arrays(name)[name].to_list() == values.tolist()


def test_lengths_that_differ_in_one_entry_only(vectors, tmp_path):
    """In the first entries all are equal, in different packets and in different ways."""
    events, _ = vectors
    sizes = {"v_a": [1, 2, 3], "v_b": [1, 2, 4], "v_c": [1, 1, 3], "v_d": [1, 2, 3]}
    path = tmp_path / "differ.root"
    with uproot.recreate(path) as file:
        lists = {k: ak.unflatten(np.arange(float(sum(n))), n) for k, n in sizes.items()}
        entries = [
            ak.zip({name: each[entry : entry + 1] for name, each in lists.items()}, depth_limit=1)
            for entry in range(3)
        ]
        table = file.mkrntuple("t", entries[0])
        for each in entries[1:]:
            table.extend(each)
    again = tm.dataset(tm.dataset(path).snapshot(tmp_path / "out.root", "*").value)
    counters = {name: again.branches[name].counter for name in sizes}
    assert counters == {"v_a": "nv", "v_d": "nv", "v_b": "nv_b", "v_c": "nv_c"}
    # What is computed keeps a counter of its own.
    made = events.snapshot(tmp_path / "own.root", ["lep_a", "lep_b"]).value
    assert tm.dataset(made).branches["lep_b"].counter == "nlep"


def test_the_tree_has_the_name_of_its_source(vectors, tmp_path):
    events, _ = vectors
    assert events.snapshot(tmp_path / "a.root", "x").value.tree == "mini"
    assert events.snapshot(tmp_path / "b.root", "x", format="rntuple").value.tree == "mini"
    assert events.snapshot(tmp_path / "c.root", "x", tree="Events").value.tree == "Events"
    with uproot.open(tmp_path / "a.root") as file:
        assert file.keys(cycle=False) == ["mini"]
