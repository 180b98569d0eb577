"""Functions of lists that NumPy, awkward and coffea have: equal values."""

import itertools

import awkward as ak
import numpy as np
import pytest
import treemill as tm
import uproot

from tests.raising import raises


@pytest.fixture(scope="module")
def truth():
    rng = np.random.default_rng(11)
    counts = rng.integers(0, 8, 300)

    def jagged(values):
        return ak.unflatten(values, counts)

    n = int(counts.sum())
    values = rng.normal(0, 3, n)
    values[rng.random(n) < 0.05] = np.nan
    return {
        "J_pt": jagged(rng.exponential(30, n)),
        "J_eta": jagged(rng.normal(0, 1, n)),
        "J_phi": jagged(rng.uniform(-3, 3, n)),
        "J_mass": jagged(rng.exponential(5, n)),
        "J_id": jagged(rng.integers(-3, 4, n)),
        "J_v": jagged(values),
        "x": rng.normal(0, 1, 300),
        "y": rng.normal(0, 1, 300),
        "phi": rng.uniform(-3, 3, 300),
    }


@pytest.fixture(scope="module")
def events(truth, tmp_path_factory):
    path = tmp_path_factory.mktemp("words") / "lists.root"
    with uproot.recreate(path) as file:
        jets = ak.zip({name[2:]: truth[name] for name in truth if name[:2] == "J_"})
        flat = {name: truth[name] for name in ("x", "y", "phi")}
        types = {"J": ak.type(jets).content} | dict.fromkeys(flat, "float64")
        file.mktree("Events", types).extend({"J": jets} | flat)
    return tm.dataset(path)


def computed(events, text):
    return events.take({"value": text}).value["value"].to_list()


