"""The made-up collisions of the tutorials: decays keep energy, momentum and masses, and the samples
have what the tutorials find in them."""

import awkward as ak
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from treemill.facility.collisions.events import BAD_SECTIONS, recorded, simulated
from treemill.facility.collisions.processes import PROCESSES, at, decayed


def mass(p):
    return np.sqrt(np.maximum(p[:, 0] ** 2 - (p[:, 1:] ** 2).sum(axis=1), 0))


@given(
    seed=st.integers(0, 1000),
    pt=st.floats(0.1, 2000),
    y=st.floats(-4, 4),
    parent=st.floats(50, 500),
    shares=st.tuples(st.floats(0, 0.6), st.floats(0, 0.39)),
)
def test_decays_keep_energy_and_momentum(seed, pt, y, parent, shares):
    rng = np.random.default_rng(seed)
    (pt, y, phi, m) = (np.full(20, value) for value in (pt, y, 1.0, parent))
    p = at(pt, y, phi, m)
    masses = [share * parent for share in shares]
    parts = decayed(rng, p, (masses[0], masses[1]))
    scale = p[:, 0].max()
    np.testing.assert_allclose(parts[0] + parts[1], p, atol=1e-9 * scale)
    for found, wanted in zip(parts, masses, strict=True):
        assert abs(mass(found) - wanted).max() < 1e-6 * scale


@pytest.mark.parametrize("name", [*PROCESSES, "data"])
def test_equal_seeds_give_equal_events(name):
    def made(seed, part):
        return recorded(seed, part, 0.3) if name == "data" else simulated(name, seed, part, 500)

    one, again, other, next_part = made(1, 0), made(1, 0), made(2, 0), made(1, 1)
    assert ak.array_equal(one["Jet"], again["Jet"])
    assert not ak.array_equal(one["Jet"], other["Jet"])
    assert not set(one["event"]) & set(next_part["event"])
    assert not ak.array_equal(one["Jet"], next_part["Jet"])
    assert ak.all(one["Muon"].pt[:, :-1] >= one["Muon"].pt[:, 1:])
    assert ("genWeight" in one) == (name != "data")


def test_sections_that_are_not_certified_have_noise():
    data = recorded(1, 0, 9.0)
    section, met = data["luminosityBlock"], data["MET_pt"]
    bad = (section >= BAD_SECTIONS[0]) & (section <= BAD_SECTIONS[1])
    assert met[bad].mean() > met[~bad].mean() + 40
