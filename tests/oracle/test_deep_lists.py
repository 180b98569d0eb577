"""Vectors of vectors of vectors as real ROOT writes them: their values, and random expressions over
them against the slow evaluator.
"""

import awkward as ak
import pytest
import treemill as tm
import uproot
from hypothesis import given
from hypothesis import strategies as st

from tests.random_queries import Sample, check, several, thorough
from tests.reference import Event, deep


def read(path):
    with uproot.open(path) as file:
        return [Event(row) for row in file["Events"].arrays().to_list()]


@pytest.fixture(scope="module")
def sample(made_by_root):
    path = made_by_root("deep") / "deep.root"
    return Sample(path, read, {})


@pytest.fixture(scope="module")
def session():
    with tm.connect(workers=1) as session:
        yield session


@thorough
@given(several(deep.numbers()), st.none() | deep.conditions())
@pytest.mark.slow
def test_loops_within_loops(sample, session, texts, where):
    check(session, sample, texts, where)


@thorough
@given(several(deep.lists()), st.none() | deep.conditions())
def test_lists_as_elements(sample, session, texts, where):
    check(session, sample, texts, where)


def test_how_they_read_is_said(sample):
    said = [sample.dataset.branches[name].reads_as for name in ("pts", "deep", "cube")]
    item = "float32"
    for found in said:
        item = f"list[{item}]"
        assert found == item


AWKWARD = {
    "sum(cube)": lambda a: ak.sum(ak.values_astype(a.cube, float), axis=-1),
    "len(cube)": lambda a: ak.num(a.cube, axis=-1),
    "cube * x": lambda a: a.cube * a.x,
    "cube[cube > 1]": lambda a: a.cube[a.cube > 1],
    "deep[len(deep) > 1]": lambda a: a.deep[ak.num(a.deep, axis=2) > 1],
    "cube[len(cube) > 1]": lambda a: a.cube[ak.num(a.cube, axis=3) > 1],
    "cube[sum(len(cube)) > 2]": lambda a: a.cube[ak.sum(ak.num(a.cube, axis=3), axis=2) > 2],
    "cube[1:]": lambda a: a.cube[:, 1:],
    "[v[:1] for v in cube]": lambda a: a.cube[:, :, :1],
    "[[w[::-1] for w in v] for v in cube]": lambda a: a.cube[:, :, :, ::-1],
}


@pytest.mark.parametrize("text", AWKWARD)
def test_as_awkward_has_it(sample, text):
    """Lists whole, and as they are kept."""
    everything = sample.dataset.arrays(["x", "deep", "cube"])
    found = sample.dataset.define("found", text).arrays(["found"]).found
    assert found.to_list() == AWKWARD[text](everything).to_list()
