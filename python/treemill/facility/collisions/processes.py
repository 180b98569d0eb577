"""The processes of the made-up collisions, as leptons, quarks and neutrinos before any detector,
and how often they happen. The cross sections are of the right order; they are not for quoting.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..physics import angles, falling

if TYPE_CHECKING:
    from ..physics import Floats, Integers

__all__ = [
    "LUMINOSITY",
    "PROCESSES",
    "SCALE_FACTORS",
    "Particles",
    "SimulatedProcess",
    "at",
    "coordinates",
    "decayed",
]

# Decays into two particles: four-vectors of many events at once, as arrays with a row (E, px, py,
# pz) for each.


def breit_wigner(
    rng: np.random.Generator, count: int, mass: float, width: float, low: float, high: float
) -> Floats:
    """Masses of a resonance between two limits, by the inverse of the cumulative distribution."""
    edges = [np.arctan((edge - mass) * 2 / width) for edge in (low, high)]
    masses: Floats = mass + width / 2 * np.tan(rng.uniform(edges[0], edges[1], count))
    return masses


def at(pt: Floats, y: Floats, phi: Floats, mass: Floats) -> Floats:
    """Four-vectors with a transverse momentum, a rapidity, an azimuth and a mass."""
    transverse = np.hypot(pt, mass)
    return np.stack(
        [transverse * np.cosh(y), pt * np.cos(phi), pt * np.sin(phi), transverse * np.sinh(y)],
        axis=1,
    )


def coordinates(p: Floats) -> tuple[Floats, Floats, Floats]:
    """pt, eta and phi."""
    pt = np.hypot(p[:, 1], p[:, 2])
    return pt, np.arcsinh(p[:, 3] / np.maximum(pt, 1e-3)), np.arctan2(p[:, 2], p[:, 1])


def decayed(
    rng: np.random.Generator, parent: Floats, masses: tuple[Floats | float, Floats | float]
) -> tuple[Floats, Floats]:
    """The two particles with these masses that each parent decays into, in all directions alike in
    the parent's frame."""
    mass = np.sqrt(np.maximum(parent[:, 0] ** 2 - (parent[:, 1:] ** 2).sum(axis=1), 1e-6))
    one, two = masses
    momentum = np.sqrt(
        np.maximum((mass**2 - (one + two) ** 2) * (mass**2 - (one - two) ** 2), 0.0)
    ) / (2 * mass)
    cos, phi = rng.uniform(-1, 1, len(mass)), rng.uniform(-np.pi, np.pi, len(mass))
    sin = np.sqrt(1 - cos**2)
    p = momentum[:, None] * np.stack([sin * np.cos(phi), sin * np.sin(phi), cos], axis=1)
    return (
        _boosted(np.hypot(momentum, one), p, parent, mass),
        _boosted(np.hypot(momentum, two), -p, parent, mass),
    )


def _boosted(energy: Floats, p: Floats, parent: Floats, mass: Floats) -> Floats:
    """A particle of the parent's frame in the frame in which the parent moves."""
    along = (parent[:, 1:] * p).sum(axis=1)
    total = (parent[:, 0] * energy + along) / mass
    share = (energy + total) / (parent[:, 0] + mass)
    moved: Floats = np.concatenate([total[:, None], p + share[:, None] * parent[:, 1:]], axis=1)
    return moved


LUMINOSITY = 30.0
"""The luminosity of the data, in 1/pb."""
SCALE_FACTORS = ((0.0, 0.9, 0.97), (0.9, 1.2, 0.92), (1.2, 2.1, 0.95), (2.1, 2.4, 0.88))
"""The efficiency for muons in data over that in simulation, for |eta| from, to."""

MUON, ELECTRON, LIGHT, HEAVY, NEUTRINO = 13, 11, 1, 5, 14
"""Kinds of particles."""
_W, _W_WIDTH, _TOP, _TOP_WIDTH, _BOTTOM = 80.4, 2.1, 172.5, 1.4, 4.7
_ISR_POWER = 3.6


@dataclass
class Particles:
    """Particles of many events: each has the number of its event, a kind and a four-vector."""

    event: Integers
    kind: Integers
    charge: Integers
    p: Floats

    @staticmethod
    def of(event: Integers, kind: Integers | int, charge: Integers | int, p: Floats) -> Particles:
        """Makes particles, which may have one kind or one charge for all."""
        full = np.broadcast_to
        return Particles(event, full(kind, len(event)), full(charge, len(event)), p)

    @staticmethod
    def joined(parts: list[Particles]) -> Particles:
        """Joins several sets of particles."""
        return Particles(
            *(
                np.concatenate([getattr(part, name) for part in parts])
                for name in ("event", "kind", "charge", "p")
            )
        )


@dataclass(frozen=True)
class SimulatedProcess:
    """What is simulated, and how often."""

    title: str
    cross_section: float
    """The cross section in pb."""
    events: int
    """Simulated."""
    particles: Callable[[np.random.Generator, int], Particles]


