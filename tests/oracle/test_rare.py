"""Kinds of members that few files have, as real ROOT writes them (`root/rare.C`), split and whole,
beside the values that they were given. Of many only the data say what their items are.
"""

import random

import pytest
import treemill._core as core
from treemill.errors import TreemillError, UnsupportedError

from tests.raising import raises
from tools.readers.compare import Verdict, compare_file, read, readable_branches

COMPRESSIONS = ["none", "zstd"]
SPLITS = [0, 1, 99]
ENTRIES = range(60)


def few(i):
    return range(i % 4)


def hit(i):
    return {"channel": i, "charge": i / 4}


def special(i):
    return hit(i) | {"extra": i / 8}


def inner(i):
    return {"number": i, "hits": [hit(i + k) for k in range(i % 3)], "inners": []}


def owner(i):
    return {
        "before": i,
        "first": [hit(i + k) for k in few(i)],
        "second": [special(i - k) for k in few(i)],
        "late": [hit(k) for k in few(i)] if i >= LATE else [],
        "inners": [inner(i + k) for k in few(i)],
        "after": -i,
    }


# The first entry in which a pointer is not null.
LATE = 30


def enums(i):
    return {
        "before": i,
        "colour": 7 if i % 2 else 0,
        "colours": [7] * (i % 4),
        "smalls": [200] * (i % 3),
        "after": -i,
    }


def texts(i):
    return {"before": i, "text": [b"", b"text", b"t" * 300, b""][i % 4], "after": -i}


def pointers(i):
    return {"before": i, "base": special(i) if i % 3 else None, "after": -i}


def hits(i):
    return [None if (i % 4, k) == (3, 1) else hit(i + k) for k in few(i)]


def lists(i):
    return {"before": i, "pointed": hits(i), "array": hits(i + 1), "after": -i}


def first(i):
    """Of an empty string before other leaves nothing is written; ROOT 6.40 reads garbage there."""
    return {"text": b"c" * (i % 5), "n": i, "x": i / 2}


# Objects, split or not: their members.
OBJECTS = {
    "owner.": owner,
    "enums.": enums,
    "texts.": texts,
    "pointers.": pointers,
    "lists.": lists,
}
# Branches that are not split at any level, or at 0 and 1 only.
WHOLE = {
    "colours": lambda i: enums(i)["colours"],
    "first": first,
    "array": hits,
    "list": lambda i: [special(k) for k in range(i % 3)],
    "bases": lambda i: [special(i + k) for k in few(i)],
}
UNSPLIT = {"owners": lambda i: [inner(i + k) for k in few(i)]}
MANY = {"many": lambda i: [texts(i) for _ in range(i % 3)]}


@pytest.fixture(scope="module")
def folder(made_by_root):
    return made_by_root("rare")


@pytest.fixture(params=COMPRESSIONS)
def trees(folder, request):
    file = core.File(str(folder / f"{request.param}.root"))
    return {split: file.tree(f"split{split}") for split in SPLITS}


def check(tree, path, formula):
    assert read(tree, path).to_list() == [formula(i) for i in ENTRIES], path


@pytest.mark.parametrize("name", OBJECTS)
def test_objects_that_are_stored_whole(trees, name):
    check(trees[0], name, OBJECTS[name])


@pytest.mark.parametrize("name", OBJECTS)
def test_members_that_are_split_off(trees, name):
    for split in (1, 99):
        branches = {b["path"] for b in trees[split].branches()}
        for member in OBJECTS[name](0):
            path = f"{name}/{name}{member}"
            if not any(other.startswith(f"{path}/") for other in branches):
                check(trees[split], path, lambda i, m=member: OBJECTS[name](i)[m])


def test_branches_of_their_own(trees):
    for split, tree in trees.items():
        for name, formula in (WHOLE | (MANY if split == 0 else {})).items():
            check(tree, name, formula)
        if split < SPLITS[-1]:
            for name, formula in UNSPLIT.items():
                check(tree, name, formula)


def test_members_of_items_that_are_split_off(trees):
    for member in texts(0):
        expected = [[item[member] for item in MANY["many"](i)] for i in ENTRIES]
        for split in (1, 99):
            assert read(trees[split], f"many/many.{member}").to_list() == expected


def test_arrays_within_the_items_of_split_arrays(trees):
    own = {"owners/owners": UNSPLIT["owners"]}
    of_owner = {"owner./owner.inners/owner.inners": lambda i: owner(i)["inners"]}
    for path, items in (own | of_owner).items():
        for member in ("number", "hits", "inners"):
            expected = [[item[member] for item in items(i)] for i in ENTRIES]
            assert read(trees[99], f"{path}.{member}").to_list() == expected


def test_objects_of_several_classes_are_refused_by_name(trees):
    for tree in trees.values():
        with raises(UnsupportedError, said="rare::Special where pointers to rare::Hit"):
            read(tree, "mixed")
        # In the baskets that were looked into no item says its class.
        with raises(UnsupportedError, said="pointers to class TObject"):
            read(tree, "late")
        assert read(tree, "late", 0, 50).to_list() == [[]] * 50


def test_places_of_class_names_that_could_be_of_two_are_not_believed(trees):
    assert read(trees[0], "both.").to_list() == [{"before": i, "after": -i} for i in ENTRIES]
    for member in ("special", "other", "again"):
        of = special if member == "special" else lambda i: hit(i) | {"extra": i / 16}
        check(trees[99], f"both./both.{member}", of)


def test_damaged_bytes_are_errors_or_other_values(folder, tmp_path):
    """Bytes of the baskets are changed one by one: nothing panics, and what is refused says so."""
    sound = (folder / "none.root").read_bytes()
    damaged = tmp_path / "damaged.root"
    dice = random.Random(3)
    refused = 0
    for _ in range(150):
        changed = bytearray(sound)
        for _ in range(20):
            changed[dice.randrange(300, len(changed))] = dice.choice((0, 1, 64, 128, 255))
        damaged.write_bytes(changed)
        try:
            tree = core.File(str(damaged)).tree("split0")
        except TreemillError:
            refused += 1
            continue
        for branch in readable_branches(tree):
            try:
                read(tree, branch["path"])
            except TreemillError:
                refused += 1
    assert refused > 0


def test_what_uproot_reads_is_the_same(folder):
    found = compare_file(folder / "none.root")
    wrong = {Verdict.DIFFERENT, Verdict.REFUSED, Verdict.BROKEN_PROMISE}
    # Pointers to base classes are left out of uproot's records.
    judged = [outcome for outcome in found if outcome.branch != "pointers."]
    assert not [str(outcome) for outcome in judged if outcome.verdict in wrong]
