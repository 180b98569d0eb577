"""Whatever a user gives, what comes back is a value or one of our errors. A fuzz of arguments: each
call with each odd value in each place that takes one, and files that are not what they seem."""

import gzip
import math
from contextlib import suppress

import hist
import numpy as np
import pytest
import treemill as tm
from hypothesis import given
from hypothesis import strategies as st
from treemill.chain.location import expand
from treemill.errors import QueryError, SourceError, TreemillError, UnsupportedError
from treemill.machine.json_document import parsed, unpacked, whole
from written import write

ODD = [
    *(True, -1, 0, 2.5, math.nan, math.inf, 2**80, -(2**80), 1j),
    *("", " ", "a\0b", "m\udcb5", "[", "(", "'", "a:b", "../x", "/", "@", "*", "{}"),
    *([], {}, (), [None], {"a": None}, {1: 2}, (1, 2, 3), ("a", "b"), b"x", object(), len),
    *(range(0, 10, 3), slice(None, None, 2), (1.5, 2), ("a", 2), np.arange(3), np.float64("nan")),
]
"""Values that few arguments take."""

CALLS = {
    "dataset": lambda at, x: tm.dataset(x),
    "tree": lambda at, x: tm.dataset(at["file"], tree=x),
    "metadata": lambda at, x: tm.dataset(at["file"], metadata=x),
    "missing": lambda at, x: tm.dataset(at["file"], missing=x),
    "missing x": lambda at, x: tm.dataset(at["file"], missing={"none": x}).arrays("none"),
    "fileset": lambda at, x: tm.fileset(x),
    "lumi_mask": lambda at, x: tm.lumi_mask(x),
    "load": lambda at, x: tm.load(x),
    "arrays": lambda at, x: at["events"].arrays(x),
    "start": lambda at, x: at["events"].arrays("x", x),
    "stop": lambda at, x: at["events"].arrays("x", 0, x),
    "filter": lambda at, x: at["events"].filter(x).count().value,
    "head": lambda at, x: at["events"].head("x", x),
    "select": lambda at, x: at["events"].select_entries(x).num_entries,
    "hist": lambda at, x: at["events"].hist(x).value,
    "weight": lambda at, x: at["events"].hist("x", bins=(5, 0, 5), weight=x).value,
    "entries": lambda at, x: tm.run(at["events"].count(), entries=x, progress=False),
    "max_files": lambda at, x: tm.run(at["events"].count(), max_files=x, progress=False),
    "on_error": lambda at, x: tm.run(at["events"].count(), on_error=x, progress=False),
    "workers": lambda at, x: tm.connect(workers=x).close(),
    "mode": lambda at, x: tm.connect(mode=x).close(),
    "memory": lambda at, x: tm.connect(mode="processes", memory=x).close(),
    "patience": lambda at, x: tm.connect(workers=1, patience=x).close(),
    "trace records": lambda at, x: tm.connect(workers=1, trace=x).close(),
}


@pytest.fixture(scope="module")
def at(core, tmp_path_factory):
    folder = tmp_path_factory.mktemp("odd")
    file = write(folder / "a.root", "t", x=np.arange(5, dtype="f8"), n=np.arange(5))
    return {"folder": folder, "file": file, "events": tm.dataset(file)}


