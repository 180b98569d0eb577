import os
from pathlib import Path

import pytest
from treemill.data.location import Location, expand, split_tree
from treemill.errors import QueryError, SourceError, UnsupportedError

from tests.raising import raises


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name in ("b.root", "a.root", "c.txt", "odd:name.root", "sub/d.root"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_forms(folder):
    a, b = Location("a.root", "T"), Location("b.root", "T")
    assert expand("a.root:T") == (a,)
    assert expand("a.root", "T") == (a,)
    assert expand("a.root:U", "T") == (Location("a.root", "U"),)
    assert expand("a.root") == (Location("a.root"),)
    assert expand(Path("a.root"), "T") == (a,)
    assert expand(["b.root:T", Path("a.root")], "T") == (b, a)
    assert expand("?.root:T") == (a, b)
    assert expand({"a.root": "T", "b*": "T"}) == (a, b)
    assert expand({"a.root": None}, "T") == (a,)
    assert expand("**/d.root:x/T;2") == (Location("sub/d.root", "x/T;2"),)
    assert expand(str(folder / "a.root") + ":T") == (Location(str(folder / "a.root"), "T"),)
    assert expand(f"file://{folder}/a.root:T") == (Location(f"{folder}/a.root", "T"),)
    assert expand("odd:name.root") == (Location("odd:name.root"),)


@pytest.mark.parametrize("tree", ["d/T", "/d/T", "d//T", "d/T/", " d/T "])
def test_slashes_and_spaces_around_a_trees_name(folder, tree):
    expected = (Location("a.root", "d/T"),)
    assert (
        expand(f"a.root:{tree}") == expand("a.root", tree) == expand({"a.root": tree}) == expected
    )


def test_home(folder, monkeypatch):
    monkeypatch.setenv("HOME", str(folder))
    assert expand("~/a.root:T") == (Location(str(folder / "a.root"), "T"),)


def test_lists(folder):
    (folder / "sub/list.txt").write_text("# files\n\nd.root:T\n  ../a.root  \n@more.txt\n")
    (folder / "sub/more.txt").write_text(f"{folder}/b.root:U\n")
    found = expand("@sub/list.txt", "X")
    assert [(os.path.normpath(place.path), place.tree) for place in found] == [
        ("sub/d.root", "T"),
        ("a.root", "X"),
        (str(folder / "b.root"), "U"),
    ]
    (folder / "loop.txt").write_text("@loop.txt\n")
    with raises(SourceError, said="contain each other"):
        expand("@loop.txt")
    with raises(SourceError, said="cannot read the list"):
        expand("@none.txt")


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("root://host:1094//data/f.root:Events", ("root://host:1094//data/f.root", "Events")),
        ("root://host:1094//data/f.root", ("root://host:1094//data/f.root", None)),
        ("root://host//data/f.root", ("root://host//data/f.root", None)),
        ("https://host:8080/f.root", ("https://host:8080/f.root", None)),
        ("https://host:8080/f.root:a/T", ("https://host:8080/f.root", "a/T")),
        ("s3://bucket/f.root:T", ("s3://bucket/f.root", "T")),
        ("root://h//a.root?x=a:b", ("root://h//a.root?x=a:b", None)),
        (
            "https://h:80/a.root?sig=1%2F:2&t=10:30",
            ("https://h:80/a.root?sig=1%2F:2&t=10:30", None),
        ),
        ("https://h/a.root:T?x=y", ("https://h/a.root?x=y", "T")),
        ("nfs://h:2049/a.root:T?vers=4.1", ("nfs://h:2049/a.root?vers=4.1", "T")),
        ("root://h//f?.root:T", ("root://h//f?.root", "T")),
        (
            "root://cache//root://o:1094//a.root?foo=bar",
            ("root://cache//root://o:1094//a.root?foo=bar", None),
        ),
        ("root://cache//root://o:1094//a", ("root://cache//root://o:1094//a", None)),
        ("root://cache//root://o:1094//a.root:T", ("root://cache//root://o:1094//a.root", "T")),
        (r"C:\data\f.root", (r"C:\data\f.root", None)),
        (r"C:\data\f.root:T", (r"C:\data\f.root", "T")),
        ("C:/data/f.root:T", ("C:/data/f.root", "T")),
        (
            "00376186-543E-E311-8D30-002618943857.root:T",
            ("00376186-543E-E311-8D30-002618943857.root", "T"),
        ),
        ("dir:with:colons/f.root.1:a/T", ("dir:with:colons/f.root.1", "a/T")),
        ("f.root:", ("f.root:", None)),
        ("f.root:T;1", ("f.root", "T;1")),
        ("f.root", ("f.root", None)),
    ],
)
def test_split(text, parts):
    assert split_tree(text) == parts


def test_urls_are_taken_at_their_word():
    (found,) = expand("root://nowhere.invalid//file.root:Events")
    assert found == Location("root://nowhere.invalid//file.root", "Events")


@pytest.mark.parametrize(
    "address",
    [
        "root://h//a.root?x=a:b",
        "root://h//with:colon/a",
        "root://h//a.root:x",
        "root://cache//root://o:1094//a.root?foo=bar",
        "https://h:8080/a?t=10:30",
    ],
)
def test_an_address_is_a_whole_where_the_tree_is_given(address):
    whole = Location(address, "Events")
    assert expand(address, "Events") == (whole,)
    assert expand([address], "Events") == (whole,)
    assert expand({address: "Events"}) == (whole,)
    assert expand({address: None}, "Events") == (whole,)
    (replicated,) = expand({address: [address, "https://other/a.root"]}, "Events")
    assert (replicated.logical, replicated.tree) == (address, "Events")


def test_unknown_schemes_are_refused():
    with raises(UnsupportedError, about="gopher"):
        expand("gopher://host//file.root:Events")


def test_nothing_there(folder):
    with raises(SourceError, about="none.root"):
        expand("none.root:T")
    with raises(SourceError, said="no file matches z root"):
        expand("z*.root")
    with raises(SourceError, said="at least one"):
        expand([])
    with raises(QueryError, about="int"):
        expand(3)
    with raises(QueryError, said="not bytes"):
        expand(b"a.root")
    with open("a.root", "rb") as file, raises(QueryError, said="not BufferedReader"):
        expand(file)
    with raises(QueryError, about="name"):
        expand({"a.root": 3})
