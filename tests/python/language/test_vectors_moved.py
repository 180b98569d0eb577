"""Vectors that are turned, boosted, multiplied, or have no transverse momentum, beside scikit-hep's
vector: entry by entry, of vectors stored in either set of coordinates.
"""

import awkward as ak
import numpy as np
import pytest
import treemill as tm
import uproot
import vector
from treemill.errors import QueryError

N = 300


@pytest.fixture(scope="module")
def columns():
    rng = np.random.default_rng(3)
    made = {"angle": rng.uniform(-7, 7, N), "beta": rng.uniform(-0.99, 0.99, N)}
    made["gamma"] = rng.uniform(1, 20, N) * rng.choice([-1, 1], N)
    made["k"] = rng.choice([-2.0, -0.5, 0.25, 3.0], N)
    for which in "ab":
        made[f"{which}_pt"] = np.where(rng.random(N) < 0.2, 0.0, rng.exponential(30, N))
        made[f"{which}_eta"] = rng.normal(0, 1.5, N)
        made[f"{which}_phi"] = rng.uniform(-np.pi, np.pi, N)
        made[f"{which}_mass"] = np.where(rng.random(N) < 0.3, 0.0, rng.exponential(5, N))
        p = [rng.normal(0, 20, N) for _ in range(3)]
        for axis, values in zip("xyz", p, strict=True):
            made[f"{which}c_p{axis}"] = values
        size = np.sqrt(sum(x * x for x in p))
        made[f"{which}c_energy"] = size * (1 + rng.exponential(0.5, N))
    for axis in "xyz":
        made[f"v_p{axis}"] = rng.uniform(-0.55, 0.55, N)
    return made


@pytest.fixture(scope="module")
def node(columns, tmp_path_factory):
    path = tmp_path_factory.mktemp("moved") / "v.root"
    with uproot.recreate(path) as file:
        file.mktree("t", {name: value.dtype for name, value in columns.items()})
        file["t"].extend(columns)
    node = tm.dataset(path, tree="t").filter("True")
    return node.define("v", "vector(px=v_px, py=v_py, pz=v_pz)")


def theirs(columns, name):
    parts = ("px", "py", "pz", "energy") if name.endswith("c") else ("pt", "eta", "phi", "mass")
    if name == "v":
        parts = ("px", "py", "pz")
    return vector.array({part: columns[f"{name}_{part}"] for part in parts})


def check(node, columns, text, expected, names, size=0.0, rel=1e-9):
    """`text` is an expression of a vector; `expected` the package's."""
    translated = {"mt": "Mt", "et": "Et", "et2": "Et2", "mt2": "Mt2"}
    found = tm.run(node.take({name: f"({text}).{name}" for name in names}))
    for name in names:
        ours = np.asarray(found[name], dtype=float)
        wanted = np.broadcast_to(getattr(expected, translated.get(name, name)), ours.shape)
        close = np.isclose(ours, wanted, rtol=rel, atol=1e-12 + rel * size, equal_nan=True)
        if name == "phi":
            close |= np.isclose(abs(ours - wanted), 2 * np.pi, rtol=1e-9)
        assert close.all(), (text, name, ours[~close][:4], wanted[~close][:4])


ANGLES = ("theta", "costheta", "cottheta", "et", "et2")


def test_angles_without_transverse_momentum(node, columns):
    a = theirs(columns, "a")
    assert (columns["a_pt"] == 0).any()
    check(node, columns, "vector(pt=a_pt, eta=a_eta, phi=a_phi, mass=a_mass)", a, ANGLES)
    check(node, columns, "a", a, ANGLES)
    for pz in (5.0, -5.0, 0.0):
        zero = np.zeros(N)
        on_beam = vector.array({"px": zero, "py": zero, "pz": zero + pz, "energy": zero + 7})
        text = f"vector(px=0 * a_pt, py=0, pz={pz}, energy=7)"
        check(node, columns, text, on_beam, (*ANGLES, "eta", "p"))


@pytest.mark.parametrize("factor", [2.0, -0.5, 0.0])
def test_multiples_keep_what_is_stored(node, columns, factor):
    names = ("pt", "phi", "eta", "mass", "px", "pz", "theta", "costheta", "mass2")
    if factor == 0:  # which the package takes for negative
        names = [name for name in names if name not in ("phi", "theta", "costheta", "eta")]
    check(node, columns, f"{factor} * a", theirs(columns, "a").scale(factor), names)
    exact = tm.run(node.filter("a_mass == 0").take({"m": f"({factor} * a).mass"}))["m"]
    assert (np.asarray(exact) == 0).all()
    cartesian = theirs(columns, "ac").scale(factor)
    check(node, columns, f"{factor} * ac", cartesian, ("px", "py", "pz", "energy", "pt", "mass"))
    turning = theirs(columns, "a").scale(columns["k"])
    check(node, columns, "k * a", turning, ("pt", "phi", "eta", "mass"))