@pytest.fixture(autouse=True)
def somewhere_else(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.filterwarnings("ignore")
def test_odd_values_give_our_errors(at, name):
    wrong = {}
    for odd in ODD:
        try:
            CALLS[name](at, odd)
        except TreemillError:
            continue
        except Exception as error:
            wrong[repr(odd)] = f"{type(error).__name__}: {error}"
    assert not wrong


WRITES = {
    "save": lambda at, x: tm.save({"n": 1}, x),
    "checkpoint": lambda at, x: tm.run(at["events"].count(), checkpoint=x, progress=False),
    "snapshot": lambda at, x: tm.run(at["events"].snapshot(x, ["x"]), progress=False),
    "cache": lambda at, x: setattr(tm.cache, "directory", x),
    "FileOutput": lambda at, x: tm.FileOutput(x),
}


@pytest.mark.parametrize("name", WRITES)
@pytest.mark.filterwarnings("ignore")
def test_odd_targets_give_our_errors(at, name, tmp_path):
    (tmp_path / "file").write_text("x")
    (tmp_path / "folder.json").mkdir()
    wrong, folder = {}, tm.cache.directory
    below = [f"{tmp_path}/{each}" for each in ("file", "file/x.root", "file/x/y", "folder.json")]
    try:
        for odd in [*ODD, *below, "a\0b.root", "a\0b.json", "/proc/x.json", "/dev/null/x.root"]:
            if isinstance(odd, str) and odd in ("/", "../x"):
                continue  # folders that there are, and that are not the test's
            try:
                WRITES[name](at, odd)
            except TreemillError:
                continue
            except Exception as error:
                wrong[repr(odd)] = f"{type(error).__name__}: {error}"
    finally:
        tm.cache.directory = folder
    assert not wrong


DEEP = "[" * 100_000


@pytest.mark.parametrize("suffix", [".json", ".json.gz"])
@pytest.mark.parametrize("text", [DEEP, "", "{", "[1, 2", '{"a": ' * 50_000, "\xff", "null", "3"])
def test_documents_that_are_none(tmp_path, suffix, text):
    path = tmp_path / f"d{suffix}"
    data = text.encode("latin1")
    path.write_bytes(gzip.compress(data) if suffix.endswith(".gz") else data)
    for reads in (tm.lumi_mask, tm.fileset, lambda path: tm.dataset(path).num_entries):
        with pytest.raises(TreemillError):
            reads(str(path))
    with suppress(TreemillError):
        tm.load(str(path))


def test_what_unpacks_to_too_much_is_not_unpacked(tmp_path):
    packed = gzip.compress(bytes(10_000_000))
    with pytest.raises(ValueError, match="unpacks to more"):
        unpacked(packed, 1_000_000)
    with pytest.raises(ValueError, match="unpacks to more"):
        unpacked(gzip.compress(bytes(600_000)) * 2, 1_000_000)
    with pytest.raises(ValueError, match="more than"):
        whole((tmp_path / "a").open("w+b"), -1)
    assert unpacked(gzip.compress(b"ab") + gzip.compress(b"c") + b"\0\0") == b"abc"
    assert parsed(gzip.compress(b"[1]"), "a.gz") == [1]


@given(st.binary(max_size=60), st.integers(0, 40))
def test_packed_bytes_that_are_damaged_are_said_to_be(data, cut):
    packed = gzip.compress(b"some text" * 5)
    for damaged in (data, packed[:cut], packed[:cut] + data, packed + data):
        with suppress(ValueError):
            unpacked(damaged)


@pytest.mark.filterwarnings("ignore")
def test_devices_have_no_end(tmp_path, monkeypatch):
    monkeypatch.setattr("treemill.tree.source._MOST_CONTENT", 1 << 20)
    monkeypatch.setattr("treemill.machine.json_document.whole.__defaults__", (1 << 20,))
    (tmp_path / "endless.json").symlink_to("/dev/zero")
    for reads in (tm.dataset, tm.fileset, tm.lumi_mask, tm.load):
        with pytest.raises(TreemillError, match="more than"):
            reads(str(tmp_path / "endless.json"))
    with pytest.raises(SourceError, match="more than"):
        expand("@/dev/zero")


def test_a_list_has_so_many_lines(tmp_path, monkeypatch):
    monkeypatch.setattr("treemill.chain.location._MOST_LINES", 10)
    (tmp_path / "l.txt").write_text("a.root\n" * 11)
    with pytest.raises(SourceError, match="11 lines"):
        expand(f"@{tmp_path}/l.txt")


def test_three_types_of_which_two_do_not_go_together(core, tmp_path):
    files = [
        write(tmp_path / f"{kind}.root", "t", x=np.arange(3).astype(kind))
        for kind in ("i4", "f4", "i8")
    ]
    for several in (files, files[::-1], [files[0], *files]):
        with pytest.raises(UnsupportedError, match=r"float32 in .*f4\.root|int64 in .*i8\.root"):
            tm.dataset(several).arrays()


def test_text_that_is_not_utf8(core, tmp_path):
    import awkward as ak
    import uproot

    path = tmp_path / "a.root"
    with uproot.recreate(path, compression=None) as file:
        file.mktree("t", {"s": "string"}).extend({"s": ak.Array(["plain", "mQ", "plain"])})
    path.write_bytes(path.read_bytes().replace(b"mQ", b"m\xb5"))
    events = tm.dataset(str(path))
    with pytest.raises(QueryError, match="not UTF-8"):
        _ = events.hist("s", bins=hist.axis.StrCategory([], growth=True)).value
    found = events.hist("s", bins=hist.axis.StrCategory(["plain"])).value
    assert found.values().tolist() == [2]
