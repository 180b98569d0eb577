"""Files that real ROOT writes during the run, read by treemill, by uproot and by ROOT itself."""

import random

import pytest
import treemill._core as core

from tools.readers.compare import Verdict, compare_file, difference, read

from .dumped import columns, load

CODECS = [
    "none",
    *(
        f"{name}-{level}"
        for name in ("zlib", "lzma", "old", "lz4", "zstd")
        for level in range(1, 10)
    ),
]
FILES = [
    *("leaves", "empty", "leaf_lists", "truncated", "vectors", "baskets", "generated_offsets"),
    *(
        "embedded",
        "directories",
        "far",
        "blocks-zlib",
        "blocks-lzma",
        "blocks-old",
        "blocks-lz4",
        "blocks-zstd",
    ),
    *(f"codec-{codec}" for codec in CODECS),
]

OBJECT_MEMBERS_AT_LEAST = 30

# (file, column) -> why ROOT's own answer is not the right one; other tests have what is written.
ROOT_IS_WRONG = {
    (
        "generated_offsets",
        "y",
    ): "ROOT 6.40 makes offsets from the counter without the [2] of y[n][2]",
}


@pytest.mark.parametrize("name", FILES)
def test_equals_root(root_files, name):
    file = core.File(str(root_files / f"{name}.root"))
    wrong = []
    for tree, expected in load(root_files / f"{name}.dump").items():
        ours = file.tree(tree)
        got = {}
        for branch in dict.fromkeys(key.split("/")[0] for key in expected):
            got |= columns(branch, read(ours, branch))
        assert list(got) == list(expected)
        for key, column in expected.items():
            found = got[key].difference(column)
            if found is not None and (name, key) not in ROOT_IS_WRONG:
                wrong.append(f"{tree} {key}: {found}")
    assert not wrong, "\n".join(wrong)


def test_generated_offsets_of_pairs(root_files):
    tree = core.File(str(root_files / "generated_offsets.root")).tree("t")
    counts = [i * i % 10 for i in range(tree.num_entries)]
    assert read(tree, "y").to_list() == [[[i, k] for k in range(n)] for i, n in enumerate(counts)]


RIGHT = {Verdict.EQUAL, Verdict.GROUP, Verdict.COUNTS, Verdict.UNSUPPORTED, Verdict.UNCHECKED}

# (file, branch) -> why uproot's answer is not the one that counts there; ROOT's is, above.
UPROOT_IS_WRONG = {
    ("leaves.root", "text"): "takes empty strings of a TLeafC for strings of -1 characters",
    ("far.root", "text"): "the same",
    # split1: 1.0f comes out as 4.6e-41, the same bytes backwards.
    ("objects.root", "event/origin"): "leaves the numbers of unsplit members big-endian",
    ("objects.root", "event/points"): "the same",
    ("objects.root", "top./top.origin"): "the same",
    ("objects.root", "top./top.points"): "the same",
}


@pytest.mark.parametrize(
    "name",
    [name for name in [*FILES, "objects"] if name != "truncated" and "-old" not in name],
)
def test_equals_uproot(root_files, name):
    """Not for leaves of Float16_t and Double32_t, most of whose forms uproot does not know, and not
    for ROOT's first codec, which it does not know either."""
    outcomes = compare_file(root_files / f"{name}.root")
    wrong = [
        str(o)
        for o in outcomes
        if o.verdict not in RIGHT and (o.file, o.branch) not in UPROOT_IS_WRONG
    ]
    assert not wrong, "\n".join(wrong)


def test_members_of_objects_are_read(root_files):
    outcomes = compare_file(root_files / "objects.root")
    assert sum(o.verdict is Verdict.EQUAL for o in outcomes) >= OBJECT_MEMBERS_AT_LEAST, outcomes


def test_all_trees_are_found(root_files):
    for name in FILES:
        trees = {
            f"{t['path']};{t['cycle']}" for t in core.File(str(root_files / f"{name}.root")).trees()
        }
        assert trees >= set(load(root_files / f"{name}.dump")), name
    names = [t["path"] for t in core.File(str(root_files / "directories.root")).trees()]
    assert len(set(names)) == 1 + 20 * 6


def test_newest_cycle_is_the_default(root_files):
    file = core.File(str(root_files / "directories.root"))
    assert [file.tree(name).num_entries for name in ("t", "t;1", "t;2")] == [5, 3, 5]
    assert file.tree("d7/t").num_entries == 7


@pytest.mark.parametrize("name", ["leaves", "baskets", "embedded", "vectors", "generated_offsets"])
def test_any_range_is_a_slice_of_all(root_files, name):
    file = core.File(str(root_files / f"{name}.root"))
    choose = random.Random(name)
    for info in file.trees():
        tree = file.tree(f"{info['path']};{info['cycle']}")
        for branch in tree.branches():
            if not branch["supported"]:
                continue
            whole = read(tree, branch["name"])
            for _ in range(3):
                start, stop = sorted(choose.randint(0, tree.num_entries) for _ in "ab")
                part = read(tree, branch["name"], start, stop)
                assert difference(part, whole[start:stop]) is None, (branch["name"], start, stop)
