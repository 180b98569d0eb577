"""Whatever a user gives, what comes back is a value or one of our errors. A fuzz of arguments: each
call with each odd value in each place that takes one, and files that are not what they seem."""

import gzip
import inspect
import math
import os
import shutil
from contextlib import suppress

import hist
import numpy as np
import pytest
import treemill as tm
from hypothesis import given
from hypothesis import strategies as st
from treemill._system.files import parsed, unpacked, whole
from treemill.data.location import expand
from treemill.errors import QueryError, SourceError, TreemillError, UnsupportedError

from tests.python.written import write
from tests.raising import raises

ODD = [
    *(True, -1, 0, 2.5, math.nan, math.inf, 2**80, -(2**80), 1j),
    *("", " ", "a\0b", "m\udcb5", "[", "(", "'", "a:b", "../x", "/", "@", "*", "{}"),
    *([], {}, (), [None], {"a": None}, {1: 2}, (1, 2, 3), ("a", "b"), b"x", object(), len),
    *(range(0, 10, 3), slice(None, None, 2), (1.5, 2), ("a", 2), np.arange(3), np.float64("nan")),
]
"""Values that few arguments take."""

CALLS = {
    "dataset": lambda at, x: tm.dataset(x),
    "tree": lambda at, x: tm.dataset(at["file"], tree=x).num_entries,
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
    "vary": lambda at, x: at["events"].vary(x, {"up": "x + 1"}).sum("x").value,
    "several varied": lambda at, x: at["events"].vary(["x", x], {"up": "x"}).sum("x").value,
    "variations": lambda at, x: at["events"].vary("x", x).sum("x").value,
    "variation": lambda at, x: at["events"].vary("x", {"up": x}).sum("x").value,
    "tag": lambda at, x: at["events"].vary("x", keyed(x, "x + 1")).sum("x").value,
    "name of variations": lambda at, x: at["events"].vary("x", {"up": "x + 1"}, x).sum("x").value,
    "params": lambda at, x: at["events"].vary("x", {"up": "x + a"}, params=x).sum("x").value,
    "param": lambda at, x: at["events"].sum("x + a", params={"a": x}).value,
    "draw": lambda at, x: at["events"].draw(x),
    "draw where": lambda at, x: at["events"].draw("x", x),
    "draw option": lambda at, x: at["events"].draw("x", "", x),
    "draw bins": lambda at, x: at["events"].draw("x", bins=x),
    "draw range": lambda at, x: at["events"].draw("x", bins=5, range=x),
    "draw weight": lambda at, x: at["events"].draw("x", weight=x),
    "draw two": lambda at, x: at["events"].draw(["x", x]),
    "templates": lambda at, x: tm.templates(x, at["folder"] / "t.root"),
    "region": lambda at, x: tm.templates(keyed(x, {"p": at["hist"]}), at["folder"] / "t.root"),
    "template": lambda at, x: tm.templates({"r": {"p": x}}, at["folder"] / "t.root"),
    "pattern": lambda at, x: tm.templates(at["nested"], at["folder"] / "t.root", x),
    "levels": lambda at, x: tm.templates(at["nested"], at["folder"] / "t.root", levels=x),
    "rename": lambda at, x: tm.templates(at["nested"], at["folder"] / "t.root", rename=x),
    "negative": lambda at, x: tm.templates(at["nested"], at["folder"] / "t.root", negative=x),
    "empty": lambda at, x: tm.templates(at["nested"], at["folder"] / "t.root", empty=x),
    "address": lambda at, x: connected(x),
    "addresses": lambda at, x: connected([x, "tcp://127.0.0.1:1"]),
    "scheme": lambda at, x: connected(f"{x}://127.0.0.1:1"),
    "port": lambda at, x: connected(f"tcp://127.0.0.1:{x}"),
    "security": lambda at, x: connected("tcp://127.0.0.1:1", security=x),
    "silence": lambda at, x: connected("tcp://127.0.0.1:1", silence=x),
    "wait": lambda at, x: connected("tcp://127.0.0.1:1", wait=x),
    "keep": lambda at, x: connected("tcp://127.0.0.1:1", keep=x),
    "most": lambda at, x: connected("tcp://127.0.0.1:1", most=x),
    "on_host": lambda at, x: connected("tcp://127.0.0.1:1", on_host=x),
    "reach": lambda at, x: connected(["tcp://127.0.0.1:1"], reach=x),
    "start of workers": lambda at, x: tm.connect(mode="processes", start=x).close(),
    "entries": lambda at, x: tm.run(at["events"].count(), entries=x, progress=False),
    "max_files": lambda at, x: tm.run(at["events"].count(), max_files=x, progress=False),
    "on_error": lambda at, x: tm.run(at["events"].count(), on_error=x, progress=False),
    "workers": lambda at, x: tm.connect(workers=x).close(),
    "mode": lambda at, x: tm.connect(mode=x).close(),
    "memory": lambda at, x: tm.connect(mode="processes", memory=x).close(),
    "patience": lambda at, x: tm.connect(workers=1, patience=x).close(),
    "trace records": lambda at, x: tm.connect(workers=1, trace=x).close(),
}


