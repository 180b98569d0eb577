"""Users of ROOT write some words by habit: the error says what to write here."""

import re

import pytest
import treemill as tm
from treemill.facility.generate import Recipe, write_dataset
from treemill.migration_hints import ROOT_METHODS


@pytest.fixture(scope="module")
def events(tmp_path_factory):
    folder = tmp_path_factory.mktemp("root_words")
    list(write_dataset(folder, Recipe(files=1, events_per_file=10)))
    return tm.dataset(folder / "events_000.root", tree="Events")


@pytest.mark.parametrize("name", ROOT_METHODS)
def test_the_error_names_a_method_that_there_is(events, name):
    fileset = tm.fileset({"dy": list(events.files)}, tree="Events")
    for of in (events, events.filter("nMuon > 0"), fileset):
        with pytest.raises(AttributeError, match=f"no attribute '{name}': ") as caught:
            getattr(of, name)
        assert name not in dir(of)
    hint = str(caught.value).partition(": ")[2]
    words = re.findall(r"\w+", hint)
    assert any(hasattr(events, word) or hasattr(tm, word) for word in words), hint


@pytest.mark.parametrize("name", ["GetValue", "GetPtr", "Draw"])
def test_the_error_names_what_results_are_called(events, name):
    booking = events.count()
    with pytest.raises(AttributeError, match=r"called value|tm\.plot"):
        getattr(booking, name)
    assert name not in dir(booking)


def test_the_advice_works(events):
    assert events.hist("MET_pt", bins=(100, 0, 200)).value.sum(flow=True) == 10
    assert events.profile("MET_pt", sample="nMuon", bins=(5, 0, 5)).value.sum(flow=True).count == 10
    assert events.define("met", "MET_pt").min("met").value == events.min("MET_pt").value
    assert tm.run(events.count(), entries=(2, 5)) == 3
