"""Made-up events for an analysis of top quarks, with NanoAOD's branches: hard partons that decay
isotropically, soft jets, a detector that loses some of it and blurs the rest.

Values depend on the random generator alone. Knows no file.
"""

from dataclasses import dataclass

import awkward as ak
import numpy as np
from treemill.facility.physics import angles, falling, jagged

TOP, W = (172.5, 1.4), (80.4, 2.1)
"""Masses and widths in GeV."""
HADRONIC_W, HADRONIC_B, LEPTONIC_B = 1, 2, 3
"""What a jet comes from, in the branch `Jet_topLabel`; 0: anything else. In real files jets are
matched with `GenPart`."""


@dataclass(frozen=True)
class Process:
    """What is in an event besides its soft jets."""

    xsec: float
    """In pb."""
    tops: int = 0
    bosons: int = 0
    """W bosons that are not from a top quark."""
    bottoms: int = 0
    quarks: int = 0
    soft: float = 3.0
    """Soft jets in the mean."""
    pt: float = 80.0
    """Transverse momentum of tops and bosons in the mean, in GeV."""
    blur: float = 0.10
    """Resolution of the jets' energy."""


PROCESSES = {
    "ttbar__nominal": Process(729.84, tops=2),
    "ttbar__ME_var": Process(729.84, tops=2, pt=86.0, soft=2.9),
    "ttbar__PS_var": Process(729.84, tops=2, soft=3.2, blur=0.11),
    "ttbar__scaleup": Process(729.84, tops=2, soft=2.8),
    "ttbar__scaledown": Process(729.84, tops=2, soft=3.2),
    "single_top_s_chan__nominal": Process(3.294, tops=1, bottoms=1, soft=2.4),
    "single_top_t_chan__nominal": Process(234.8, tops=1, quarks=1, soft=2.4),
    "single_top_tW__nominal": Process(75.842, tops=1, bosons=1, soft=2.6),
    # As if generated with several jets only, a small part of all W + jets.
    "wjets__nominal": Process(0.06 * 15487.164, bosons=1, soft=8.0, pt=50.0),
}
"""The samples of the Analysis Grand Challenge, with its cross sections."""