def keyed(key, value):
    """A mapping of this key, if it can be one."""
    try:
        return {key: value}
    except TypeError:
        return {}


def connected(address, **options):
    """Connects to a cluster, none of which is there."""
    pytest.importorskip("distributed", reason="needs Dask: pip install 'treemill[cluster]'")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("treemill.backends.dask.pool._CONNECT", 0.05)
        tm.connect(address, **options).close()


@pytest.fixture(scope="module")
def at(core, tmp_path_factory):
    folder = tmp_path_factory.mktemp("odd")
    file = write(folder / "a.root", "t", x=np.arange(5, dtype="f8"), n=np.arange(5))
    events = tm.dataset(file)
    filled = events.hist("x", bins=(5, 0, 5)).value
    varied = events.vary("x", {"up": "x + 1"}).hist("x", bins=(5, 0, 5)).value
    nested = {"r": {"p": varied}}
    by_dataset = tm.fileset({"a": file}).hist("x", bins=(5, 0, 5)).value
    cuts = events.filter("x > 1", "one").report().value
    return {
        "folder": folder,
        "file": file,
        "events": events,
        "hist": filled,
        "nested": nested,
        "by_dataset": by_dataset,
        "cuts": cuts,
    }


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


_BELOW = ("file", "file/x.root", "file/x.json", "file/x.parquet", "file/x/y")
_FOLDERS = ("folder.json", "folder.root", "folder.h5", "folder.parquet")
WRITES = {
    "save": lambda at, x: tm.save({"n": 1}, x),
    "checkpoint": lambda at, x: tm.run(at["events"].count(), checkpoint=x, progress=False),
    "snapshot": lambda at, x: tm.run(at["events"].snapshot(x, ["x"]), progress=False),
    "cache": lambda at, x: setattr(tm.cache, "directory", x),
    "templates": lambda at, x: tm.templates(at["nested"], x),
    "trace": lambda at, x: tm.run(at["events"].count(), trace=x, progress=False),
    "FileOutput": lambda at, x: tm.FileOutput(x),
}


@pytest.mark.parametrize("name", WRITES)
@pytest.mark.filterwarnings("ignore")
def test_odd_targets_give_our_errors(at, name, tmp_path):
    (tmp_path / "file").write_text("x")
    for each in _FOLDERS:
        (tmp_path / each / "x").mkdir(parents=True)
    wrong, folder = {}, tm.cache.directory
    below = [f"{tmp_path}/{each}" for each in (*_BELOW, *_FOLDERS)]
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


