"""RNTuples that real ROOT writes during the run (`root/ntuples.C`): every value of every field
beside what RNTupleReader reads, in every way to write.
"""

import json
import random

import numpy as np
import pyarrow as pa
import pytest
import treemill as tm
import treemill._core as core
from treemill.errors import FormatError, UnsupportedError

from tests.raising import raises

from .root.write_ntuples import WAYS

MANY = 100
"""Fields, at least, that each file has."""


# Field -> what makes both sides alike: sets are in the order of a hash table in memory, and a
# pointer is a list of none or one, as uproot has it.
AS_ROOT = {
    "unordered_set": lambda values: [sorted(map(repr, x)) for x in values],
    "unordered_map": lambda values: [sorted(map(repr, x)) for x in values],
    "pointer": lambda values: [x if isinstance(x, list) else [x] * (x is not None) for x in values],
}
AS_ROOT["pointer_class"] = AS_ROOT["pointer"]


@pytest.fixture(scope="module")
def folder(made_by_root):
    return made_by_root("ntuples")


def expected(folder, way):
    """Number of entries, and the values by field."""
    first, *fields = map(json.loads, (folder / f"{way}.json").read_text().splitlines())
    return first["entries"], {field["name"]: field["values"] for field in fields}


def plain(value):
    """As JSON has it."""
    match value:
        case bytes():
            return value.decode()
        case dict():
            return {name: plain(one) for name, one in value.items()}
        case list() | tuple():
            return [plain(one) for one in value]
    return value


def difference(got, want, where=""):
    """The first place where they differ, numbers to the bit, or None."""
    if isinstance(want, list) and isinstance(got, list):
        if len(got) != len(want):
            return f"{where} has {len(got)} items, not {len(want)}"
        pairs = ((f"{where}[{i}]", *both) for i, both in enumerate(zip(got, want, strict=True)))
    elif isinstance(want, dict) and isinstance(got, dict):
        if got.keys() != want.keys():
            return f"{where} has {list(got)}, not {list(want)}"
        pairs = ((f"{where}.{name}", got[name], want[name]) for name in want)
    elif isinstance(want, float) and isinstance(got, float):
        same = np.float64(got).tobytes() == np.float64(want).tobytes() or (got != got) & (
            want != want
        )
        return None if same else f"{where} {got!r}, not {want!r}"
    else:
        return None if (type(got), got) == (type(want), want) else f"{where} {got!r}, not {want!r}"
    return next((found for pair in pairs if (found := difference(pair[1], pair[2], pair[0]))), None)


def stored(tree, names, start, stop):
    """The Arrow columns."""
    columns = tree.read(names, start, stop)
    return {name: pa.array(column) for name, column in zip(names, columns, strict=True)}


def bits(array):
    """All that an array holds, so that NaN equals itself."""
    return pa.record_batch([array], ["x"]).serialize().to_pybytes()


CODECS = {"zlib", "lzma", "lz4"}
"""test_root_written reads by each codec, and tiny-clusters are packed by lz4."""


@pytest.mark.parametrize(
    "way",
    [pytest.param(way, marks=[pytest.mark.slow] * (way in CODECS)) for way in WAYS],
)
def test_equals_root(folder, way):
    events = tm.dataset(str(folder / f"{way}.root"))
    entries, fields = expected(folder, way)
    assert events.num_entries == entries
    assert len(fields) >= MANY
    assert {n for n, b in events.branches.items() if b.supported and not b.is_member} == set(fields)
    wrong = []
    for name, values in fields.items():
        got = plain(events.arrays(name)[name].to_list())
        if found := difference(AS_ROOT.get(name, list)(got), AS_ROOT.get(name, list)(values), name):
            wrong.append(found)
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("way", ["zstd", "none"])
def test_ranges(folder, way):
    """Across clusters, pages and the entry before which the model was extended."""
    tree = core.File(str(folder / f"{way}.root")).tree("types")
    names = [b["path"] for b in tree.branches() if b["supported"]]
    whole = {n: x.to_pylist() for n, x in stored(tree, names, 0, tree.num_entries).items()}
    for start, stop in ((0, 1), (99, 101), (149, 151), (7, 393), (200, 200), (399, 400)):
        part = stored(tree, names, start, stop)
        wrong = [n for n in names if repr(part[n].to_pylist()) != repr(whole[n][start:stop])]
        assert not wrong, (start, stop)


def test_members_are_read_alone(folder):
    events = tm.dataset(str(folder / "zstd.root"))
    _, fields = expected(folder, "zstd")
    for name, of in (("derived.name", lambda d: d["name"]), ("derived.base", lambda d: d["base"])):
        assert plain(events.arrays(name)[name].to_list()) == [of(d) for d in fields["derived"]]
    names = plain(events.arrays("derived_list.name")["derived_list.name"].to_list())
    assert names == [[one["name"] for one in entry] for entry in fields["derived_list"]]


def test_what_the_streamer_wrote_is_refused_by_name(folder):
    tree = core.File(str(folder / "zstd.root")).tree("types")
    (field,) = (b for b in tree.branches() if b["name"] == "streamed")
    assert not field["supported"]
    assert "ntuples::Streamed" in field["reason"]
    with raises(UnsupportedError, about="streamed"):
        tree.read(["streamed"], 0, 1)


@pytest.mark.parametrize("way", ["zstd", pytest.param("lz4", marks=pytest.mark.slow), "none"])
def test_a_flipped_byte_is_seen(folder, way, tmp_path):
    """Pages and metadata have checksums, so values are right or refused."""
    original = (folder / f"{way}.root").read_bytes()
    tree = core.File(str(folder / f"{way}.root")).tree("types")
    names = [b["path"] for b in tree.branches() if b["supported"] and not b["is_member"]]
    right = {name: bits(x) for name, x in stored(tree, names, 0, tree.num_entries).items()}
    dice = random.Random(way)
    refused = 0
    for _ in range(40):
        at = dice.randrange(len(original))
        damaged = tmp_path / "damaged.root"
        damaged.write_bytes(
            original[:at] + bytes([original[at] ^ 1 << dice.randrange(8)]) + original[at + 1 :]
        )
        seen = 0
        try:
            opened = core.File(str(damaged)).tree("types")
        except FormatError:
            opened, seen = None, 1
        for name in names if opened else ():
            try:
                found = stored(opened, [name], 0, tree.num_entries)[name]
                assert bits(found) == right[name], (at, name)
            except FormatError:
                seen += 1
        refused += seen > 0
    assert refused >= 25
