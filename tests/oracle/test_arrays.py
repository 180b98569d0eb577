"""Arrays whose lengths are known, in lists (`x[n][3]`) and in one another (`x[3][4]`), as real ROOT
writes them: their values, what expressions make of them, and random expressions against the slow
evaluator.
"""

import awkward as ak
import numpy as np
import pytest
import treemill as tm
import uproot
from hypothesis import given
from hypothesis import strategies as st

from tests.raising import raises
from tests.random_queries import Sample, check, several, thorough
from tests.reference import Event, deep, evaluate, flat

TREES = ("Counted", "Fixed")


def reader(tree):
    def read(path):
        with uproot.open(path.removesuffix(f":{tree}")) as file:
            return [Event(row) for row in file[tree].arrays().to_list()]

    return read


@pytest.fixture(scope="module")
def samples(made_by_root):
    path = made_by_root("arrays") / "arrays.root"
    return {tree: Sample(f"{path}:{tree}", reader(tree), {}) for tree in TREES}


@pytest.fixture(scope="module")
def session():
    with tm.connect(workers=1) as session:
        yield session


@thorough
@given(st.sampled_from(TREES), several(deep.numbers()), st.none() | deep.conditions())
@pytest.mark.slow
def test_loops_within_loops(samples, session, tree, texts, where):
    check(session, samples[tree], texts, where)


@thorough
@given(st.sampled_from(TREES), several(deep.lists()), st.none() | deep.conditions())
def test_arrays_as_elements(samples, session, tree, texts, where):
    check(session, samples[tree], texts, where)


def present(value):
    """All numbers of a value as awkward has it."""
    if isinstance(value, list):
        return [number for item in value for number in present(item)]
    return [] if value is None else [value]


def arrays(sample, tree):
    with uproot.open(sample.dataset.files[0]) as file:
        return file[tree].arrays()


def jagged(array):
    return ak.from_regular(array, axis=None)


def sums(array):
    return ak.from_regular(ak.sum(ak.values_astype(array, float), axis=-1), axis=None)


# Of both trees.
AWKWARD = {
    "deep": lambda a: a.deep,
    "cube": lambda a: a.cube,
    "Hit_pos": lambda a: a.Hit_pos,
    "sum(cube)": lambda a: sums(a.cube),
    "deep * x": lambda a: jagged(a.deep) * a.x,
    "cube[cube > 1]": lambda a: jagged(a.cube)[jagged(a.cube) > 1],
    "deep[sum(deep) > 1]": lambda a: jagged(a.deep)[sums(a.deep) > 1],
    "cube[1:]": lambda a: a.cube[:, 1:],
    "[v[:1] for v in cube]": lambda a: a.cube[:, :, :1],
    "[v[0] for v in deep]": lambda a: a.deep[:, :, 0],
    "[v[-1] for v in cube]": lambda a: a.cube[:, :, -1],
    "[[w[::-1] for w in v] for v in cube]": lambda a: a.cube[:, :, :, ::-1],
    "[sum(v) for v in Hit_pos]": lambda a: ak.sum(a.Hit_pos, axis=2),
    "[max(w) for v in cube for w in v]": lambda a: ak.flatten(ak.max(a.cube, axis=3), axis=2),
}


@pytest.mark.parametrize("tree", TREES)
@pytest.mark.parametrize("text", AWKWARD)
def test_as_awkward_has_it(samples, tree, text):
    sample = samples[tree]
    found = sample.dataset.define("found", text).arrays(["found"]).found
    assert found.to_list() == AWKWARD[text](arrays(sample, tree)).to_list()