COMMANDS = {
    "show": lambda at, x: ["show", x],
    "show names": lambda at, x: ["show", at["file"], x],
    "draw": lambda at, x: ["draw", x, "x"],
    "draw expression": lambda at, x: ["draw", at["file"], x],
    "where": lambda at, x: ["draw", at["file"], "x", "--where", x],
    "weight": lambda at, x: ["draw", at["file"], "x", "--weight", x],
    "bins": lambda at, x: ["draw", at["file"], "x", "--bins", x],
    "bins of two": lambda at, x: ["draw", at["file"], "x:n", "--bins", "5", "--bins", x],
    "missing": lambda at, x: ["draw", at["file"], "x", "--missing", x],
    "missing value": lambda at, x: ["draw", at["file"], "z", "--missing", f"z={x}"],
    "draw output": lambda at, x: ["draw", at["file"], "x", "-o", x],
    "verify": lambda at, x: ["dataset", "verify", x],
    "verify tree": lambda at, x: ["dataset", "verify", at["file"], "--tree", x],
    "verify output": lambda at, x: ["dataset", "verify", at["file"], "--output", x],
    "demo folder": lambda at, x: ["demo", "--files", "1", "--events", "10", "--folder", x],
    "demo files": lambda at, x: ["demo", "--files", x, "--events", "-1"],
    "generate": lambda at, x: ["bench", "generate", "--files", "1", "--events", "10", x],
    "samples": lambda at, x: ["samples", "--scale", "0.001", x],
    "samples scale": lambda at, x: ["samples", "--scale", x, "/proc/none"],
    "samples seed": lambda at, x: ["samples", "--seed", x, "--scale", "0.001", "/proc/none"],
    "trace report": lambda at, x: ["trace", "report", x],
    "trace of no trace": lambda at, x: ["trace", "report", at["file"], "--most", x],
    "cluster": lambda at, x: ["cluster", "check", "--timeout", "0.05", x],
    "cluster timeout": lambda at, x: ["cluster", "check", "--timeout", x, "tcp://127.0.0.1:x"],
    "command": lambda at, x: [x],
    "option": lambda at, x: [f"--{x}"],
}
WORDS = [
    *("", " ", "-", "--", "-1", "0", "nan", "inf", "1e400", str(2**80)),
    *("1,2", "1,nan,inf", "5,5,5", "x>>h(", ">>", "=", "a=", "=1"),
    *("m\udcb5", "m\udcb5.root", "é.root", "[", "[a", "(", "'", "a:b", ":", "x:x:x:x:x", "@", "@a"),
    *("*", "**", "~nobody", "~nobody/x.json", "{}", "[]", "a" * 300, "a" * 300 + ".root", "a\nb"),
    *("x://y", "root://", "http://[", "file://", "file:///none/x.root", "/dev/null", "/dev/null/x"),
    *("/proc/x.json", "/proc/x.root", "/proc/x.png", "/", ".", ".."),
    *("FILE", "FILE/x.root", "FILE/x.json", "FILE/x.png", "FOLDER", "FOLDER/folder.json"),
    *("FOLDER/folder.root", "FOLDER/folder.png"),
]
"""Words of a command line; FILE and FOLDER are some that there are."""
PATHS = ["http://[", "root://h//x", "/dev/null", "/dev/null/x", "/proc/x", "FILE", "FILE/x"]
"""Folders that cannot be made: what is written there takes long."""


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.filterwarnings("ignore")
def test_odd_words_of_commands_give_messages(at, name, tmp_path, monkeypatch, capsys):
    """A command ends by itself, with a message if it failed, and not by an error of Python's."""
    from treemill.cli.main import main

    # Pictures take long, and are tested with `draw`.
    monkeypatch.setattr("treemill.cli.demo._draw", lambda *given: None)
    (tmp_path / "file").write_text("x")
    for ending in ("json", "root", "png"):
        (tmp_path / "within" / f"folder.{ending}" / "x").mkdir(parents=True)
    wrong = {}
    for odd in PATHS if name in ("samples", "demo folder", "generate") else WORDS:
        word = odd.replace("FILE", f"{tmp_path}/file").replace("FOLDER", f"{tmp_path}/within")
        monkeypatch.setattr("sys.argv", ["treemill", *COMMANDS[name](at, word)])
        try:
            main()
        except SystemExit as end:
            said = capsys.readouterr()
            if end.code not in (0, 1, 2) or (end.code and not (said.err.strip() or said.out)):
                wrong[odd] = f"exit status {end.code}, {said.err!r}"
            elif "Traceback" in said.err:
                wrong[odd] = said.err
        except BaseException as error:
            wrong[odd] = f"{type(error).__name__}: {error}"
    assert not wrong


