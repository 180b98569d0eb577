"""The query language's loops, vectors and functions, beside awkward and vector."""

import itertools

import awkward as ak
import hist
import numpy as np
import pytest
import treemill as tm
import uproot
import vector
from treemill.errors import QueryError
from treemill.language import function_registry as registry

from tests.raising import raises

vector.register_awkward()


def collection(rng, counts, **extra):
    n = int(counts.sum())
    values = {
        "pt": rng.exponential(25, n) + 5,
        "eta": rng.normal(0, 1.5, n),
        "phi": rng.uniform(-np.pi, np.pi, n),
        "mass": rng.exponential(3, n),
    }
    values |= {name: make(n) for name, make in extra.items()}
    return ak.zip({name: ak.unflatten(value, counts) for name, value in values.items()})


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    rng = np.random.default_rng(7)
    n = 1500
    data = {
        "Muon": collection(rng, rng.poisson(1.5, n), charge=lambda k: rng.choice([-1, 1], k)),
        "Electron": collection(rng, rng.poisson(1, n), charge=lambda k: rng.choice([-1, 1], k)),
        "Jet": collection(rng, rng.poisson(4, n), btag=lambda k: rng.uniform(0, 1, k)),
        "MET_pt": rng.exponential(30, n),
        "MET_phi": rng.uniform(-3, 3, n),
    }
    path = tmp_path_factory.mktemp("language") / "events.root"
    with uproot.recreate(path) as file:
        types = {
            name: ak.type(value).content if isinstance(value, ak.Array) else value.dtype
            for name, value in data.items()
        }
        file.mktree("Events", types)
        file["Events"].extend(data)
    return path


@pytest.fixture(scope="module")
def events(path):
    return tm.dataset(path, tree="Events")


@pytest.fixture(scope="module")
def records(path):
    arrays = uproot.open(f"{path}:Events").arrays()
    names = ("Muon", "Electron", "Jet")
    found = {
        name: ak.zip(
            {
                field.removeprefix(f"{name}_"): arrays[field]
                for field in arrays.fields
                if field.startswith(f"{name}_")
            },
            with_name="Momentum4D",
        )
        for name in names
    }
    met = ak.zip({"pt": arrays["MET_pt"], "phi": arrays["MET_phi"]}, with_name="Momentum2D")
    return found | {"MET": met}


def total(events, expression):
    return events.sum(expression).value


def test_dimuons(events, records):
    pairs = ak.combinations(records["Muon"], 2, fields=["a", "b"])
    pairs = pairs[pairs.a.charge != pairs.b.charge]
    mass = (pairs.a + pairs.b).mass
    text = "(a + b).mass for a, b in combinations(Muon, 2) if a.charge != b.charge"
    assert total(events, f"sum({text})") == pytest.approx(ak.sum(mass))
    window = events.filter(f"any(60 < {text.replace(' for', ' < 120 for', 1)})").count().value
    assert window == ak.sum(ak.any((mass > 60) & (mass < 120), axis=1)) > 0


def test_trijet(events, records):
    triples = ak.combinations(records["Jet"], 3, fields=["a", "b", "c"])
    sums = triples.a + triples.b + triples.c
    best = ak.argmin(abs(sums.mass - 172.5), axis=1, keepdims=True)
    node = events.define(
        "best", "min(combinations(Jet, 3), key=lambda t: abs((t[0] + t[1] + t[2]).mass - 172.5))"
    )
    assert total(node, "(best[0] + best[1] + best[2]).pt") == pytest.approx(ak.sum(sums[best].pt))
    assert total(node, "best[2].btag") == pytest.approx(ak.sum(triples.c.btag[best]))


def test_clean_jets(events, records):
    leptons = ak.with_name(
        ak.concatenate([records["Electron"], records["Muon"]], axis=1), "Momentum4D"
    )
    leptons = leptons[leptons.pt > 10]
    jets = records["Jet"][records["Jet"].pt > 30]
    both = ak.cartesian({"j": jets, "l": leptons}, nested=True)
    far = ~ak.any(both.j.deltaR(both.l) < 0.4, axis=2)
    text = (
        "sum(j.pt for j in Jet if j.pt > 30 and not any(j.deltaR(l) < 0.4 "
        "for l in concat(Electron, Muon) if l.pt > 10))"
    )
    assert total(events, text) == pytest.approx(ak.sum(jets.pt[far]))