# Of the collection whose members are both numbers and arrays.
HITS = {
    "[h.pos[2] for h in Hit if h.pt > 1]": "[p[2] for t, p in zip(Hit_pt, Hit_pos) if t > 1]",
    "[h.pt * sum(h.pos) for h in Hit]": "[t * sum(p) for t, p in zip(Hit_pt, Hit_pos)]",
    "[c for h in Hit for c in h.pos if c > h.pt]": (
        "[c for t, p in zip(Hit_pt, Hit_pos) for c in p if c > t]"
    ),
    "[i * p[0] for i, p in enumerate(Hit_pos)]": "[i * p[0] for i, p in enumerate(Hit_pos)]",
    "[t + p[1] for t, p in zip(Hit_pt, Hit_pos)]": "[t + p[1] for t, p in zip(Hit_pt, Hit_pos)]",
    "[sum(a) - sum(b) for a, b in zip(Hit_pos, deep)]": (
        "[sum(a) - sum(b) for a, b in zip(Hit_pos, deep)]"
    ),
    "sum(sum(h.pos) for h in Hit[Hit.pt > 1])": (
        "sum(sum(p) for t, p in zip(Hit_pt, Hit_pos) if t > 1)"
    ),
    "max(Hit, key=lambda h: h.pt).pos[1]": (
        "[p[1] for t, p in zip(Hit_pt, Hit_pos) if t == max(Hit_pt)]"
    ),
    "max(Hit, key=lambda h: h.pos[0]).pt * 1.0": "Hit_pt[argmax([p[0] for p in Hit_pos])] * 1.0",
    "[a.pos[0] * b.pos[1] for a, b in combinations(Hit, 2)]": (
        "[a[0] * b[1] for a, b in combinations(Hit_pos, 2)]"
    ),
    "[sum(h.pos * h.pos) for h in Hit]": "[sum([c * c for c in p]) for p in Hit_pos]",
    "Hit_pos * deep": "[a * b for a, b in zip(Hit_pos, deep)]",
    "Hit_pos * Hit_pt": "[[c * t for c in p] for t, p in zip(Hit_pt, Hit_pos)]",
    "Hit_pos[Hit_pt > 1]": "[p for t, p in zip(Hit_pt, Hit_pos) if t > 1]",
    "Hit_pos[0][1] + Hit[0].pos[1]": "2 * Hit_pos[0][1]",
    "sum(Hit_pos[1])": "sum(Hit_pos[1])",
    "sorted(Hit_pos, key=lambda p: p[1], reverse=True)": (
        "sorted(Hit_pos, key=lambda p: p[1], reverse=True)"
    ),
    "[sum(p) for p in sorted(Hit_pos, key=lambda p: sum(p))]": (
        "sorted([sum(p) for p in Hit_pos])"
    ),
    "max(Hit_pos, key=lambda p: p[2])": "max(Hit_pos, key=lambda p: p[2])",
    "argmin(deep, key=lambda p: p[1])": "argmin([p[1] for p in deep])",
    "[sum(a) * b[0] for a, b in combinations(deep, 2)]": (
        "[sum(a) * b[0] for a, b in combinations(deep, 2)]"
    ),
    "[i * t[0][0] + t[1][1] for i, t in enumerate(zip(deep, Hit_pos))]": (
        "[i * t[0][0] + t[1][1] for i, t in enumerate(zip(deep, Hit_pos))]"
    ),
    "[p for i, p in enumerate(deep) if i > 0]": "deep[1:]",
    "[sum(p) * t for p, t in zip(deep, pts[1:])]": "[sum(p) * t for p, t in zip(deep, pts[1:])]",
    "max(zip(deep, pts), key=lambda t: t[1])[0]": "deep[argmax(pts)]",
    "[q for p, t in zip(deep, pts) for q in p if t > 0]": (
        "[q for p, t in zip(deep, pts) for q in p if t > 0]"
    ),
}


@pytest.mark.parametrize("where", [None, "x > 5"])
@pytest.mark.parametrize("text", HITS)
def test_members_that_are_arrays(samples, session, text, where):
    """Each, and where few entries are left; the slow evaluator is asked in terms of whole lists."""
    sample = samples["Counted"]
    node = sample.dataset if where is None else sample.dataset.filter(where)
    booked = node.define("found", text).take(["entry", "found"])
    found = session.run(booked, progress=False)
    values = dict(zip(found.entry.to_list(), found.found.to_list(), strict=True))
    for number, event in enumerate(sample.events):
        passes = where is None or evaluate(where, event)
        assert (number in values) == passes
        if passes:
            wanted = np.array(flat(evaluate(HITS[text], event)), dtype=float)
            got = np.array(present(values[number]), dtype=float)
            np.testing.assert_allclose(got, wanted, 1e-12, err_msg=text)


@pytest.mark.parametrize("tree", TREES)
def test_arrays_of_known_length_stay_so(samples, tree):
    """Their type, and what a file of them says."""
    sample = samples[tree]
    found = sample.dataset.arrays(["deep", "cube"])
    taken = sample.dataset.define("d", "deep * 1.0").take("d").value
    length = {"Counted": "var", "Fixed": "3"}[tree]
    last = {"Counted": 3, "Fixed": 4}[tree]
    assert str(found.deep.type) == f"40 * {length} * {last} * float32"
    assert str(taken.type) == f"40 * {length} * {last} * float64"


def test_an_index_outside_is_said(samples):
    dataset = samples["Fixed"].dataset
    for text in ("deep[3]", "[v[4] for v in deep]", "[w[2] for v in cube for w in v]"):
        with raises(tm.QueryError, said="outside of an array of"):
            dataset.sum(text).value  # noqa: B018