def _w_decay(
    rng: np.random.Generator, event: Integers, w: Floats, sign: Integers, leptonic: float
) -> list[Particles]:
    """Quarks, or with this share a lepton and a neutrino. More muons than electrons: what comes
    from taus is counted as muons."""
    one, two = decayed(rng, w, (0.0, 0.0))
    is_lepton = rng.random(len(event)) < leptonic
    lepton = np.where(rng.random(len(event)) < 0.6, MUON, ELECTRON)
    return [
        Particles(event, np.where(is_lepton, lepton, LIGHT), np.where(is_lepton, sign, 0), one),
        Particles.of(event, np.where(is_lepton, NEUTRINO, LIGHT), 0, two),
    ]


def _top_decay(
    rng: np.random.Generator, event: Integers, top: Floats, sign: Integers, leptonic: float
) -> list[Particles]:
    count = len(event)
    w_mass = breit_wigner(rng, count, _W, _W_WIDTH, 60.0, 100.0)
    bottom, w = decayed(rng, top, (_BOTTOM, w_mass))
    quark = Particles.of(event, HEAVY, 0, bottom)
    return [quark, *_w_decay(rng, event, w, sign, leptonic)]


def _tops(rng: np.random.Generator, count: int, phi: Floats) -> Floats:
    mass = breit_wigner(rng, count, _TOP, _TOP_WIDTH, 160.0, 185.0)
    return at(rng.gamma(2.2, 48.0, count), rng.normal(0.0, 0.9, count), phi, mass)


def _radiation(
    rng: np.random.Generator, counts: Integers, least: float = 20.0, heavy: float = 0.02
) -> Particles:
    """Jets that come with any process, some of them of heavy quarks."""
    event = np.repeat(np.arange(len(counts)), counts)
    total = len(event)
    pt = np.minimum(falling(rng, total, least, _ISR_POWER), 1500.0)
    eta = np.clip(rng.normal(0.0, 1.8, total), -4.6, 4.6)
    kind = np.where(rng.random(total) < heavy, HEAVY, LIGHT)
    return Particles.of(event, kind, 0, at(pt, eta, angles(rng, total), np.full(total, 0.1)))


def _top_pairs(rng: np.random.Generator, count: int) -> Particles:
    """Draws top pairs with at least one lepton."""
    event, phi = np.arange(count), angles(rng, count)
    sign = 2 * rng.integers(0, 2, count) - 1
    first, second = _tops(rng, count, phi), _tops(rng, count, phi + np.pi)
    return Particles.joined(
        [
            *_top_decay(rng, event, first, sign, 1.0),
            *_top_decay(rng, event, second, -sign, 0.2),
            _radiation(rng, rng.poisson(0.9, count)),
        ]
    )


def _single_tops(rng: np.random.Generator, count: int) -> Particles:
    event, phi = np.arange(count), angles(rng, count)
    sign = 2 * rng.integers(0, 2, count) - 1
    eta = rng.choice([-1, 1], count) * rng.normal(2.6, 0.8, count)
    recoil = at(20.0 + rng.gamma(2.0, 18.0, count), eta, phi + np.pi, np.full(count, 0.1))
    return Particles.joined(
        [
            *_top_decay(rng, event, _tops(rng, count, phi), sign, 1.0),
            Particles.of(event, LIGHT, 0, recoil),
            _radiation(rng, rng.poisson(1.1, count), heavy=0.1),
        ]
    )


def _w_and_jets(rng: np.random.Generator, count: int) -> Particles:
    """A W boson that decays to leptons, with two jets or more."""
    event, phi = np.arange(count), angles(rng, count)
    sign = 2 * rng.integers(0, 2, count) - 1
    mass = breit_wigner(rng, count, _W, _W_WIDTH, 60.0, 100.0)
    w = at(rng.gamma(2.0, 28.0, count), rng.normal(0.0, 1.3, count), phi, mass)
    jets = _radiation(rng, 2 + rng.poisson(1.6, count), heavy=0.08)
    return Particles.joined([*_w_decay(rng, event, w, sign, 1.0), jets])


def _z_to_muons(rng: np.random.Generator, count: int) -> Particles:
    event, phi = np.arange(count), angles(rng, count)
    mass = breit_wigner(rng, count, 91.19, 2.5, 40.0, 200.0)
    z = at(rng.exponential(18.0, count), rng.normal(0.0, 1.1, count), phi, mass)
    one, two = decayed(rng, z, (0.1057, 0.1057))
    jets = _radiation(rng, rng.poisson(0.8, count))
    return Particles.joined(
        [Particles.of(event, MUON, 1, one), Particles.of(event, MUON, -1, two), jets]
    )


PROCESSES = {
    "zmumu": SimulatedProcess("Z → μμ", 2_000.0, 80_000, _z_to_muons),
    "wjets": SimulatedProcess("W + jets", 1_300.0, 50_000, _w_and_jets),
    "single_top": SimulatedProcess("single top", 70.0, 10_000, _single_tops),
    "ttbar": SimulatedProcess("$t\\bar{t}$", 366.0, 40_000, _top_pairs),
}
