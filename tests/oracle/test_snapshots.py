"""Snapshots of every kind of column, read back by ROOT itself, by uproot and by treemill."""

import json
import math

import awkward as ak
import numpy as np
import pytest
import treemill as tm
import uproot

INTEGERS = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
NUMBERS = [*INTEGERS, "float32", "float64"]
NESTED = ["lists_of_lists", "lists_of_strings"]
LENGTHS = (700, 0, 1, 450)
CLUSTER = 200


def columns(entries, seed):
    """Of all kinds, by name."""
    random = np.random.default_rng(seed)
    counts = random.integers(0, 4, entries)
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    total = int(offsets[-1])

    def numbers(kind, size):
        if kind == "bool":
            return random.integers(0, 2, size) > 0
        if kind.startswith("float"):
            return random.normal(size=size).astype(kind)
        limits = np.iinfo(kind)
        made = random.integers(limits.min, limits.max, size, dtype=kind, endpoint=True)
        made[:2] = [limits.min, limits.max][: len(made[:2])]
        return made

    def lists(content):
        return ak.Array(
            ak.contents.ListOffsetArray(ak.index.Index64(offsets), ak.to_layout(content))
        )

    def arrays(kind, *shape):
        flat = numbers(kind, int(np.prod(shape)))
        return ak.from_numpy(flat.reshape(shape), regulararray=True)

    words = ["", "a", "Zürich", "x" * 300]
    made = {kind: numbers(kind, entries) for kind in [*NUMBERS, "bool"]}
    made |= {f"V_{kind}": lists(numbers(kind, total)) for kind in [*NUMBERS, "bool"]}
    made["text"] = ak.Array([words[i % 4] for i in range(entries)] or ["", *words][:0])
    if not entries:
        made["text"] = ak.Array(["a"])[:0]
    made["triple"] = arrays("float32", entries, 3)
    made["matrix"] = arrays("int16", entries, 2, 3)
    made["W_triple"] = lists(arrays("float64", total, 3))
    inner = ak.unflatten(np.arange(2 * total, dtype="i4"), np.full(total, 2))
    made["lists_of_lists"] = lists(inner if total else ak.Array([[np.int32(1)]])[:0])
    text = ak.Array([words[i % 3] for i in range(total)]) if total else ak.Array(["a"])[:0]
    made["lists_of_strings"] = lists(text)
    return made


EXPRESSIONS = {
    "first": "V_float32[0]",
    "first_integer": "V_int16[0]",
    "first_unsigned": "V_uint32[0]",
    "some": "V_int64[V_float64 > 0]",
    "sum": "sum(V_float32)",
}


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """Files of several clusters, one without entries, and their columns."""
    folder = tmp_path_factory.mktemp("source")
    paths, parts = [], []
    for number, entries in enumerate(LENGTHS):
        made = columns(entries, number)
        path = str(folder / f"{number}.root")
        with uproot.recreate(path) as file:
            whole = ak.zip(made, depth_limit=1)
            tree = file.mkrntuple("Events", whole.layout.form)
            for start in range(0, entries, CLUSTER):
                tree.extend(whole[start : start + CLUSTER])
        paths.append(path)
        parts.append(whole)
    return paths, ak.concatenate(parts)


WHERE = {"all": "int32 != int32 + 1", "half": "float64 > 0", "none": "float64 > 1e9"}


@pytest.fixture(scope="module")
def written(source, root_program, tmp_path_factory):
    """Folder of snapshots, with what ROOT reads of each."""
    paths, truth = source
    folder = tmp_path_factory.mktemp("snapshots")
    events = tm.dataset(paths, tree="Events")
    for kind in ("ttree", "rntuple"):
        names = [n for n in truth.fields if kind == "rntuple" or n not in NESTED]
        wanted = {name: name for name in names} | EXPRESSIONS
        booked = [
            events.filter(where).snapshot(str(folder / f"{kind}-{name}.root"), wanted, format=kind)
            for name, where in WHERE.items()
        ]
        for workers, booking in zip((1, 2, 2), booked, strict=True):
            with tm.connect(workers=workers) as session:
                session.run(booking, progress=False)
    for number, codec in enumerate([None, "zlib", "lzma:3", "lz4", "zstd:9"]):
        path = str(folder / f"codec{number}.root")
        tm.run(events.snapshot(path, ["V_float32", "text", "uint8"], compression=codec))
    root_program("read_snapshots.py", folder)
    return folder


@pytest.fixture(scope="module")
def frames(written, root_program):
    """The same folder, with what RDataFrame reads."""
    root_program("read_snapshots.py", written, "frames")
    return written


