"""Tuples in lists, records where there is none, sums of vectors, and names of the vector package:
beside the slow evaluator, and vector itself.
"""

import awkward as ak
import numpy as np
import pytest
import treemill as tm
import uproot
import vector
from treemill.errors import QueryError

from tests.reference import MISSING, data, evaluate

vector.register_awkward()


@pytest.fixture(scope="module")
def path(core, tmp_path_factory):
    path = tmp_path_factory.mktemp("tuples") / "events.root"
    data.write(path, 3, 40)
    return path


@pytest.fixture(scope="module")
def events(path):
    return tm.dataset(path)


@pytest.fixture(scope="module")
def vectors(path):
    """A's and B's items as the vector package has them."""
    arrays = uproot.open(f"{path}:Events").arrays()
    names = ("pt", "eta", "phi", "mass")
    return {
        of: ak.zip(
            {name: ak.values_astype(arrays[f"{of}_{name}"], float) for name in names},
            with_name="Momentum4D",
        )
        for of in ("A", "B")
    }


def values(events, text):
    found = events.define("found", text).take("found").value
    return found.tolist() if isinstance(found, np.ndarray) else found.to_list()


def plain(value):
    if isinstance(value, list):
        return [plain(item) for item in value]
    return None if value is MISSING else value


def same(found, wanted):
    if isinstance(wanted, list):
        assert len(found) == len(wanted)
        for a, b in zip(found, wanted, strict=True):
            same(a, b)
    elif wanted is None:
        assert found is None
    else:
        assert found == pytest.approx(wanted, rel=1e-6, abs=1e-6, nan_ok=True)


@pytest.mark.parametrize(
    "text",
    [
        "combinations(A, 2)[0][1].pt",
        "combinations(A, 2)[-1][0].pt",
        "combinations(A, 2)[k][1].pt",
        "[t[0].pt for t in combinations(A, 2)[1:]]",
        "[t[0].pt + t[1].eta for t in combinations(A, 2)[::-1]]",
        "[t[1].pt for t in combinations(A, 2)[[0, -1]]]",
        "zip(A, B)[0][1].pt",
        "enumerate(A)[1][1].pt",
        "first(combinations(A, 2))[1].pt",
        "sorted(combinations(A, 2), key=lambda t: t[0].pt)[0][1].pt",
        # Tuples of tuples are taken apart in one go.
        "sum(i * (a + b).mass for i, (a, b) in enumerate(combinations(A, 2)))",
        "[a.pt * b.pt * c.eta for (a, b), c in zip(combinations(A, 2), A)]",
        "[a.pt * j for j, (a, b) in enumerate(zip(A, B)) if b.charge > 0]",
        # Of nothing, something else.
        "max([a for a in A if a.tag], key=lambda a: a.pt, default=A[0]).pt",
        "min([a for a in A if a.pt > 20], key=lambda a: abs(a.eta), default=first(B)).mass",
        "max(combinations(A, 2), key=lambda t: t[0].pt, default=(A[0], B[0]))[0].pt",
        "fill_missing(A[0], B[0]).pt",
        # Not even NaN is among none.
        "x in []",
        "not (x in [])",
    ],
)
def test_as_python_has_it(path, events, text):
    same(values(events, text), [plain(evaluate(text, event)) for event in data.events(path)])


def test_a_vector_in_the_place_of_none(events):
    hard = "max([a for a in A if a.pt > 20], key=lambda a: a.pt"
    found = values(events, f"{hard}, default=vector(pt=-1, eta=0, phi=0, mass=0)).pt")
    same(found, values(events, "max(A_pt[A_pt > 20], default=-1)"))


@pytest.mark.parametrize("name", ["mass", "pt", "eta", "energy", "rapidity"])
def test_sums_of_all_vectors_of_a_list(events, vectors, name):
    a = vectors["A"]
    some = ak.num(a) > 0
    for text, wanted in {
        "sum(A)": ak.sum(a, axis=1),
        "sum([a for a in A if a.pt > 5] )": ak.sum(a[a.pt > 5], axis=1),
        "(sum(A) + sum(B))": ak.sum(a, axis=1) + ak.sum(vectors["B"], axis=1),
    }.items():
        found = ak.Array(values(events, f"{text}.{name}"))
        close = np.isclose(found, getattr(wanted, name), 1e-6, 1e-6, equal_nan=True)
        # Of no vectors directions are what they are.
        assert ak.all(close[some & ak.any(a.pt > 5, axis=1)])
    assert values(events, "sum(A).mass * 0 + len(A)") == ak.num(a).to_list()


@pytest.mark.parametrize("name", ["Et", "Et2", "et2", "Mt", "Mt2", "cottheta"])
def test_names_of_vectors(events, vectors, name):
    same(values(events, f"A.{name}"), getattr(vectors["A"], name).to_list())


@pytest.mark.parametrize("name", ["deltaRapidityPhi", "deltaRapidityPhi2"])
def test_distances_of_vectors(events, vectors, name):
    a, b = ak.unzip(ak.combinations(vectors["A"], 2))
    found = values(events, f"[a.{name}(b) for a, b in combinations(A, 2)]")
    same(found, getattr(a, name)(b).to_list())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("np.sqrt(x)", "functions stand without a module: write sqrt(…)"),
        ("A_pt.sum()", "write sum(…) of the value"),
        ("A[0].unit(A[1]).pt", "there is no method unit: divide by its length"),
        ("A_pt.size()", "the size of a list is len(x)"),
        ("reversed(A_pt)", "write x[::-1]"),
        ("sum(A_pt[j] for j in range(nA))", "enumerate"),
        ("[v for v in map(abs, A_eta)]", "write [j.pt for j in Jet]"),
        ("DeltaR(A_eta[0], B_eta[0])", "a.deltaR(b)"),
        ("sum(x)", "x (float64) is one value per event"),
        ("x[0]", "x (float64) is one value per event"),
        ("A_pt.pt", "this is A_pt (list of float64)"),
        ("A[0] is None", "is_missing"),
        ("x == None", "is_missing"),
        ("2 ** 64 > x", "does not fit"),
        ("9223372036854775807 + 1", "does not fit"),
        ("sum(a.pt for i, (a, a) in enumerate(A))", "must differ"),
        ("sum(a.pt for i, (a, b) in enumerate(A))", "2 names, and the items are no tuples"),
        ("sum(1 for (((((a, b), c), d), e), f) in A)", "for takes a name"),
    ],
)
def test_mistakes_say_what_to_write(events, text, words):
    with pytest.raises(QueryError) as error:
        values(events, text)
    assert words in str(error.value)
    assert "^" in str(error.value)