def test_energies_have_the_signs_of_four_vectors(node, columns):
    """The package's are positive for vectors with a mass: here all four components change."""
    found = tm.run(node.take({"e": "(-a).energy", "own": "a.energy", "d": "(a - b).energy"}))
    assert (np.asarray(found["e"]) == -np.asarray(found["own"])).all()
    wanted = theirs(columns, "a").energy - theirs(columns, "b").energy
    np.testing.assert_allclose(np.asarray(found["d"]), wanted, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("name", ["a", "ac"])
@pytest.mark.parametrize("axis", "XYZ")
def test_rotations(node, columns, name, axis):
    expected = getattr(theirs(columns, name), f"rotate{axis}")(columns["angle"])
    names = ("px", "py", "pz", "energy", "mass", "pt", "phi")
    size = abs(theirs(columns, name).p) + columns.get(f"{name}_mass", 0)
    check(node, columns, f"{name}.rotate{axis}(angle)", expected, names[:4], size)
    check(node, columns, f"{name}.rotate{axis}(angle=angle)", expected, names[:4], size)
    if axis == "Z":
        check(node, columns, f"{name}.rotateZ(angle)", expected, ("pt", "phi", "mass"), 1e-5)


@pytest.mark.parametrize("name", ["a", "ac"])
@pytest.mark.parametrize("axis", "XYZ")
def test_boosts_along_an_axis(node, columns, name, axis):
    boost = getattr(theirs(columns, name), f"boost{axis}")
    size = 40 * theirs(columns, name).energy
    names = ("px", "py", "pz", "energy")
    check(node, columns, f"{name}.boost{axis}(beta)", boost(columns["beta"]), names, size)
    check(node, columns, f"{name}.boost{axis}(beta=beta)", boost(beta=columns["beta"]), names, size)
    by_gamma = boost(gamma=columns["gamma"])
    check(node, columns, f"{name}.boost{axis}(gamma=gamma)", by_gamma, names, size)


@pytest.mark.parametrize("name", ["a", "ac"])
@pytest.mark.parametrize("method", ["boost", "boostCM_of", "boost_p4", "boostCM_of_p4"])
def test_boosts_by_a_momentum(node, columns, name, method):
    by = theirs(columns, "bc")
    expected = getattr(theirs(columns, name), method)(by)
    size = by.gamma * theirs(columns, name).energy
    check(node, columns, f"{name}.{method}(bc)", expected, ("px", "py", "pz", "energy"), size)


@pytest.mark.parametrize("method", ["boost", "boost_beta3", "boostCM_of", "boostCM_of_beta3"])
def test_boosts_by_a_velocity(node, columns, method):
    expected = getattr(theirs(columns, "ac"), method)(theirs(columns, "v"))
    size = 10 * columns["ac_energy"]
    check(node, columns, f"ac.{method}(v)", expected, ("px", "py", "pz", "energy"), size)


@pytest.mark.parametrize("method", ["boost", "boostCM_of", "boost_p4", "boostCM_of_p4"])
def test_nothing_is_boosted_faster_than_light(node, columns, method):
    """Some of these momenta have less energy than momentum, as vector sees it; and those that are
    given by a mass have one below 0."""
    own = theirs(columns, "ac")
    energy = columns["bc_energy"] * 0.8
    by = vector.array({f"p{axis}": columns[f"bc_p{axis}"] for axis in "xyz"} | {"energy": energy})
    with np.errstate(invalid="ignore"):
        expected = getattr(own, method)(by)
    assert 0 < np.isnan(expected.energy).sum() < N
    slow = ~np.isnan(expected.energy)
    size = np.abs(energy / np.sqrt(np.where(slow, energy**2 - by.p**2, 1))) * own.energy
    names = ("px", "py", "pz", "energy")
    text = "vector(px=bc_px, py=bc_py, pz=bc_pz, energy=0.8 * bc_energy)"
    check(node, columns, f"ac.{method}({text})", expected, names, size)
    text = "vector(pt=a_pt, eta=a_eta, phi=a_phi, mass=-1 - a_mass)"
    found = tm.run(node.take({name: f"ac.{method}({text}).{name}" for name in names}))
    assert all(np.isnan(np.asarray(found[name])).all() for name in names)


def test_the_frame_of_a_pair(node):
    """In the rest frame of a sum its terms are back to back."""
    pair = "(ac + bc)"
    one, other = (f"{name}.boostCM_of{pair}" for name in ("ac", "bc"))
    found = tm.run(
        node.take(
            {"p": f"({one} + {other}).p", "e": f"({one} + {other}).energy", "m": f"{pair}.mass"}
        )
    )
    np.testing.assert_allclose(np.asarray(found["e"]), np.asarray(found["m"]), rtol=1e-6)
    assert (np.asarray(found["p"]) < 1e-6 * np.asarray(found["e"])).all()


def test_lists_are_boosted_item_by_item(tmp_path):
    rng = np.random.default_rng(5)
    jets = {f"Jet_{part}": "var * float64" for part in ("pt", "eta", "phi", "mass")}
    data = {name: [list(rng.uniform(1, 3, n)) for n in (2, 0, 3)] for name in jets}
    path = tmp_path / "jets.root"

    with uproot.recreate(path) as file:
        fields = {name.removeprefix("Jet_"): ak.Array(value) for name, value in data.items()}
        file.mktree("t", {"Jet": ak.type(ak.zip(fields)).content})
        file["t"].extend({"Jet": ak.zip(fields)})
    node = tm.dataset(path, tree="t").filter("True")
    total = node.sum("sum(j.boostCM_of(sum(Jet)).energy for j in Jet)").value
    assert total == pytest.approx(node.sum("sum(Jet).mass").value)
    assert node.sum("sum(Jet.rotateX(0.7).p)").value == (
        pytest.approx(node.sum("sum(Jet.p)").value)
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a.rotateX()", "takes one number: angle="),
        ("a.boostX(1, 2)", "takes one number: beta= or gamma="),
        ("a.boostX(alpha=1)", "takes one number: beta= or gamma="),
        ("a.rotateW(1)", "did you mean rotate"),
        ("a.boost(1).pt", "is no vector"),
        ("a.boost(bc, by=1).pt", "takes no argument by="),
        ('a.rotateX("x").pt', "takes a number"),
    ],
)
def test_what_is_no_turn(node, text, words):
    with pytest.raises(QueryError) as error:
        tm.run(node.sum(text if text.endswith("pt") else f"({text}).pt"))
    assert words in str(error.value)