def test_names_of_files_that_are_not_utf8(at, tmp_path):
    """They can be written, and not be read by the core."""
    named = os.fsdecode(bytes(tmp_path) + b"/m\xb5.root")
    shutil.copyfile(at["file"], named)
    for files in (named, str(tmp_path / "*.root")):
        with raises(QueryError, said="not UTF-8"):
            _ = tm.dataset(files).num_entries
    os.rename(named, tmp_path / "a.root")
    tm.run(at["events"].snapshot(named, ["x"]), progress=False)
    (tmp_path / "link.root").symlink_to(named)
    assert tm.dataset(tmp_path / "link.root").num_entries == 5


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
    monkeypatch.setattr("treemill.data.source._MOST_CONTENT", 1 << 20)
    monkeypatch.setattr("treemill._system.files.whole.__defaults__", (1 << 20,))
    (tmp_path / "endless.json").symlink_to("/dev/zero")
    for reads in (tm.dataset, tm.fileset, tm.lumi_mask, tm.load):
        with raises(TreemillError, said="more than"):
            reads(str(tmp_path / "endless.json"))
    with raises(SourceError, said="more than"):
        expand("@/dev/zero")


def test_a_list_has_so_many_lines(tmp_path, monkeypatch):
    monkeypatch.setattr("treemill.data.location._MOST_LINES", 10)
    (tmp_path / "l.txt").write_text("a.root\n" * 11)
    with raises(SourceError, said="11 lines"):
        expand(f"@{tmp_path}/l.txt")


def in_itself():
    endless, mapping = [], {}
    endless.append(endless)
    mapping["a"] = mapping
    deep = []
    for _ in range(5000):
        deep = [deep]
    return [endless, mapping, deep]


@pytest.mark.parametrize("number", range(3))
def test_arguments_that_have_themselves_in_them(tmp_path, number):
    odd = in_itself()[number]
    for call in (
        tm.run,
        tm.dataset,
        tm.fileset,
        lambda x: tm.save(x, tmp_path / "a.json"),
        lambda x: tm.save({"a": x}, tmp_path / "a.root"),
        lambda x: tm.templates(x, tmp_path / "a.root", name="{a}/{b}"),
    ):
        with pytest.raises(TreemillError):
            call(odd)


def test_recursion_of_users_is_theirs():
    """What treemill calls of them, and it is not about an argument."""

    def forever(x):
        return forever(x)

    class Endless(dict):
        def __iter__(self):
            return forever(self)

        items = keys = values = __iter__

    with pytest.raises(RecursionError):
        tm.run(Endless(a=1))


def test_three_types_of_which_two_do_not_go_together(core, tmp_path):
    files = [
        write(tmp_path / f"{kind}.root", "t", x=np.arange(3).astype(kind))
        for kind in ("i4", "f4", "i8")
    ]
    for several in (files, files[::-1], [files[0], *files]):
        with raises(UnsupportedError, said="float32 in f4 root int64 in i8 root"):
            tm.dataset(several).arrays()


def test_text_that_is_not_utf8(core, tmp_path):
    import awkward as ak
    import uproot

    path = tmp_path / "a.root"
    with uproot.recreate(path, compression=None) as file:
        file.mktree("t", {"s": "string"}).extend({"s": ak.Array(["plain", "mQ", "plain"])})
    path.write_bytes(path.read_bytes().replace(b"mQ", b"m\xb5"))
    events = tm.dataset(str(path))
    with raises(QueryError, said="not UTF-8"):
        _ = events.hist("s", bins=hist.axis.StrCategory([], growth=True)).value
    found = events.hist("s", bins=hist.axis.StrCategory(["plain"])).value
    assert found.values().tolist() == [2]


PUBLIC_CALLS = [
    lambda events, **options: tm.connect(**options),
    lambda events, **options: tm.dataset("a.root", **options),
    lambda events, **options: tm.fileset({"a": "a.root"}, **options),
    lambda events, **options: tm.run(events.count(), **options),
    lambda events, **options: tm.save({}, "a.json", **options),
    lambda events, **options: tm.templates({}, "a.root", **options),
    lambda events, **options: tm.load("a.json", **options),
    lambda events, **options: tm.plot(events, **options),
    lambda events, **options: tm.model("a.json", **options),
    lambda events, **options: tm.corrections("a.json", **options),
    lambda events, **options: tm.kernel(**options),
    lambda events, **options: events.hist("MET_pt", bins=(1, 0, 1), **options),
    lambda events, **options: events.filter("nMuon > 1").count(**options),
    lambda events, **options: events.snapshot("a.root", **options),
    lambda events, **options: events.arrays("MET_pt", **options),
]


