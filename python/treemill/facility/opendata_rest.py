"""Made-up columns of CMS's open data that no task of the analysis description benchmark asks for:
taus, photons, and some of muons, electrons and missing momentum.

They are drawn by a generator of their own, so that columns which tasks ask for have the values that
they had before these were added. Nothing is published of how many taus and photons the real events
have: taus are made of central jets, and photons are drawn. Knows no file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .physics import angles, falling, jagged

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .physics import Column, Columns, Floats, Lists

__all__ = [
    "UNDEFINED",
    "generator",
    "met_covariance",
    "photons",
    "taus",
    "with_rest_of_electron",
    "with_rest_of_muon",
]

UNDEFINED = -999.0
"""What CMS writes if an isolation is not defined."""
_MARK = 1
"""Sets the generator apart from the one of the other columns."""
_PION_MASS = 0.13957
_ISOLATIONS = {"VLoose": 3.0, "Loose": 2.0, "Medium": 1.0, "Tight": 0.8}
"""The most energy around a tau, in GeV, by working point."""
_REJECTIONS = {"Loose": 0.9, "Medium": 0.75, "Tight": 0.6}
"""How many taus pass each working point against electrons or muons."""


def generator(seed: int, file: int, start: int) -> np.random.Generator:
    """The random generator of these columns for the events from `start` on."""
    return np.random.default_rng([2012, seed, file, start, _MARK])


def with_rest_of_muon(rng: np.random.Generator, muon: Lists) -> Lists:
    """Muons with the isolation in a wider cone, which has more in it, and without partners."""
    import awkward as ak

    counts = ak.num(muon["pt"])
    narrow = ak.to_numpy(ak.flatten(muon["pfRelIso03_all"]))
    more = narrow * (1.0 + rng.exponential(0.4, len(narrow)))
    wide = np.where(narrow == UNDEFINED, UNDEFINED, more).astype(np.float32)
    rest = {
        "pfRelIso04_all": ak.unflatten(wide, counts),
        "genPartIdx": ak.unflatten(_no_partners(len(narrow)), counts),
    }
    return muon | rest


def with_rest_of_electron(rng: np.random.Generator, electron: Lists) -> Lists:
    """Electrons with the identification by cuts, and without partners."""
    import awkward as ak

    counts = ak.num(electron["pt"])
    total = int(ak.sum(counts))
    rest = {
        "cutBasedId": ak.unflatten(rng.random(total) < 0.9, counts),
        "genPartIdx": ak.unflatten(_no_partners(total), counts),
    }
    return electron | rest


def taus(rng: np.random.Generator, jet: Lists) -> Lists:
    """A tau for each central jet that has still a pt > 15 without what is around the tau."""
    import awkward as ak

    total = int(ak.sum(ak.num(jet["pt"])))
    kept = ak.unflatten(rng.beta(8.0, 1.0, total), ak.num(jet["pt"])) * jet["pt"]
    taken = (kept > 15.0) & (abs(jet["eta"]) < 2.3)
    counts = ak.to_numpy(ak.sum(taken, axis=1))
    total = int(counts.sum())
    decay = rng.choice([0, 1, 2, 10], total, p=[0.4, 0.35, 0.1, 0.15])
    around = rng.exponential(4.0, total)
    columns: dict[str, Column] = {
        "pt": ak.to_numpy(ak.flatten(kept[taken])),
        "eta": ak.to_numpy(ak.flatten(jet["eta"][taken])),
        "phi": ak.to_numpy(ak.flatten(jet["phi"][taken])),
        # A tau with one charged pion has the pion's mass.
        "mass": np.where(decay == 0, _PION_MASS, rng.normal(1.0, 0.15, total).clip(0.3, 1.7)),
        "charge": 2 * rng.integers(0, 2, total) - 1,
        "decayMode": decay,
        "relIso_all": rng.exponential(0.5, total),
        "jetIdx": ak.to_numpy(ak.flatten(ak.local_index(jet["pt"])[taken])),
        "genPartIdx": _no_partners(total),
        "idDecayMode": rng.random(total) < 0.8,
        "idIsoRaw": around,
    }
    for point, most in _ISOLATIONS.items():
        columns[f"idIso{point}"] = around < most
    for other in ("Ele", "Mu"):
        drawn = rng.random(total)
        for point, share in _REJECTIONS.items():
            columns[f"idAnti{other}{point}"] = drawn < share
    return jagged(columns, counts)


def photons(rng: np.random.Generator, jet: Lists) -> Lists:
    """About two photons an event, of pt > 5, some of which are in a jet."""
    import awkward as ak

    jets = ak.to_numpy(ak.num(jet["pt"]))
    counts = rng.poisson(2.0, len(jets))
    total = int(counts.sum())
    around = np.repeat(jets, counts)
    in_jet = (rng.random(total) < 0.4) & (around > 0)
    isolation = np.where(rng.random(total) < 0.02, UNDEFINED, rng.exponential(0.3, total))
    return jagged(
        {
            "pt": falling(rng, total, 5.0, 3.0),
            "eta": rng.uniform(-2.5, 2.5, total),
            "phi": angles(rng, total),
            "mass": np.zeros(total),
            "charge": np.zeros(total, np.int64),
            "pfRelIso03_all": isolation,
            "jetIdx": np.where(in_jet, rng.integers(0, np.maximum(around, 1)), -1),
            "genPartIdx": _no_partners(total),
        },
        counts,
    )


def met_covariance(rng: np.random.Generator, sum_et: Floats) -> Columns:
    """A positive definite matrix, which grows with the energy of the event."""
    count = len(sum_et)
    xx, yy = (sum_et * rng.gamma(8.0, 0.05, count) for _ in "xy")
    xy = rng.uniform(-0.3, 0.3, count) * np.sqrt(xx * yy)
    matrix = {"XX": xx, "XY": xy, "YY": yy}
    return {f"MET_Cov{axes}": column.astype(np.float32) for axes, column in matrix.items()}


def _no_partners(total: int) -> NDArray[np.int32]:
    """Indices of generated particles, of which data has none."""
    return np.full(total, -1, np.int32)
