"""Branches by their paths, as uproot has them, and by parts of these."""

import awkward as ak
import pytest
import treemill as tm
import uproot

from tests.corpus_files import corpus
from tests.raising import raises


@pytest.fixture(scope="module")
def split():
    path = corpus("uproot-nesteddirs.root")
    with uproot.open(f"{path}:three/tree") as tree:
        yield tm.dataset(path, "three/tree"), tree


@pytest.mark.parametrize("path", ["evt/I32", "evt/P3/P3.Px", "evt/P3"])
def test_whole_paths(split, path):
    events, tree = split
    assert events.arrays(path)[path].to_list() == tree[path].array().to_list()
    assert events.branches[path].path == path
    assert path not in list(events.branches)


SAID = [
    ("/P3.Px", "no branch has the path /P3.Px; did you mean evt/P3/P3.Px"),
    ("P3/P3.Px", "no branch has the path P3/P3.Px; did you mean evt/P3/P3.Px"),
    ("/evt/P3/P3.Px", "did you mean evt/P3/P3.Px"),
    ("/P3.*/", "write .*re.search"),
    ("/i[48]/i", "write .*re.search"),
    (lambda name: name.startswith("P3"), "names, globs or expressions: not <function"),
    ({"a": [1]}, r"names, globs or expressions: not \[1\]"),
]


@pytest.mark.parametrize(("asked", "said"), SAID, ids=[said for _, said in SAID])
def test_what_is_no_path(split, asked, said):
    with pytest.raises(tm.QueryError, match=said):
        split[0].arrays(asked)


def test_ratios_are_no_paths(split):
    events, tree = split
    found = events.arrays("I64/I32", start=1)["I64/I32"].to_list()
    assert found == (tree["evt/I64"].array()[1:] / tree["evt/I32"].array()[1:]).to_list()


@pytest.mark.parametrize("path", ["evt/I32", "evt/P3/P3.Px", "evt/U64"])
def test_paths_in_expressions(split, path):
    """In backticks, as in lists of columns; without them they are ratios."""
    events, tree = split
    values = tree[path].array()
    assert events.sum(f"`{path}`").value == ak.sum(values)
    rows = events.filter("I32 > 3").arrays({"x": f"`{path}` * 2"})
    assert rows.x.to_list() == (values[tree["evt/I32"].array() > 3] * 2).to_list()
    made = events.define("own", f"`{path}`").vary("own", {"up": f"`{path}` + 1"}).sum("own").value
    assert made["own:up"] == ak.sum(values + 1)
    with tm.connect(workers=2, mode="processes") as session:
        assert session.run(events.max(f"`{path}`"), progress=False) == ak.max(values)


def test_paths_that_there_are_not(split):
    with raises(tm.QueryError, said="there is no column evt/None"):
        tm.run(split[0].sum("`evt/None`"), progress=False)