@pytest.mark.parametrize("call", PUBLIC_CALLS)
def test_an_option_that_there_is_not_is_a_query_error(events, call):
    with raises(tm.QueryError, about="colour"):
        call(events, colour="red")


def test_an_option_that_is_misspelled_is_named(events):
    with pytest.raises(tm.QueryError) as caught:
        events.hist("MET_pt", bims=(1, 0, 1))
    assert caught.value.suggestions == ("bins",)


@pytest.mark.parametrize(
    "call",
    [
        lambda events: events.snapshot("a.root", "MET_pt", format=3),
        lambda events: tm.plot(events.hist("MET_pt", bins=(1, 0, 1)).value, ratio="zz"),
        lambda events: tm.cut_table(events.filter("1", "one").report().value, show="zz"),
    ],
)
def test_a_value_that_an_option_does_not_have_is_a_query_error(events, call):
    with pytest.raises(tm.QueryError):
        call(events)


# Options of all public functions and methods, each with each odd value; those of connect are above.

GIVEN = {
    "arrays": ["x"],
    "approx_quantiles": ["x", 0.5],
    "define": ["made", "x"],
    "filter": ["x > 1"],
    "profile": ["x"],
    "redefine": ["x", "x + 1"],
    "snapshot": ["s.root"],
    "vary": ["x", {"up": "x + 1"}],
}
NEEDED = {
    "hist": {"bins": 5},
    "profile": {"sample": "n", "bins": (5, 0, 5)},
    "draw": {"option": "goff"},
    "run": {"progress": False},
    "lumi_sections": {"run": "n", "luminosity_block": "n"},
}
WITHOUT_EXPRESSION = {"count", "report", "explain", "io_report", "lumi_sections", "with_params"}
OF_OTHER_TESTS = {"add_friend", "define_per_file", "select_entries", "show"}
FUNCTIONS = {
    "dataset": (tm.dataset, lambda at, **o: tm.dataset(at["file"], **o)),
    "fileset": (tm.fileset, lambda at, **o: tm.fileset({"a": at["file"]}, **o)),
    "run": (tm.run, lambda at, **o: tm.run(at["events"].count(), **o)),
    "run a selector": (
        tm.run,
        lambda at, **o: tm.run(sizes, at["events"], **{"progress": False, **o}),
    ),
    "plot": (tm.plot, lambda at, **o: tm.plot({"a": at["hist"], "b": at["hist"]}, **o)),
    "stack": (
        tm.plot.stack,
        lambda at, **o: tm.plot.stack({"a": at["hist"], "data": at["hist"]}, **o),
    ),
    "show histogram": (tm.show, lambda at, **o: tm.show(at["hist"], **o)),
    "cut_table": (tm.cut_table, lambda at, **o: tm.cut_table(at["cuts"], **o)),
    "templates": (
        tm.templates,
        lambda at, **o: tm.templates(at["nested"], at["folder"] / "t.root", **o),
    ),
    "lumi_mask": (tm.lumi_mask, lambda at, **o: tm.lumi_mask({"1": [[1, 2]]}, **o)),
    "batched": (tm.batched, lambda at, **o: tm.batched(sizes, **o)),
    "model": (tm.model, lambda at, **o: tm.model("none.json", **o)),
    "FileOutput": (tm.FileOutput, lambda at, **o: tm.FileOutput("o.root", **o)),
    "Variations.plot": (tm.Variations.plot, lambda at, **o: at["nested"]["r"]["p"].plot(**o)),
    "Variations.to_hist": (
        tm.Variations.to_hist,
        lambda at, **o: at["nested"]["r"]["p"].to_hist(**o),
    ),
    "ByDataset.stack": (tm.ByDataset.stack, lambda at, **o: at["by_dataset"].stack(**o)),
}


def sizes(chunk):
    return {"n": len(chunk)}


def computed(found):
    if isinstance(found, tm.Booking):
        return found.value
    return found.count().value if isinstance(found, tm.Node) else found


