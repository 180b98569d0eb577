"""`treemill dataset verify`: what is wrong with files, the list that it writes, and what later runs
make of that list."""

import json
import shutil

import numpy as np
import pytest
import treemill as tm
import uproot
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from treemill.cli.dataset import dataset
from treemill.data import chain_trees
from treemill.data.file_checks import Seen, VerifiedFile, findings, verified_of
from treemill.facility.generate import write

from tests.python.written import settled
from tests.raising import raises

FILES = st.builds(
    lambda name, path, tree, entries, uuid, content, schema: Seen(
        name, path, path, tree,
        None if entries is None else VerifiedFile(100 + entries, entries, (0,), uuid),
        {"x": "float"} if schema else {"x": "int", "y": "int"},
        (content,),
        "" if entries is not None else "missing",
        "" if entries is not None else "no such file",
    ),
    st.sampled_from("ab"), st.sampled_from("pqrstu"), st.sampled_from(["t", "u"]),
    st.sampled_from([None, 0, 5, 6]), st.sampled_from([None, "1", "2"]), st.integers(1, 3),
    st.booleans(),
)  # fmt: skip


@given(st.lists(FILES, max_size=8))
def test_findings(seen):
    found = findings(seen, lambda one, other: one.stored == other.stored)
    assert [each.number for each in found] == sorted(each.number for each in found)
    out = {each.number for each in found if each.left_out}
    assert {n for n, each in enumerate(seen) if each.verified is None} <= out
    kept = [(n, each) for n, each in enumerate(seen) if n not in out]
    for name in "ab":
        mine = [each for _, each in kept if each.dataset == name]
        places = [(each.real, each.tree) for each in mine]
        assert len(set(places)) == len(places), "no file twice in a sample"
    told = {each.number: each for each in found}
    for n, each in kept:
        first = next(other for _, other in kept if other.dataset == each.dataset)
        if each.branches != first.branches:
            assert {f.kind for f in found if f.number == n} >= {"tree"}
    for n in out:
        sound = [each for m, each in enumerate(seen) if m < n]
        finding = told[n] if told[n].left_out else next(
            f for f in found if f.number == n and f.left_out
        )  # fmt: skip
        if finding.kind == "doubled":
            assert any(
                other.verified is not None and other.dataset == seen[n].dataset
                and (other.real == seen[n].real or other.stored == seen[n].stored)
                for other in sound
            )  # fmt: skip


def test_what_differs():
    def seen(path, branches):
        return Seen("dy", path, path, "t", VerifiedFile(9, 9, (0,), path), branches, (len(path),))

    first = seen("a", {"x": "float", "y": "int", "z": "int", "n": "int", "m": "int"})
    (found,) = findings([first, seen("bb", {"x": "double", "w": "int"})], lambda *_: False)
    assert found.kind == "tree"
    assert not found.left_out
    assert found.text == (
        "lacks y, z, n and 1 more; has also w; has other types of x (double, not float), "
        "compared with a"
    )


@pytest.mark.parametrize(
    "wrong",
    [{"size": -1}, {"size": "9"}, {"num_entries": None}, {"clusters": 3}, {"clusters": [0, 0]},
     {"clusters": [0, 11]}, {"clusters": ["0"]}],
)  # fmt: skip
def test_lists_that_make_no_sense(wrong):
    sound = {"size": 9, "num_entries": 10, "clusters": [0, 4]}
    assert verified_of(sound, "dy") == VerifiedFile(9, 10, (0, 4))
    assert verified_of({"num_entries": 10, "uuid": "x"}, "dy") is None
    with raises(tm.QueryError, said="dy: a verified file has size"):
        verified_of({**sound, **wrong}, "dy")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for number, events in enumerate((2000, 1, 3000)):
        write(f"e{number}.root", events=events, index=number, cluster=500, codec="zstd")
    return tmp_path


def verify(*arguments):
    return CliRunner().invoke(dataset, ["verify", *arguments])