def expected(source, where):
    truth = source[1]
    if where != "all":
        truth = truth[truth.float64 > (0 if where == "half" else 1e9)]
    made = {name: truth[name].to_list() for name in truth.fields}
    first = [each[0] if each else math.nan for each in made["V_float32"]]
    made["first"] = first
    made["first_integer"] = [each[0] if each else -(2**15) for each in made["V_int16"]]
    made["first_unsigned"] = [each[0] if each else 2**32 - 1 for each in made["V_uint32"]]
    made["some"] = [
        [i for i, x in zip(*pair, strict=True) if x > 0]
        for pair in zip(made["V_int64"], made["V_float64"], strict=True)
    ]
    made["sum"] = [math.fsum(each) for each in made["V_float32"]]
    return made


def flat(values):
    for value in values:
        if isinstance(value, list):
            yield from flat(value)
        else:
            yield value


def same(name, found, wanted):
    if name in ("first", "sum"):
        np.testing.assert_allclose(found, wanted, 1e-12)
    else:
        assert found == wanted, name


def check(columns, kind, wanted):
    """What ROOT reads; trees keep no dimensions."""
    for name, values in columns.items():
        if name not in wanted:
            assert name[0] == "n", name  # a counter
            continue
        if kind == "ttree" and name in ("matrix", "W_triple"):
            wanted[name] = [list(flat(each)) for each in wanted[name]]
        same(name, values, wanted[name])


@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize("kind", ["ttree", "rntuple"])
def test_root_reads_every_kind(source, written, kind, where):
    found = json.loads((written / f"{kind}-{where}.json").read_text())
    wanted = expected(source, where)
    assert found["entries"] == len(wanted["int8"])
    columns = found["columns"]
    if kind == "rntuple":  # letters, in Python
        columns["uint8"] = [*map(ord, columns["uint8"])]
        columns["int8"] = [(ord(x) + 128) % 256 - 128 for x in columns["int8"]]
    check(columns, kind, wanted)
    assert set(wanted) - set(NESTED if kind == "ttree" else ()) <= set(columns)
    for name, items in found["drawn"].items():
        # Drawn as doubles; ROOT takes lists of Char_t for text.
        if name in wanted and name not in ("text", "V_int8"):
            rounding = 1e-12 if name == "sum" else 0
            np.testing.assert_allclose(items, np.array([*flat(wanted[name])], "f8"), rounding)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["ttree", "rntuple"])
def test_rdataframe_reads_every_kind(source, frames, kind):
    columns = json.loads((frames / f"{kind}-half.frame.json").read_text())
    wanted = expected(source, "half")
    check(columns, kind, wanted)
    lacks = {"matrix", "triple", "W_triple"} if kind == "rntuple" else {*NESTED, "W_triple"}
    assert set(wanted) - lacks <= set(columns)


@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize("kind", ["ttree", "rntuple"])
def test_uproot_and_treemill_read_every_kind(source, written, kind, where):
    path = str(written / f"{kind}-{where}.root")
    wanted = expected(source, where)
    theirs = uproot.open(path)["Events"].arrays()
    ours = tm.dataset(path).arrays()
    for name in ours.fields:
        if name not in wanted:
            continue
        same(name, ak.drop_none(ours[name]).to_list(), wanted[name])
        same(name, ak.drop_none(theirs[name]).to_list(), wanted[name])
    names = set(wanted) - (set(NESTED) if kind == "ttree" else set())
    assert names <= set(ours.fields)
    if wanted["int8"]:
        for name in NUMBERS:
            assert str(ours[name].type).endswith(f"* {name}"), "types are kept"


@pytest.mark.parametrize(("number", "code"), list(enumerate([0, 101, 203, 404, 509])))
def test_compressions(source, written, number, code):
    found = json.loads((written / f"codec{number}.json").read_text())
    wanted = expected(source, "all")
    assert found["compression"] == code
    assert found["drawn"]["V_float32"] == [*flat(wanted["V_float32"])]


@pytest.mark.parametrize("name", NESTED)
def test_what_a_tree_cannot_hold_is_refused_by_name(source, tmp_path, name):
    events = tm.dataset(source[0], tree="Events")
    booked = events.snapshot(str(tmp_path / "x.root"), ["int8", name])
    with pytest.raises(tm.UnsupportedError, match=rf"{name}, a list of .*parquet.*rntuple"):
        tm.run(booked, progress=False)
    assert list(tmp_path.iterdir()) == []