def method(name):
    def call(at, **options):
        given = [] if name in WITHOUT_EXPRESSION else GIVEN.get(name, ["x"])
        return computed(getattr(at["events"], name)(*given, **options))

    return call


for name in dir(tm.Dataset):
    member = inspect.getattr_static(tm.Dataset, name)
    if not name.startswith("_") and inspect.isfunction(member) and name not in OF_OTHER_TESTS:
        FUNCTIONS[name] = member, method(name)
PICTURES = {"plot", "stack", "Variations.plot", "ByDataset.stack"}
_DRAWN = 3
"""Texts that are good titles of one picture: of more the test learns nothing, and each is drawn."""
OPTIONS = {}
for name, (function, _) in FUNCTIONS.items():
    positional = len(GIVEN.get(name, ["x"])) + 1 if hasattr(tm.Dataset, name) else 0
    taken = [*inspect.signature(function).parameters.values()][positional:]
    if name in WITHOUT_EXPRESSION:
        taken = [*inspect.signature(function).parameters.values()][1:]
    for each in taken:
        is_picture = each.name == "path"  # most values are names: dozens would be drawn
        is_option = each.default is not each.empty and each.kind is not each.POSITIONAL_ONLY
        if is_option and not is_picture:
            OPTIONS[f"{name} {each.name}"] = name, each.name


@pytest.mark.parametrize("which", OPTIONS)
@pytest.mark.filterwarnings("ignore")
def test_odd_values_of_options_give_query_errors(at, which):
    name, option = OPTIONS[which]
    wrong, texts = {}, 0
    for odd in ODD:
        if isinstance(odd, str) and texts == _DRAWN:
            continue
        try:
            FUNCTIONS[name][1](at, **{**NEEDED.get(name, {}), option: odd})
            texts += isinstance(odd, str) and name in PICTURES
        except TreemillError:
            continue
        except Exception as error:
            wrong[repr(odd)] = f"{type(error).__name__}: {error}"
    assert not wrong


@pytest.mark.parametrize(
    "call",
    [
        lambda at: tm.run(at["events"].count(), progress="zz"),
        lambda at: tm.run(at["events"].count(), feedback=3),
        lambda at: tm.run(at["events"].count(), feedback=""),
        lambda at: tm.run(at["events"].count(), seed="zz"),
        lambda at: tm.run(at["events"].count(), monitor="zz"),
        lambda at: tm.run(at["events"].count(), second_runs="zz"),
        lambda at: tm.dataset(at["file"], name=5),
        lambda at: tm.connect("tcp://127.0.0.1:1", keep="a"),
        lambda at: tm.connect(keep="a"),
        lambda at: tm.connect(security=object()),
        lambda at: tm.FileOutput("a.root", as_dataset="zz"),
        lambda at: tm.plot(at["hist"], log="zz"),
        lambda at: tm.plot(at["hist"], title=3),
        lambda at: tm.plot(at["hist"], ""),
        lambda at: tm.show(at["hist"], log="zz"),
        lambda at: tm.show(3),
        lambda at: tm.plot.stack({"a": at["hist"]}, systematics="zz"),
        lambda at: tm.plot.stack({"a": at["hist"]}, ratio=True),
        lambda at: tm.plot.stack({"a": at["hist"]}, signal=3),
        lambda at: at["nested"]["r"]["p"].plot(kind=[]),
        lambda at: at["nested"]["r"]["p"].to_hist(names=3),
        lambda at: at["by_dataset"].stack([]),
        lambda at: tm.cut_table(at["cuts"], []),
        lambda at: tm.cut_table(3),
        lambda at: at["events"].draw("x", log="zz"),
        lambda at: at["events"].draw("x", profile="zz"),
        lambda at: at["events"].filter("x > 1", columns=["x"]),
        lambda at: at["events"].define("y", "x", columns=["x"]),
        lambda at: at["events"].unique("x", limit=-1),
        lambda at: at["events"].take("x", limit="zz"),
        lambda at: at["events"].snapshot("a.root", 3),
        lambda at: at["events"].snapshot("a.root", "x", copy_trees=3),
    ],
)
def test_a_wrong_option_is_a_query_error(at, call):
    with pytest.raises(QueryError):
        call(at)
