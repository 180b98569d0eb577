"""Every kind of branch that real ROOT writes (`root/kinds.C`), for each split level, compression
and way of flushing, beside the values that it was given. Nothing here goes through uproot.
"""

import itertools
import json
import shutil

import numpy as np
import pytest
import treemill._core as core

from tools.readers.compare import read, readable_branches

COMPRESSIONS = [
    *("none", "zstd"),
    *(pytest.param(name, marks=pytest.mark.slow) for name in ("zlib", "lzma", "old", "lz4")),
]
"""What is decompressed does not depend on the kinds of values: test_root_written has each codec."""
SPLITS = [0, 1, 99]
FLUSHES = ["entries0", "entries7", "bytes3000"]
ENTRIES = range(40)
MANY_BASKETS = 5


def small(i):
    return {"id": i, "weight": i / 2, "text": b"s" * (i % 3)}


def smalls(n):
    return [small(k) for k in range(n)]


def hit(i):
    return {"channel": i, "charge": i / 4}


def pair(key, value):
    return {"0": key, "1": value}


def few(i):
    return range(i % 4)


def vector3(x, y, z):
    return {"fX": x, "fY": y, "fZ": z}


def bits(size, *ones):
    return [k in ones for k in range(size)]


def arrays(i):
    items = [i + k for k in few(i)]
    stored = i % 13 // 8 + 1  # bytes of a TBits after Compact
    return {
        **dict.fromkeys(["c", "s", "i", "l", "f", "d"], items),
        "three": [small(i + k) for k in range(3)],
        "grid": [[i * (3 * k + m) for m in range(3)] for k in range(2)],
        "four": [i, 1, 2, -i],
        "bits": {
            "fNbits": 8 * stored,
            "fNbytes": stored,
            "fAllBits": [(1 << i % 13) >> 8 * k & 255 for k in range(stored)],
        },
        "date": {"fDatime": i << 26 | 5 << 22 | 6 << 17 | 7 << 12 | 8 << 6 | 9},
        "colour": 7 if i % 2 else 0,
    }


def pointers(i):
    return {
        "before": i,
        "maybe": hit(i) if i % 3 else None,
        "surely": {"channel": 2 * i, "charge": i / 8},
        "hits": [hit(i + k) for k in few(i)],
        "smalls": [small(i + k) for k in few(i)],
        "after": -i,
    }


