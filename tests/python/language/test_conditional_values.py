"""`a if c else b` of strings, tuples, records and vectors, against awkward, numpy and vector."""

import json

import awkward as ak
import numpy as np
import pytest
import treemill as tm
import vector
from treemill.errors import QueryError

from tests.raising import raises


@pytest.fixture(scope="module")
def session(core):
    with tm.connect(workers=1, mode="threads") as made:
        yield made


def taken(session, events, *texts):
    node = events.with_params({})
    return session.run(*[node.take(text) for text in texts], node.count(), progress=False)[:-1]


def test_records(session, events, truth):
    leading = "(Muon[0] if nMuon > nJet else Jet[0])"
    pt, charge_like, both = taken(
        session,
        events,
        f"fill_missing({leading}.pt, -1)",
        "fill_missing((Muon[0] if nMuon > 1 else Muon[1]).charge, -9)",
        f"fill_missing(where(nMuon > nJet, Muon[0], Jet[0]).eta + {leading}.phi, 99)",
    )

    def first(array, at=0):
        return ak.pad_none(array, at + 1)[:, at]

    far = truth.nMuon > truth.nJet
    mine = ak.where(far, first(truth.Muon_pt), first(truth.Jet_pt))
    np.testing.assert_array_equal(pt, ak.to_numpy(ak.fill_none(mine, -1)))
    mine = ak.where(truth.nMuon > 1, first(truth.Muon_charge), first(truth.Muon_charge, 1))
    np.testing.assert_array_equal(charge_like, ak.to_numpy(ak.fill_none(mine, -9)))
    eta = ak.where(far, first(truth.Muon_eta), first(truth.Jet_eta))
    phi = ak.where(far, first(truth.Muon_phi), first(truth.Jet_phi))
    mine = ak.fill_none(ak.values_astype(eta, "f8") + phi, 99)
    np.testing.assert_allclose(both, ak.to_numpy(mine), 1e-12)


def test_vectors(session, events, truth):
    """The invariant mass of the leading jet, with the leading muon added where there is one."""
    found, angle = taken(
        session,
        events,
        "fill_missing((Jet[0] + Muon[0] if nMuon > 0 else Jet[0]).mass, -1)",
        "[(j if j.pt > 40 else j + j).pt for j in Jet]",
    )
    some = truth[(truth.nJet > 0)]

    def made(prefix, array):
        fields = ("pt", "eta", "phi", "mass")
        columns = {f: ak.values_astype(array[f"{prefix}_{f}"], "f8") for f in fields}
        return vector.zip(columns)

    jets, muons = made("Jet", some), made("Muon", some)
    jet = jets[:, 0]
    has = some.nMuon > 0
    expected = np.full(len(some), np.nan)
    expected[has] = ak.to_numpy((jet[has] + muons[has][:, 0]).mass)
    expected[~has] = ak.to_numpy(jet[~has].mass)
    np.testing.assert_allclose(found[ak.to_numpy(truth.nJet > 0)], expected, 1e-6)
    assert np.all(found[ak.to_numpy(truth.nJet == 0)] == -1)
    pt = ak.flatten(jets.pt)
    np.testing.assert_allclose(ak.flatten(angle), np.where(pt > 40, pt, 2 * pt), 1e-6)


def test_tuples_and_what_is_missing(session, events, truth):
    (second,) = taken(session, events, "((nMuon, nJet) if nMuon > nJet else (nJet, nMuon))[1]")
    np.testing.assert_array_equal(second, np.minimum(truth.nMuon, truth.nJet))
    absent, present = session.run(
        events.filter("is_missing(Muon[0] if MET_pt > 30 else Jet[0])").count(),
        events.filter("not is_missing(Muon[0] if MET_pt > 30 else Jet[0])").count(),
        progress=False,
    )
    mine = np.where(truth.MET_pt > 30, truth.nMuon, truth.nJet)
    assert (absent, present) == (np.sum(mine == 0), np.sum(mine > 0))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("(Muon[0] if nMuon > 0 else 3)", "of different kinds"),
        ("((1, 2) if nMuon > 0 else Jet[0])", "of different kinds"),
        ("(Muon[0] if nMuon > 0 else Jet[0])", "use one of its members"),
        ("(Muon[0] if nMuon > 0 else Jet[0]).charge", "Jet has no charge"),
        ("('a' if nMuon > 0 else 3)", "a string and a number"),
    ],
)
def test_what_cannot_be_chosen_is_said(events, text, said):
    with pytest.raises(QueryError, match=said):
        events.with_params({}).take(text).explain()


def test_hostile_nesting_is_refused(core):
    """The core is given JSON: what Python's parser would have refused, too."""
    for text in ("[" * 100_000, '{"version":' * 100_000):
        with raises(QueryError, said="more than 127 levels deep not a query"):
            core.Query(text)
    tree = {"kind": "const", "value": 1, "at": [0, 1]}
    for _ in range(200):
        tree = {"kind": "unary", "op": "-", "operand": tree, "at": [0, 1]}
    wanted = {"kind": "sum", "expr": {"text": "x", "tree": tree}}
    spec = {"version": 1, "steps": [], "bookings": [{"at": None, "result": wanted}]}
    with raises(QueryError, said="more than 127 levels deep"):
        core.Query(json.dumps(spec))
