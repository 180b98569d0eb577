"""Trees of one file whose objects are of different versions of their classes, as fast clones by
real ROOT have them: which version it is only the objects say."""

import pytest
import treemill._core as core
from treemill.errors import UnsupportedError

from tests.raising import raises
from tools.readers.compare import read

ENTRIES = range(40)
OLD, NEW = 1, 2


def thing(i, version):
    return {"a": i} | ({"b": i / 2} if version == NEW else {})


def plain(i, version):
    return {"a": i} | ({"c": 3} if version == NEW else {})


def derived(i, version):
    return thing(i, version) | {"d": i}


def things(i, version):
    return [thing(i, version)] * (i % 4)


def holder(i, version):
    return {
        "before": i,
        "thing": thing(i, version),
        "plain": plain(-i, version),
        "things": things(i, version),
        "plains": [plain(-i, version)] * (i % 3),
        "derived": derived(i, version),
        "pointer": derived(2 * i, version) if i % 3 else None,
        "after": -i,
    }


@pytest.fixture(scope="module")
def merged(made_by_root):
    return core.File(str(made_by_root("versions") / "merged.root"))


@pytest.mark.parametrize(("name", "version"), [("old", OLD), ("new", NEW)])
def test_objects_are_read_at_the_version_that_they_have(merged, name, version):
    tree = merged.tree(name)
    assert read(tree, "holder.").to_list() == [holder(i, version) for i in ENTRIES]
    assert read(tree, "things").to_list() == [things(i, version) for i in ENTRIES]


def test_several_versions_in_one_branch_are_refused_by_name(merged):
    tree = merged.tree("both")
    assert tree.num_entries == 2 * len(ENTRIES)
    assert read(tree, "things", 0, 40).to_list() == [things(i, OLD) for i in ENTRIES]
    with raises(UnsupportedError, said="version 2 of class versions::Thing"):
        read(tree, "things")
