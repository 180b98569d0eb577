"""Objects that real ROOT wrote, unsplit and split, beside the values that they were given
(`root/objects.C`): uproot reads some of them only, and ROOT itself needs the classes.
"""

import pytest
import treemill._core as core

from tools.readers.compare import Verdict, compare_file, read, readable_branches

FILES = ["object-wise", "member-wise"]
SPLITS = ["split0", "split1", "split2", "split99"]
ENTRIES = range(60)


def inner(i):
    return {"a": i, "b": i / 2, "s": b"x" * (i % 300), "v": [i] * (i % 3)}


def item(i):
    array = [[i + 3 * k + j for j in range(3)] for k in range(2)]
    own = {"i": -i, "inner": inner(i), "t": b"t" * (i % 5), "c": array}
    return {"bx": i, "bv": [i] * (i % 4), **own}


def inners(n):
    return [inner(k) for k in range(n)]


def pair(key, value):
    return {"0": key, "1": value}


def p4(i):
    return {"fP": {"fX": i, "fY": 2 * i, "fZ": 3 * i}, "fE": 20 * i}


def narrow(i):
    steps = 4096 / 10  # Double32_t in [0,10], 12 bits
    return int(0.5 + (i % 11) * steps) / steps


def whole(i):
    few = range(i % 4)
    keys = [(k, b"k%d" % k) for k in few]
    return {
        "bx": i,
        "bv": [i] * (i % 3),
        "item": item(i),
        "inners": inners(i % 4),
        "items": [item(i + k) for k in range(i % 3)],
        "nested": [inners(k) for k in few],
        "counts": [pair(key, i * k) for k, key in keys],
        "lists": [pair(k, [i] * k) for k in few],
        "named": [pair(key, inner(k)) for k, key in keys],
        "deep": [pair(key, [pair(k, i / 4)]) for k, key in keys],
        "pairs": [{"first": k, "second": i * k} for k in few],
        "numbers": [k * k for k in few],
        "flags": [bool(i % 2)] * (i % 5),
        "bits": [bool(i >> k & 1) for k in range(5)],
        "three": [i, 1, 2],
        "pair": {"first": i, "second": i / 8},
        "n": i % 4,
        "dynamic": [i * k for k in few],
        "narrow": narrow(i),
        "p4": p4(i),
        "p4s": [p4(k) for k in few],
        "ref": {"ref": 0},
    }


@pytest.fixture(scope="module")
def folder(made_by_root):
    return made_by_root("objects")


@pytest.fixture(scope="module")
def trees(folder):
    return lambda file, tree: core.File(str(folder / f"{file}.root")).tree(tree)


@pytest.mark.parametrize("file", FILES)
def test_whole_object(trees, file):
    found = read(trees(file, "split0"), "whole.").to_list()
    assert [list(entry) for entry in found[:1]] == [list(whole(0))]
    for i in ENTRIES:
        for name, value in whole(i).items():
            assert found[i][name] == value, (i, name)


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("split", SPLITS[1:])
def test_members_split_off(trees, file, split):
    tree = trees(file, split)
    branches = {b["path"] for b in tree.branches() if b["supported"]}
    expected = [whole(i) for i in ENTRIES]
    compared = 0
    for name in whole(0):
        path = f"whole./whole.{name}"
        if path not in branches or any(b.startswith(path + "/") for b in branches):
            continue
        assert read(tree, path).to_list() == [entry[name] for entry in expected], name
        compared += 1
    assert compared >= 10


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("split", ["split2", "split99"])
def test_members_of_items_split_off(trees, file, split):
    tree = trees(file, split)
    branches = {b["path"] for b in tree.branches() if b["supported"]}
    compared = 0
    for name in item(0):
        path = f"whole./whole.items/whole.items.{name}"
        if path not in branches:
            continue
        expected = [[one[name] for one in whole(i)["items"]] for i in ENTRIES]
        assert read(tree, path).to_list() == expected, name
        compared += 1
    assert compared >= 3


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("split", SPLITS)
def test_collections(trees, file, split):
    tree = trees(file, split)
    groups = {b["name"] for b in tree.branches() if b["kind"] == "group"}
    split_off = {b["path"].split("/")[0] for b in tree.branches() if "/" in b["path"]}
    members = {"tops": "inners", "nested": "nested", "named": "named", "p4s": "p4s"}
    for name in set(members) - split_off - groups:
        expected = [whole(i)[members[name]] for i in ENTRIES]
        assert read(tree, name).to_list() == expected, name


@pytest.mark.parametrize("file", FILES)
def test_maps_split_off(trees, file):
    tree = trees(file, "split99")
    for name in ("deep", "lists"):
        for field, key in (("first", "0"), ("second", "1")):
            path = f"whole./whole.{name}/whole.{name}.{field}"
            expected = [[one[key] for one in whole(i)[name]] for i in ENTRIES]
            assert read(tree, path).to_list() == expected, path


@pytest.mark.parametrize("split", SPLITS)
def test_classes_of_root(trees, split):
    tree = trees("object-wise", split)
    branches = {branch["name"] for branch in readable_branches(tree)}
    assert read(tree, "one").to_list() == [p4(i) for i in ENTRIES]
    assert read(tree, "two").to_list() == [{"fX": i, "fY": 2 * i} for i in ENTRIES]
    if "title" in branches:
        names = [{"fName": b"%d" % i, "fTitle": b"title"} for i in ENTRIES]
        assert read(tree, "title").to_list() == names


# (branch, why uproot's answer is not the one that counts there; the tests above have the values)
UPROOT_IS_WRONG = {
    "whole./whole.item": "C arrays of several dimensions in objects come out flat",
    "whole./whole.items": "the same",
    "whole./whole.items/whole.items.t": "takes all of an entry's strings for one",
}


@pytest.mark.parametrize("file", FILES)
def test_equals_uproot(folder, file):
    found = compare_file(folder / f"{file}.root")
    wrong = {Verdict.DIFFERENT, Verdict.REFUSED, Verdict.BROKEN_PROMISE, Verdict.BOTH_REFUSE}
    assert not [str(o) for o in found if o.verdict in wrong and o.branch not in UPROOT_IS_WRONG]
    assert sum(o.verdict is Verdict.EQUAL for o in found) >= 110
