"""What users of uproot write by habit: an error says what to write here, and that works."""

import pytest
import treemill as tm

from tests.raising import raises

WRITTEN = [
    ("arrays", {"filter_name": lambda name: name[0] == "M"}, "for name in events.branches"),
    ("arrays", {"filter_typename": "float"}, "events.branches.items()"),
    ("arrays", {"cut": "nMuon > 1"}, "events.filter"),
    ("arrays", {"aliases": {"a": "nMuon"}}, "events.define"),
    ("arrays", {"entry_start": 1}, "it is called start"),
    ("arrays", {"library": "np"}, "to_numpy"),
    ("to_numpy", {"entry_stop": 1}, "it is called stop"),
    ("show", {"filter_name": "M*"}, "names or globs"),
]


@pytest.mark.parametrize(("method", "options", "hint"), WRITTEN)
def test_keywords(events, method, options, hint):
    with pytest.raises(tm.QueryError, match=hint) as caught:
        getattr(events, method)(**options)
    assert str(caught.value).startswith(f"{method}() has no option {next(iter(options))}: ")
    if method == "arrays":
        with pytest.raises(tm.QueryError, match=hint):
            events.filter("nMuon > 1").arrays(**options)


def test_what_to_write_works(events, truth):
    names = [name for name in events.branches if name[0] == "M"]
    assert events.arrays(names).fields == names
    floats = [name for name, branch in events.branches.items() if branch.cpp_type == "float"]
    assert "MET_pt" in floats
    assert events.arrays(floats, stop=3).fields == floats
    counted = tm.run(lambda chunk: {"n": len(chunk)}, events, progress=False)
    assert counted["n"] == len(truth)


@pytest.mark.parametrize("name", ["array", "iterate", "keys", "values", "items", "typenames"])
def test_methods(events, name):
    for each in (events, events.filter("nMuon > 1")):
        with pytest.raises(AttributeError, match=r"arrays|branches") as caught:
            getattr(each, name)
        assert not hasattr(each, name)
        assert name not in dir(each)
        assert name in str(caught.value)


def test_subscripts(events):
    for each in (
        events,
        events.filter("nMuon > 1"),
        events.define("x", "1").vary("x", {"up": "2"}),
    ):
        with pytest.raises(TypeError, match=r"is not subscriptable: arrays\(name\) reads"):
            each["MET_pt"]
        with pytest.raises(TypeError, match="is not iterable"):
            iter(each)
        with pytest.raises(TypeError, match="is not iterable"):
            "MET_pt" in each  # noqa: B015


@pytest.mark.parametrize("name", ["array", "num_baskets", "typename", "interpretation"])
def test_branches(events, name):
    branch = events.branches["MET_pt"]
    with pytest.raises(AttributeError, match=r"events\.arrays|called|cpp_type"):
        getattr(branch, name)
    assert not hasattr(branch, name)
    assert name not in dir(branch)
    assert "cpp_type" in dir(branch)


def test_what_to_write_for_a_branch_works(events, truth):
    assert events.arrays("MET_pt")["MET_pt"].to_list() == truth["MET_pt"].to_list()


@pytest.mark.parametrize("name", ["open", "iterate", "concatenate", "lazy"])
def test_functions(name):
    with pytest.raises(AttributeError, match=r"tm\.dataset"):
        getattr(tm, name)


def test_other_names_are_just_not_there(events):
    with pytest.raises(AttributeError, match=r"has no attribute 'nothing'$"):
        events.nothing  # noqa: B018
    with raises(tm.QueryError, about="nothing"):
        events.arrays(nothing=1)