@pytest.mark.parametrize(
    ("text", "function"),
    [
        ("std(J_v)", np.std),
        ("var(J_pt)", np.var),
        ("std(J_id, ddof=1)", lambda x: np.std(x, ddof=1)),
        ("var(J_pt, ddof=3)", lambda x: np.var(x, ddof=3)),
        ("median(J_v)", np.median),
        ("median(J_id)", np.median),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_reductions(events, truth, text, function):
    column = text[text.index("J_") :].partition(",")[0].rstrip(")")
    for got, values in zip(computed(events, text), truth[column], strict=True):
        if len(values) == 0:
            assert got is None
        else:
            np.testing.assert_allclose(got, function(values.to_numpy()), 1e-12)


@pytest.mark.parametrize("column", ["J_v", "J_id"])
@pytest.mark.parametrize(("name", "function"), [("unique", np.unique), ("cumsum", np.cumsum)])
def test_lists(events, truth, name, function, column):
    for got, values in zip(computed(events, f"{name}({column})"), truth[column], strict=True):
        np.testing.assert_allclose(np.array(got, float), function(values.to_numpy()), 1e-12)


def test_argsort_is_awkward_s(events, truth):
    order = ak.argsort(truth["J_pt"], axis=1)
    assert computed(events, "argsort(J_pt)") == order.to_list()
    falling = ak.argsort(truth["J_pt"], axis=1, ascending=False)
    assert computed(events, "argsort(J_pt, reverse=True)") == falling.to_list()
    found = computed(events, "J_eta[argsort(J_pt, reverse=True)]")
    assert found == truth["J_eta"][falling].to_list()
    by_eta = computed(events, "argsort(J, key=lambda j: abs(j.eta))")
    assert by_eta == ak.argsort(abs(truth["J_eta"]), axis=1).to_list()


def test_nearest_is_coffea_s(events, truth):
    vectors = pytest.importorskip("coffea.nanoevents.methods.vector")
    fields = {name: truth[f"J_{name}"] for name in ("pt", "eta", "phi", "mass")}
    jets = ak.zip(fields, with_name="PtEtaPhiMLorentzVector", behavior=vectors.behavior)
    for text, left, right, threshold in [
        ("J[J.eta > 0].nearest(J[J.eta <= 0])", jets[jets.eta > 0], jets[jets.eta <= 0], None),
        ("J[:2].nearest(J[2:], threshold=1.2)", jets[:, :2], jets[:, 2:], 1.2),
    ]:
        expected = left.nearest(right, threshold=threshold).pt
        assert computed(events, f"{text}.pt") == expected.to_list()


@pytest.mark.parametrize(
    ("name", "size"), [*itertools.product(("permutations", "combinations"), range(1, 7))]
)
def test_tuples_are_in_itertools_order(events, truth, name, size):
    names = [f"a{i}" for i in range(size)]
    terms = " + ".join(f"{i + 1} * {name}" for i, name in enumerate(names))
    head = ", ".join(names) if size > 1 else "t"
    text = f"[{terms if size > 1 else 't[0]'} for {head} in {name}(J_id[:6], {size})]"
    for got, values in zip(computed(events, text), truth["J_id"], strict=True):
        tuples = getattr(itertools, name)(values.to_list()[:6], size)
        assert got == [sum((i + 1) * v for i, v in enumerate(each)) for each in tuples]


def test_values_of_events_are_lists(events, truth):
    x, y, pt = truth["x"], truth["y"], truth["J_pt"]
    assert computed(events, "max([x, y])") == np.maximum(x, y).tolist()
    assert computed(events, "sorted([x, y, 0.5])") == np.sort([x, y, 0 * x + 0.5], 0).T.tolist()
    assert computed(events, "[x, y] * 2") == (2 * np.stack([x, y], 1)).tolist()
    assert computed(events, "[v * 2 for v in [x, y] if v > 0]") == [
        [2 * v for v in pair if v > 0] for pair in zip(x, y, strict=True)
    ]
    # A missing item is one of the list, and reductions pass over it.
    first = ak.fill_none(ak.firsts(pt), -1).to_list()
    assert computed(events, "max([J_pt[0], -1.0])") == first
    assert computed(events, "len([J_pt[0], -1.0])") == [2] * len(x)
    assert computed(events, "sum(max([j.pt, 20.0]) for j in J)") == pytest.approx(
        ak.sum(ak.where(pt > 20, pt, 20), axis=1).to_list()
    )
    assert computed(events, "[x, y][J_id[0]]") == [
        pair[ids[0]] if len(ids) and 0 <= ids[0] < 2 else None
        for pair, ids in zip(np.stack([x, y], 1).tolist(), truth["J_id"].to_list(), strict=True)
    ]
    assert computed(events, "x in [y, x]") == [True] * len(x)
    assert computed(events, "max([J[0], J[1]], key=lambda j: abs(j.eta)).pt") == [
        None if not p else p[0] if len(p) < 2 or abs(e[0]) >= abs(e[1]) else p[1]
        for p, e in zip(pt.to_list(), truth["J_eta"].to_list(), strict=True)
    ]
    filled = events.hist("[x, y]", bins=(10, -5, 5)).value
    np.testing.assert_array_equal(filled.values(), np.histogram([x, y], 10, (-5, 5))[0])


def test_several_axes_are_no_list(events):
    for text in ("x, y", "(x, y)"):
        with raises(tm.QueryError, about="tuple"):
            _ = events.hist(text, bins=(10, -5, 5)).value


def test_angles(events, truth):
    expected = (truth["J_phi"] - truth["phi"] + np.pi) % (2 * np.pi) - np.pi
    for text in ("deltaphi(J_phi, phi)", "deltaPhi(J.phi, phi)"):
        found = ak.Array(computed(events, text))
        np.testing.assert_allclose(ak.flatten(found), ak.flatten(expected), atol=1e-12)
    pair = computed(events, "deltaR(J[0], J[1])")
    for other in ("J[0].deltaR(J[1])", "J[0].delta_r(J[1])"):
        assert computed(events, other) == pair
    assert computed(events, "J[0].delta_phi(J[1])") == computed(events, "J[0].deltaphi(J[1])")


def test_vectors_take_all_names_of_coordinates(events):
    expected = computed(events, "vector(pt=x, eta=y, phi=phi, mass=2.0).energy")
    assert computed(events, "vector(rho=x, eta=y, phi=phi, m=2.0).E") == expected
    assert computed(events, "vector(px=x, py=y, pz=0, E=9).M") == computed(
        events, "vector(px=x, py=y, pz=0, energy=9).mass"
    )
    for text, said in {
        "vector(pt=x, px=y).pt": "not both",
        "vector(E=x, e=y).pt": "once",
        "vector(mass=x, e=y).pt": "not both",
        "vector(ptt=x).pt": "no ptt",
    }.items():
        with pytest.raises(tm.QueryError, match=said):
            computed(events, text)


def test_members_of_elements_may_be_constants(events, truth):
    made = "[vector(pt=j.pt, eta=j.eta, phi=j.phi, mass=0.0) for j in J]"
    assert computed(events, f"[v.mass for v in {made}]") == (0 * truth["J_eta"]).to_list()
    node = events.define("J_w", "2.5")
    assert computed(node, "[j.w for j in J]") == (0 * truth["J_eta"] + 2.5).to_list()
    assert computed(node, "J.w") == (0 * truth["J_eta"] + 2.5).to_list()
    assert (
        computed(node, "sum(j.w for j in J)") == ak.sum(0 * truth["J_eta"] + 2.5, axis=1).to_list()
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ak.firsts(J_pt)", r"first\(x\)"),
        ("ak.sum(J_pt, axis=1)", "without a module"),
        ("sum(J_pt, axis=1)", "leave it out"),
        ("argsort(J_pt, ascending=False)", "reverse=True"),
        ("pad_none(J_pt, 2)", "missing"),
        ("Take(J_pt, 2)", r"x\[:n\]"),
        ("J.metric_table(J)", "deltaR"),
        ("DeltaPhi(x, y)", r"b - a"),
        ("deltaR(x, y)", "two vectors"),
        ("permutations(J, 9)", "1 to 8"),
        ("std(x)", "needs a list"),
        ("std(J_pt, ddof=-1)", "not negative"),
    ],
)
def test_hints(events, text, said):
    with pytest.raises(tm.QueryError, match=said):
        _ = events.sum(text).value