@pytest.mark.parametrize(
    "name",
    [
        *("pt", "eta", "phi", "mass", "energy", "px", "py", "pz", "rapidity", "p", "theta", "beta"),
        *("gamma", "mt", "et", "mass2", "costheta", "p2"),
    ],
)
@pytest.mark.parametrize("of", ["Jet", "sum"])
def test_names_of_vector(events, records, name, of):
    theirs = {"mt": "Mt", "et": "Et"}.get(name, name)
    if of == "Jet":
        expected = getattr(records["Jet"], theirs)
        found = total(events, f"sum(j.{name} for j in Jet)")
    else:
        pairs = ak.combinations(records["Jet"], 2, fields=["a", "b"])
        expected = getattr(pairs.a + pairs.b, theirs)
        found = total(events, f"sum((a + b).{name} for a, b in combinations(Jet, 2))")
    assert found == pytest.approx(ak.sum(expected), rel=1e-9, abs=1e-6)


def extremes(rng, n, scale, special):
    """Numbers of all sizes, and some that are known to be hard."""
    values = rng.normal(0, 1, n) * scale * 10.0 ** rng.integers(-6, 3, n)
    return np.where(rng.random(n) < 0.2, rng.choice(special, n), values)


def test_vectors_of_all_sizes(tmp_path):
    """Entry by entry against the package itself, in double precision."""
    rng = np.random.default_rng(11)
    n = 4000
    columns = {"i": np.arange(n)}
    for which in "ab":
        columns |= {
            f"{which}_pt": abs(extremes(rng, n, 100, [0.0, 1e-9, 1e7])),
            f"{which}_eta": np.clip(extremes(rng, n, 2, [0.0, 8.0, -8.0]), -12, 12),
            f"{which}_phi": extremes(rng, n, 3, [np.pi, -np.pi, 7.0, -9.5, 100.0]),
            f"{which}_mass": extremes(rng, n, 10, [0.0, -1e-9, -5.0, 1e8]),
        }
    path = tmp_path / "v.root"
    with uproot.recreate(path) as file:
        file.mktree("T", {name: value.dtype for name, value in columns.items()})
        file["T"].extend(columns)
    names = ("pt", "eta", "phi", "mass")
    a, b = (vector.array({name: columns[f"{which}_{name}"] for name in names}) for which in "ab")
    with np.errstate(all="ignore"):
        squares = [v.p**2 + v.mass**2 for v in (a, b)]
        # Of a negative mass nearly all of the energy may cancel.
        energies = [size / v.energy for v, size in zip((a, b), squares, strict=True)]
        large = np.sqrt(squares[0]) + np.sqrt(squares[1])
        # With the size of what is added up: the differences of large numbers are as exact as those.
        expected = {
            "a.px": (a.px, 0),
            "a.pz": (a.pz, 0),
            "a.energy": (a.energy, energies[0]),
            "(a + b).px": ((a + b).px, large),
            "(a + b).energy": ((a + b).t, energies[0] + energies[1]),
            "(a + b).pt": ((a + b).pt, large),
            "a.deltaphi(b)": (a.deltaphi(b), abs(a.phi) + abs(b.phi)),
            "a.deltaeta(b)": (a.deltaeta(b), 0),
            "a.deltaR(b)": (a.deltaR(b), abs(a.phi) + abs(b.phi)),
            "cos(a.deltaangle(b))": (np.cos(a.deltaangle(b)), 10),
            "(a + b).mass2": ((a + b).tau2, large**2 + sum(energies) * large),
            "(2 * a - b / 4).py": ((2 * a - b / 4).py, large),
        }
    events = tm.dataset(path, tree="T")
    axis = hist.axis.Integer(0, n)
    booked = [events.hist("i", bins=axis, weight=text) for text in expected]
    for (name, (values, size)), found in zip(expected.items(), tm.run(*booked), strict=True):
        wrong = abs(found.values() - values) > 1e-6 * abs(values) + 1e-14 * size
        turned = name in ("a.deltaphi(b)", "a.deltaR(b)")
        # Half a turn is pi or -pi, as the last bit falls.
        wrong &= ~(turned & (abs(abs(a.deltaphi(b)) - np.pi) < 1e-9))
        assert not wrong.any(), (name, np.flatnonzero(wrong)[:5])