def test_what_is_found(folder):
    shutil.copy("e2.root", "copy.root")
    whole = (folder / "e2.root").read_bytes()
    (folder / "cut.root").write_bytes(whole[: len(whole) // 2])
    (folder / "junk.root").write_bytes(b"junk" * 100)
    write("again.root", events=2000, index=0, cluster=500, codec="zstd")
    files = {
        "dy": ["e0.root", "e1.root", "again.root", "gone.root", "./e0.root"],
        "tt": ["e2.root", "copy.root", "cut.root", "junk.root"],
        "data": ["e0.root"],
    }
    made = {name: {"files": dict.fromkeys(each, "Events")} for name, each in files.items()}
    made["dy"]["metadata"] = {"xsec": 1.5}
    (folder / "fs.json").write_text(json.dumps(made))
    ran = verify("fs.json")
    assert ran.exit_code == 1
    for line in (
        "doubled     dy: again.root: the same content (other UUID) as e0.root (left out)",
        "missing     dy: gone.root: no such file: gone.root (left out)",
        "doubled     dy: ./e0.root: the same file as e0.root (left out)",
        "doubled     tt: copy.root: the same content (same UUID) as e2.root (left out)",
        "truncated   tt: cut.root: the file is truncated: ",
        "unreadable  tt: junk.root: this is not a ROOT file",
        "shared      data: e0.root: the same file as e0.root of 'dy'",
        "dy: 2 of 5 files, 2,001 entries",
        "written: fs.verified.json",
    ):
        assert line in ran.output
    fs = tm.fileset("fs.verified.json")
    assert fs.count().value == {"dy": 2001, "tt": 3000, "data": 2000}
    assert fs.metadata["dy"] == {"xsec": 1.5}
    left = json.loads((folder / "fs.verified.json").read_text())["dy"]["left_out"]
    assert set(left) == {"again.root", "gone.root", "./e0.root"}
    again = verify("fs.verified.json", "--output", "twice.json")
    assert "shared" in again.output
    assert json.loads((folder / "twice.json").read_text())["tt"]["files"].keys() == {"e2.root"}


@pytest.mark.parametrize("place", ["last entry", "last column"])
def test_files_that_differ_anywhere_are_both_kept(folder, place):
    """Uncompressed, so that their stored sizes are equal, and with the same first entries."""
    for number in range(2):
        columns = {f"c{i:02d}": np.arange(1500.0) for i in range(60)}
        columns["c59" if place == "last column" else "c00"][-1] += number
        with uproot.recreate(f"u{number}.root", compression=None) as file:
            file["Events"] = columns
    assert verify("u*.root", "--output", "u.json").exit_code == 0
    assert tm.fileset("u.json").count().value == {"dataset": 3000}


def test_one_file_with_several_trees(folder):
    with uproot.recreate("two.root") as file:
        file["a"], file["b"] = {"x": np.arange(10.0)}, {"x": np.arange(100.0, 103.0)}
    (folder / "fs.json").write_text(json.dumps({"s": [f"two.root:{tree}" for tree in "aba"]}))
    assert "doubled  s: two.root: the same file" in verify("fs.json").output
    for _ in range(2):
        fs = tm.fileset("fs.verified.json")
        assert fs.count().value == {"s": 13}
        assert fs.sum("x").value == {"s": 45 + 303}
        assert verify("fs.verified.json", "--output", "fs.verified.json").exit_code == 0


@pytest.fixture
def opened(monkeypatch):
    """The files that are opened in this process, or that the core is asked to open."""
    found = []
    real, to_open = chain_trees.opened, chain_trees.ChainTrees.to_open

    def noted(location, *rest):
        found.append(location.path)
        return real(location, *rest)

    def asked(trees):
        found.append("by the core")
        return to_open(trees)

    monkeypatch.setattr(chain_trees, "opened", noted)
    monkeypatch.setattr(chain_trees.ChainTrees, "to_open", asked)
    return found


def test_nothing_is_opened_to_plan(folder, opened):
    assert verify("e*.root", "--tree", "Events", "--output", "all.json").exit_code == 0
    opened.clear()
    fs = tm.fileset("all.json")
    assert fs.num_entries == fs["dataset"].num_entries == 5001
    assert fs["dataset"].chain.sizes[2] == (3000, (0, 500, 1000, 1500, 2000, 2500))
    steps = json.loads((folder / "all.json").read_text())
    steps["dataset"]["files"]["e0.root"]["steps"] = [[0, 10], [1990, 2000]]
    some = tm.fileset(steps)
    assert some.num_entries == 3021
    assert opened == []
    with tm.connect(workers=2, mode="processes") as session:
        assert session.run(fs.count(), fs.sum("nMuon"), some.count()) == (
            {"dataset": 5001},
            {"dataset": tm.dataset("e*.root", "Events").sum("nMuon").value},
            {"dataset": 3021},
        )
        assert session.run(some.count(), entries=(15, 25)) == {"dataset": 10}


@pytest.mark.parametrize(
    ("entries", "first"),
    [
        (lambda session, fs: session.run(fs.sum("nMuon"), fs.count())[1]["dataset"], 1),
        (lambda session, fs: session.run(lambda chunk: {"n": len(chunk)}, fs)["n"], 0),
    ],
    ids=["bookings", "selector"],
)
@pytest.mark.parametrize("workers", [pytest.param(1, marks=pytest.mark.slow), 4])
def test_all_files_but_the_first_are_opened_by_workers_only(
    folder, opened, entries, first, workers
):
    """Though each has a single cluster, so that its baskets would be asked for. The first one is
    opened once, for the columns that bookings use."""
    for number in range(20):
        write(f"s{number}.root", events=50, index=number, cluster=50, codec="zstd")
    assert verify("s*.root", "--output", "all.json").exit_code == 0
    fs = tm.fileset("all.json")
    opened.clear()
    with tm.connect(workers=workers, mode="processes") as session:
        assert entries(session, fs) == 1000
    assert opened == [*fs.files[:first]]


@pytest.mark.parametrize("key", ["size", "uuid", "num_entries"])
def test_files_that_have_changed(folder, key):
    verify("e*.root", "--output", "all.json")
    listed = json.loads((folder / "all.json").read_text())
    entry = listed["dataset"]["files"]["e2.root"]
    entry[key] = "0" if key == "uuid" else entry[key] + 7
    fs = tm.fileset(listed)
    with raises(tm.SourceError, said="e2 root is not the file that was verified"):
        tm.run(fs.count())
    with tm.connect(workers=1) as session:
        assert session.run(fs.count(), on_error="skip") == {"dataset": 2001}
        assert {each.file for each in session.report.missing} == {"e2.root"}


def test_a_file_that_has_changed_leaves_the_others_known(folder):
    for number in range(4):
        write(f"s{number}.root", events=50, index=number, cluster=50, codec="zstd")
    verify("s*.root", "--output", "all.json")
    listed = json.loads((folder / "all.json").read_text())
    listed["dataset"]["files"]["s1.root"]["size"] += 7
    trees = tm.fileset(listed).chain.pinned().trees
    settled(*(folder / f"s{number}.root" for number in range(4)))
    trees.look_at_all()
    assert [trees.near.found(number) is not None for number in range(4)] == [
        True,
        False,
        True,
        True,
    ]


def test_a_file_that_was_written_anew(folder):
    verify("e*.root", "--output", "all.json")
    fs = tm.fileset("all.json")
    assert fs.count().value == {"dataset": 5001}
    write("e2.root", events=2500, index=2, cluster=500, codec="zstd")
    for again in (fs, tm.fileset("all.json")):
        with raises(tm.SourceError, said="Verify the fileset again"):
            tm.run(again.sum("MET_pt"))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("fs.json", "--output", "none/fs.json"), "cannot write into the folder none"),
        (("https://localhost:1/fs.json",), "cannot write to https://localhost:1/fs.json"),
    ],
    ids=["no folder", "on a server"],
)
def test_a_place_where_nothing_can_be_written_is_said_at_once(folder, opened, arguments, said):
    (folder / "fs.json").write_text('{"dy": {"files": {"e0.root": "Events"}}}')
    ran = verify(*arguments)
    assert ran.exit_code == 1
    assert said in str(ran.exception)
    assert opened == []


def test_no_fileset(folder):
    (folder / "fs.json").write_text("[]")
    ran = verify("fs.json")
    assert ran.exit_code == 1
    assert "a fileset is a mapping of names to files" in str(ran.exception)
    assert not (folder / "fs.verified.json").exists()