def nested(i):
    count = len(few(i))
    words = [str(k).encode() for k in few(i)]
    return {
        "words": [b"w" * k for k in few(i)],
        "cube": [[[i, i]] * k for k in few(i)],
        "smalls": [pair(b"k" + word, smalls(k)) for k, word in enumerate(words)],
        "sets": [pair(0, sorted({m * i for m in range(count - 1)}))] if count > 1 else [],
        "texts": [pair(k // 2, word) for k, word in enumerate(words)],
        "numbers": [i / 4 + k for k in few(i)],
        "shorts": [-k for k in few(i)],
        "unique": [str(i).encode()],
        "pairs": [{"first": str(i).encode(), "second": k} for k in few(i)],
        "masks": [[bool(k >> m & 1) for m in range(3)] for k in few(i)],
        "wide": bits(70, i % 70, 69),
    }


def letters(i):
    narrow = int(0.5 + i % 11 * 409.6) / 409.6  # [0,10,12]
    return {
        "L": -i,
        "l": i,
        "G": -2 * i,
        "g": 2 * i,
        "D": i / 4,
        "d": narrow,
        "I": -i,
        "i": i,
        "F": i / 2,
        "f": float(np.float32(narrow)),
        "S": -i,
        "s": i,
        "B": -i,
        "b": i,
        "O": i % 2 == 1,
        "C": b"c" * (i % 9),
    }


# Objects, split or not: their members.
OBJECTS = {"arrays.": arrays, "pointers.": pointers, "nested.": nested}
# Branches of other kinds that are not split at any level.
WHOLE = {
    "hits": lambda i: [hit(k) for k in few(i)],
    "bits": lambda i: bits(20, *(k for k in range(20) if i >> k & 1)),
    "text": lambda i: b"t" * (300 if i % 30 == 29 else i),
    "array": lambda i: [i + k for k in few(i)],
    "refs": lambda i: {"fName": b"", "fSize": 0, "refs": []},
    "letters": letters,
    "counted": lambda i: {"n": i % 8, "x": [i + k for k in range(i % 8)]},
}
# Those that are split at level 1 and above into members, if they are objects.
SPLIT_OFF = {
    "row": lambda i: smalls(i % 5),
    "map": lambda i: [pair(k, [b"m"] * k) for k in few(i)],
    "pair": lambda i: {"first": i, "second": b"p" * (i % 4)},
    "vector": lambda i: vector3(i, -i, 1),
    "vectors": lambda i: [vector3(i, k, 1) for k in few(i)],
}
# Members of a map are named by the pair's.
FIELDS = {"first": "0", "second": "1"}


def track(i):
    return {
        "at": [i, -i],
        "name": b"n" * (i % 4),
        "label": b"odd" if i % 2 else b"even",
        "path": [i] * (i % 3),
        "last": hit(i),
    }


def matrix(rows, columns, elements):
    return {
        "fNrows": rows,
        "fNcols": columns,
        "fRowLwb": 0,
        "fColLwb": 0,
        "fNelems": rows * columns,
        "fNrowIndex": 0,
        "fTol": np.finfo(float).eps,
        "fElements": elements,
    }


def covariance(i):
    """The upper right triangle is what ROOT stores."""
    return matrix(i % 4, i % 4, [i + 10 * r + c for r in few(i) for c in range(r, i % 4)])


def fit(i):
    rows, columns = i % 3 + 1, i % 2 + 1
    return {
        "before": i,
        "full": matrix(rows, columns, [i + k for k in range(rows * columns)]),
        "covariance": covariance(i),
        "after": -i,
    }


# Of objects that lie member by member, and of TLorentzVector, which streams itself.
CLONES = {
    "clones": lambda i: [hit(i * k) for k in few(i)],
    "tracks": lambda i: [track(i + k) for k in few(i)],
    "fourvectors": lambda i: [{"fP": vector3(i, k, 2), "fE": 50} for k in few(i)],
}
OWNED = {
    "before": lambda i: i,
    "tracks": lambda i: [track(i + k) for k in few(i)],
    "sure": lambda i: [hit(i + k) for k in few(i)],
    "none": lambda i: [],
    "value": lambda i: [hit(i - k) for k in few(i)],
}


@pytest.fixture(scope="module")
def folder(made_by_root):
    return made_by_root("kinds")


def trees(folder, compression):
    file = core.File(str(folder / f"{compression}.root"))
    for split, flush, end in itertools.product(SPLITS, FLUSHES, ["", "_open"]):
        name = f"split{split}_{flush}{end}"
        yield split, name, file.tree(name)


def readable(tree):
    return {branch["path"]: branch for branch in readable_branches(tree)}


def check(tree, path, formula):
    found = read(tree, path).to_list()
    for i in ENTRIES:
        assert found[i] == formula(i), (path, i)
    assert len(found) == len(ENTRIES)


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_members_of_objects(folder, compression):
    compared = 0
    for split, _, tree in trees(folder, compression):
        branches = readable(tree)
        for name, formula in OBJECTS.items():
            if split == 0:
                check(tree, name, formula)
                continue
            for member in formula(0):
                # The names of arrays go on with their dimensions.
                paths = [p for p in branches if p.split("[")[0] == f"{name}/{name}{member}"]
                for path in paths:
                    if any(other.startswith(f"{path}/") for other in branches):
                        continue  # a collection that was split: below
                    check(tree, path, lambda i, f=formula, m=member: f(i)[m])
                    compared += 1
    assert compared >= 25 * 12


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_branches_of_their_own(folder, compression):
    for split, _, tree in trees(folder, compression):
        for name, formula in WHOLE.items() | (SPLIT_OFF.items() if split == 0 else set()):
            check(tree, name, formula)


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_members_of_items_that_were_split_off(folder, compression):
    compared = 0
    for _, _, tree in trees(folder, compression):
        for path in readable(tree):
            parts = path.split("/")
            if parts[0] not in SPLIT_OFF or len(parts) != 2:
                continue
            member = parts[1].rsplit(".", 1)[-1]
            formula = SPLIT_OFF[parts[0]]

            def expected(i, formula=formula, member=member):
                value = formula(i)
                if isinstance(value, dict):
                    return value[member]
                return [item[member if member in item else FIELDS[member]] for item in value]

            check(tree, path, expected)
            compared += 1
    assert compared >= 7 * 12


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_split_clones_arrays(folder, compression):
    for split, _, tree in trees(folder, compression):
        if split == 0:
            continue
        for name in ("channel", "charge"):
            expected = [[hit(i * k)[name] for k in few(i)] for i in ENTRIES]
            assert read(tree, f"clones/clones.{name}").to_list() == expected
        expected = [[50] * len(few(i)) for i in ENTRIES]
        assert read(tree, "fourvectors/fourvectors.fE").to_list() == expected
        if "fourvectors/fourvectors.fP" in readable(tree):
            expected = [[vector3(i, k, 2) for k in few(i)] for i in ENTRIES]
            assert read(tree, "fourvectors/fourvectors.fP").to_list() == expected


@pytest.mark.parametrize("split", SPLITS)
def test_narrow_numbers_are_what_root_reads(folder, split):
    """Bit by bit, for what is read is not what was written."""
    lines = [json.loads(line) for line in (folder / "ranges.jsonl").read_text().splitlines()]
    assert len(lines) == len(ENTRIES)
    tree = core.File(str(folder / "none.root")).tree(f"split{split}_entries0")
    if split == 0:
        assert read(tree, "ranges.").to_list() == lines
        return
    for name in lines[0]:
        (path,) = (p for p in readable(tree) if p.split("[")[0] == f"ranges./ranges.{name}")
        assert read(tree, path).to_list() == [line[name] for line in lines], name


def test_pointers_to_what_is_not_certain_are_passed_over(folder):
    """Which objects are behind a TObject* or in a TList only the data say, and not for certain
    where other pointers are passed over (to axis labels); the members around them are read."""
    tree = core.File(str(folder / "zstd.root")).tree("split0_entries0")
    found = read(tree, "opaque.").to_list()
    for i in ENTRIES:
        assert (found[i]["before"], found[i]["after"]) == (i, -i)
        assert found[i]["histogram"]["TArrayF"] == [0, 0, i, 0, 0]
        assert not found[i].keys() & {"any", "list"}


def test_pointers_to_anything_are_what_the_data_say(folder):
    tree = core.File(str(folder / "zstd.root")).tree("split99_entries0")
    named = {"fName": b"name", "fTitle": b"title"}
    check(tree, "opaque./opaque.any", lambda i: named if i % 2 else None)
    check(tree, "opaque./opaque.list", lambda i: [{"fString": b"text"}] * (i % 3))


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_clones_arrays_that_were_stored_whole(folder, compression):
    """Member by member, which is ROOT's way where it can, and one object after another."""
    for split, _, tree in trees(folder, compression):
        check(tree, "one_by_one", lambda i: [track(i + k) for k in few(i)])
        check(tree, "never", lambda i: [])
        if split == 0:
            for name, formula in CLONES.items():
                check(tree, name, formula)


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_matrices(folder, compression):
    """The number of elements is a member of a base class, or follows from one."""
    for split, _, tree in trees(folder, compression):
        check(tree, "covariance", covariance)
        check(tree, "fits", lambda i: [fit(i + k) for k in few(i)])
        if split == 0:
            check(tree, "fit.", fit)
        else:
            for name in fit(0):
                check(tree, f"fit./fit.{name}", lambda i, name=name: fit(i)[name])


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_clones_arrays_that_are_members(folder, compression):
    for split, _, tree in trees(folder, compression):
        if split == 0:
            found = read(tree, "owner.").to_list()
            assert found == [
                {name: formula(i) for name, formula in OWNED.items()} | {"after": -i}
                for i in ENTRIES
            ]
        if split == 1:
            for name, formula in OWNED.items():
                check(tree, f"owner./owner.{name}", formula)


def test_classes_without_members(folder):
    """An object of such a class says nothing; a collection of them how many there are."""
    tree = core.File(str(folder / "zstd.root")).tree("split0_entries0")
    (branch,) = (b for b in tree.branches() if b["path"] == "nothing")
    assert branch["kind"] == "group"
    found = read(tree, "nothings")
    assert [len(entry) for entry in found] == [len(few(i)) for i in ENTRIES]


def test_ntuples(folder):
    file = core.File(str(folder / "zlib.root"))
    floats, doubles = file.tree("floats"), file.tree("doubles")
    assert read(floats, "b").to_list() == [i / 2 for i in ENTRIES]
    assert read(floats, "c").to_list() == [-i for i in ENTRIES]
    assert read(doubles, "a").to_list() == [i / 3 for i in ENTRIES]


def test_flushing_makes_the_baskets_that_it_should(folder):
    """So that what is above was read from the file, from the tree's record, and from both."""
    baskets = {}
    for _, name, tree in trees(folder, "none"):
        (branch,) = (b for b in tree.branches() if b["path"] == "counted")
        baskets[name] = branch["baskets"]
    assert baskets["split0_entries7"] > MANY_BASKETS > baskets["split0_entries0_open"]


@pytest.mark.slow
def test_more_than_two_gigabytes(root_program, tmp_path):
    """A branch of 2.3 GB, with baskets before and beyond 2 GB of a file."""
    if shutil.which("c++") is None:
        pytest.skip("ROOT needs a C++ compiler for the dictionaries")
    root_program("write_kinds.py", tmp_path, "big")
    tree = core.File(str(tmp_path / "big.root")).tree("t")
    assert tree.num_entries == 290_000
    assert (tmp_path / "big.root").stat().st_size > 3_000_000_000
    (branch,) = (b for b in tree.branches() if b["name"] == "values")
    assert branch["total_bytes"] > 2**31
    step = 10_000
    for start in range(0, tree.num_entries, step):
        numbers = np.arange(start, start + step)
        values = read(tree, "values", start, start + step).to_numpy()
        assert (values == numbers[:, None]).all()
        assert (read(tree, "number", start, start + step).to_numpy() == numbers).all()