def test_angles_of_nothing_and_of_parallels(tmp_path):
    with uproot.recreate(tmp_path / "v.root") as file:
        parts = {"a_px": [0.0, 3e-100, 1.0, 0.1], "b_px": [1.0, 4e-100, -7.0, 0.3]}
        zeros = {f"{which}_p{part}": [0.0] * 4 for which in "ab" for part in "yz"}
        file["T"] = {name: np.array(values) for name, values in (parts | zeros).items()}
    events = tm.dataset(tmp_path / "v.root")
    found = events.take("a.deltaangle(b)").value
    np.testing.assert_array_equal(found, [np.nan, 0, np.pi, 0])
    for text, instead in (("a.Cross(b).X()", "write its components"), ("a.Unit()", "a.px / a.p")):
        with pytest.raises(tm.QueryError, match=instead):
            events.draw(text, option="goff")


def test_functions_of_the_users(events, records):
    tm.function("mt(a, met)", "sqrt(2 * a.pt * met.pt * (1 - cos(a.deltaphi(met))))")
    tm.function("twice(x)", "x + x")
    tm.function("lead_mt(list)", "twice(mt(list[0], MET))")
    try:
        lead, met = records["Muon"][:, :1], records["MET"]
        expected = 2 * np.sqrt(2 * lead.pt * met.pt * (1 - np.cos(lead.deltaphi(met))))
        assert total(events, "lead_mt(Muon)") == pytest.approx(ak.sum(expected))
        # The body sees no variable of the caller's.
        tm.function("other()".replace("()", "(x)"), "x + y")
        with raises(QueryError, said="there is no column y in other … , called here"):
            total(events, "sum(other(y.pt) for y in Jet)")
        # What is written means the functions of its time.
        before = events.sum("twice(MET_pt)")
        tm.function("twice(x)", "3 * x")
        after = events.sum("twice(MET_pt)")
        assert after.value == pytest.approx(1.5 * before.value)
        with raises(QueryError, said="takes 1 arguments, and gets 2"):
            total(events, "twice(MET_pt, 1)")
        with raises(QueryError, said="in order, without names"):
            events.sum("twice(x=MET_pt)")
    finally:
        for name in ("mt", "twice", "lead_mt", "other"):
            registry.remove(name)
    with raises(QueryError, said="there is no function twice"):
        total(events, "twice(MET_pt)")


@pytest.mark.parametrize(
    "text", ["", "f", "f()", "f(x, x)", "f(1)", "f(x=1)", "f(x) + 1", "a.f(x)"]
)
def test_what_is_no_signature(text):
    with raises(QueryError, about="signature"):
        tm.function(text, "1")


def test_functions_that_grow_are_refused():
    names = [f"grow{i}" for i in range(40)]
    try:
        tm.function("grow0(x)", "x + x + x")
        with raises(QueryError, said="too large nested more than"):
            for before, name in itertools.pairwise(names):
                tm.function(f"{name}(x)", f"{before}(x) + {before}(x)")
    finally:
        for name in names:
            registry.remove(name)


@pytest.mark.parametrize(
    "text",
    [
        "sum(" * 90 + "Jet_pt" + ")" * 90,
        "[" * 150 + "1" + "]" * 150,
        " + ".join(["Jet[0].pt"] * 9000),
        "sum(1 " + "for a in Jet " * 40 + ")",
        "len(combinations(" * 20 + "Jet" + ", 2))" * 20,
        "(" + "lambda x: " * 60 + "x)(1)",
        "min(Jet, key=lambda j: " * 40 + "1" + ")" * 40,
    ],
)
def test_hostile_expressions_are_refused(events, text):
    with pytest.raises(QueryError) as caught:
        total(events, text)
    assert len(str(caught.value)) < 200_000


def test_constants_of_the_users(events, records):
    met = records["MET"].pt
    params = {"cut": 20, "scale": 1.5, "name": "x", "on": True}
    node = events.with_params(params)
    assert node.filter("MET_pt > cut").count().value == ak.sum(met > 20)
    assert total(node.filter("on and name == 'x'"), "scale * MET_pt") == pytest.approx(
        1.5 * ak.sum(met)
    )
    assert events.filter("MET_pt > cut", params={"cut": 50}).count().value == ak.sum(met > 50)
    # Variables of loops hide them.
    assert total(node, "sum(cut.pt for cut in Jet)") == pytest.approx(ak.sum(records["Jet"].pt))
    defined = events.define("hard", "MET_pt > cut", params={"cut": 30})
    assert total(defined, "hard") == ak.sum(met > 30)
    for wrong in (float("nan"), float("inf"), 1 << 64, None, [[1]], [None]):
        with raises(QueryError, said="a constant is"):
            events.with_params({"cut": wrong})
    with raises(QueryError, about="a b"):
        events.with_params({"a b": 1})