def made_up(name: str, seed: int, start: int, count: int) -> dict[str, object]:
    """Columns of events `[start, start + count)`: numpy arrays, and awkward arrays of records for
    collections."""
    process = PROCESSES[name]
    rng = np.random.default_rng([seed, [*PROCESSES].index(name), start])
    partons, leptons = _hard(rng, process, count)
    return {
        "run": np.ones(count, np.uint32),
        "luminosityBlock": (np.arange(start, start + count) // 1000 + 1).astype(np.uint32),
        "event": np.arange(start + 1, start + count + 1, dtype=np.uint64),
        "genWeight": np.ones(count, np.float32),
        "Electron": ak.zip(_electrons(rng, leptons, count)),
        "Muon": ak.zip(_muons(rng, leptons, count)),
        "Jet": ak.zip(_jets(rng, process, partons, count)),
        "MET_pt": rng.exponential(45.0, count).astype(np.float32),
        "MET_phi": angles(rng, count).astype(np.float32),
        "PV_npvs": rng.poisson(12.0, count).astype(np.int32),
    }


# Momenta are arrays of px, py, pz, E: shape (4, events).


def _hard(rng, process, count):
    """Partons, as pairs of momenta and labels, and leptons, as triples of momenta, "is there" and
    "is a muon"."""
    partons, leptons = [], []

    def w_decay(boson, from_top):
        is_leptonic = rng.random(count) < (0.33 if from_top else 0.66)
        one, other = _decay(rng, boson, 0.0, 0.0)
        label = np.where(is_leptonic, 0, HADRONIC_W if from_top else 0)
        for quark in (one, other):
            partons.append((quark * ~is_leptonic, label))
        leptons.append((one, is_leptonic & (rng.random(count) < 0.9), rng.random(count) < 0.5))
        return is_leptonic

    for _ in range(process.tops):
        boson, bottom = _decay(rng, _born(rng, TOP, process.pt, count), W[0], 4.8)
        is_leptonic = w_decay(boson, from_top=True)
        partons.append((bottom, np.where(is_leptonic, LEPTONIC_B, HADRONIC_B)))
    for _ in range(process.bosons):
        w_decay(_born(rng, W, process.pt, count), from_top=False)
    for number, mass, label in ((process.bottoms, 4.8, -5), (process.quarks, 0.1, 0)):
        for _ in range(number):
            partons.append(
                (_born(rng, (mass, 0.0), 0.6 * process.pt, count), np.full(count, label))
            )
    return partons, leptons


def _born(rng, of, pt, count):
    mass = np.maximum(of[0] + of[1] / 2 * np.clip(rng.standard_cauchy(count), -20, 20), 0.1)
    pt, phi, y = rng.gamma(2.0, pt / 2, count), angles(rng, count), rng.normal(0, 1.1, count)
    across = np.hypot(mass, pt)
    return np.stack([pt * np.cos(phi), pt * np.sin(phi), across * np.sinh(y), across * np.cosh(y)])


def _decay(rng, parent, mass, other):
    """The two momenta of an isotropic decay."""
    whole = np.sqrt(np.maximum(parent[3] ** 2 - (parent[:3] ** 2).sum(axis=0), 1.0))
    mass, other = np.minimum(mass, 0.9 * whole), np.minimum(other, 0.05 * whole)
    p = np.sqrt((whole**2 - (mass + other) ** 2) * (whole**2 - (mass - other) ** 2)) / (2 * whole)
    cos, phi = rng.uniform(-1, 1, len(whole)), angles(rng, len(whole))
    sin = np.sqrt(1 - cos**2)
    at_rest = np.stack([p * sin * np.cos(phi), p * sin * np.sin(phi), p * cos, np.hypot(p, mass)])
    velocity, gamma = parent[:3] / parent[3], parent[3] / whole
    along = (velocity * at_rest[:3]).sum(axis=0)
    shift = gamma * (gamma / (gamma + 1) * along + at_rest[3])
    first = np.concatenate([at_rest[:3] + shift * velocity, [gamma * (at_rest[3] + along)]])
    return first, parent - first


def _jets(rng, process, partons, count):
    momenta = [np.concatenate([p for p, _ in partons], axis=1)] if partons else []
    labels = np.concatenate([label for _, label in partons])
    event = np.tile(np.arange(count), len(partons))
    blurred = momenta[0] * rng.normal(0.97, process.blur, len(event))
    pt, eta, phi, mass = _coordinates(blurred)
    number = rng.negative_binomial(3, 3 / (3 + process.soft), count)
    soft = int(number.sum())
    event = np.concatenate([event, np.repeat(np.arange(count), number)])
    labels = np.concatenate([labels, np.zeros(soft, int)])
    pt = np.concatenate([pt, falling(rng, soft, 15.0, 3.0)])
    eta = np.concatenate([eta, rng.normal(0.0, 1.9, soft)])
    phi = np.concatenate([phi, angles(rng, soft)])
    mass = np.concatenate([mass, np.zeros(soft)]) + rng.gamma(4.0, 0.02, len(event)) * pt
    kept = (pt > 15.0) & (np.abs(eta) < 4.7)
    order = np.argsort(event[kept], kind="stable")
    event, labels, pt, eta, phi, mass = (
        x[kept][order] for x in (event, labels, pt, eta, phi, mass)
    )
    total = len(event)
    is_bottom = np.isin(labels, (HADRONIC_B, LEPTONIC_B, -5)) | (rng.random(total) < 0.05)
    is_quark = (labels != 0) & ~is_bottom
    columns = {
        "pt": pt,
        "eta": eta,
        "phi": phi,
        "mass": mass,
        "btagCSVV2": np.where(is_bottom, rng.beta(5.0, 1.6, total), rng.beta(1.2, 5.0, total)),
        "qgl": np.where(is_quark, rng.beta(3.0, 1.2, total), rng.beta(1.2, 2.2, total)),
        "jetId": np.where(rng.random(total) < 0.97, 6, 2),
        "nConstituents": rng.poisson(20, total),
        "area": rng.normal(0.5, 0.02, total),
        "topLabel": np.maximum(labels, 0),
    }
    return jagged(columns, np.bincount(event, minlength=count))


def _coordinates(momentum):
    px, py, pz, energy = momentum
    pt = np.hypot(px, py)
    eta = np.arcsinh(pz / np.maximum(pt, 1e-3))
    mass = np.sqrt(np.maximum(energy**2 - px**2 - py**2 - pz**2, 0.0))
    return pt, eta, np.arctan2(py, px), mass


def _leptons(rng, leptons, count, of_muons, least, mass):
    """Columns, and the numbers of an event, of those from W bosons and of softer ones in jets."""
    found, event = [], []
    for momentum, is_there, is_muon in leptons:
        chosen = is_there & (is_muon == of_muons)
        found.append(np.stack(_coordinates(momentum[:, chosen])[:3]))
        event.append(np.flatnonzero(chosen))
    is_prompt = np.ones(sum(map(len, event)), bool)
    number = rng.poisson(0.35, count)
    soft = int(number.sum())
    pt, eta = falling(rng, soft, least, 3.4), rng.uniform(-2.5, 2.5, soft)
    found.append(np.stack([pt, eta, angles(rng, soft)]))
    event.append(np.repeat(np.arange(count), number))
    pt, eta, phi = np.concatenate(found, axis=1)
    event = np.concatenate(event)
    is_prompt = np.concatenate([is_prompt, np.zeros(soft, bool)])
    kept = (pt > least) & (np.abs(eta) < 2.5)
    order = np.argsort(event[kept], kind="stable")
    event, pt, eta, phi, is_prompt = (x[kept][order] for x in (event, pt, eta, phi, is_prompt))
    total = len(event)
    columns = {
        "pt": pt,
        "eta": eta,
        "phi": phi,
        "mass": np.full(total, mass),
        "charge": 2 * rng.integers(0, 2, total) - 1,
        "sip3d": np.where(is_prompt, rng.exponential(0.8, total), rng.exponential(4.0, total)),
    }
    return columns, np.bincount(event, minlength=count), is_prompt


def _electrons(rng, leptons, count):
    columns, counts, is_prompt = _leptons(rng, leptons, count, False, 5.0, 0.000511)
    is_tight = rng.random(len(is_prompt)) < np.where(is_prompt, 0.85, 0.15)
    columns["cutBased"] = np.where(is_tight, 4, rng.integers(0, 4, len(is_prompt)))
    return jagged(columns, counts)


def _muons(rng, leptons, count):
    columns, counts, is_prompt = _leptons(rng, leptons, count, True, 3.0, 0.10566)
    total = len(is_prompt)
    columns["pfRelIso04_all"] = rng.exponential(np.where(is_prompt, 0.05, 0.5))
    columns["tightId"] = rng.random(total) < np.where(is_prompt, 0.95, 0.4)
    made = jagged(columns, counts)
    made["tightId"] = ak.values_astype(made["tightId"], bool)
    return made
