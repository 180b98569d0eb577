import pickle

import pytest
from treemill.errors import (
    FormatError,
    QueryError,
    QueryInterrupted,
    SourceError,
    TreemillError,
    UnsupportedError,
    WorkerError,
    underline,
)


def test_one_tree():
    for kind in (SourceError, FormatError, UnsupportedError, QueryError, WorkerError):
        assert issubclass(kind, TreemillError)
    assert issubclass(QueryInterrupted, KeyboardInterrupt)


def test_places_are_said_once():
    error = FormatError("bad block", file="a.root", branch="x", entries=(5, 9), offset=77)
    assert str(error) == "bad block (file a.root, branch x, entries 5..9, byte 77)"
    assert str(SourceError("no such file: a.root", file="a.root")) == "no such file: a.root"
    assert str(SourceError("gone")) == "gone"


def test_query_error_points_at_the_place():
    error = QueryError("no column 'z'", text="x + z", span=(4, 5), suggestions=["y"])
    assert str(error) == "no column 'z'; did you mean y?\n  x + z\n      ^"


def test_underline_stays_on_one_line_of_a_terminal():
    text = "a" * 300 + "bad" + "c" * 300
    line, carets = underline(text, (300, 303)).split("\n")
    assert len(line) <= 98
    assert line[carets.index("^") : carets.rindex("^") + 1] == "bad"
    assert underline("a\n+", (2, 9)).split("\n") == ["  a +", "    ^"]
    assert underline("x +", (3, 4)).split("\n")[1] == "     ^"


@pytest.mark.parametrize("kind", [SourceError, QueryError, WorkerError])
def test_pickles(kind):
    error = kind("what", file="f", branch="b", entries=(1, 2), offset=3)
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is kind
    assert copy.__dict__ == error.__dict__
    assert str(copy) == str(error)


def test_a_suggestion_that_begins_the_wrong_name_is_said():
    error = QueryError("there is no column MET_ptt", suggestions=["MET_pt", "Jet_pt"])
    assert "did you mean MET_pt or Jet_pt?" in str(error)
