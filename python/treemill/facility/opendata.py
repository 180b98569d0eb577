"""Made-up events with the branches of CMS's open data in NanoAOD form, `Run2012B_SingleMu`, as the
analysis description benchmark reads them, and with its numbers of electrons, muons and jets. Values
depend on the seed, the file and the place in it.

The branches are those that https://github.com/cms-opendata-analyses/AOD2NanoAODOutreachTool wrote.
Knows no file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from . import multiplicities, opendata_rest
from .opendata_rest import UNDEFINED
from .physics import angles, counted_electrons, counted_muons, falling, jagged, missing_momentum

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .physics import Column, Columns, Integers, Lists

__all__ = ["chunk"]

_TRIGGERS = {"IsoMu24_eta2p1": 0.55, "IsoMu24": 0.6, "IsoMu17_eta2p1_LooseIsoPFTau20": 0.07}


def chunk(seed: int, file: int, start: int, count: int) -> Columns:
    """Columns of events `[start, start + count)` of a file: numpy arrays, and awkward arrays of
    records for collections."""
    import awkward as ak

    # The schema's number makes these events differ from the demo's.
    rng = np.random.default_rng([2012, seed, file, start])
    muon, electron, jet = (
        sampler(rng, multiplicities.drawn(rng, kind, count))
        for kind, sampler in (
            ("muons", counted_muons),
            ("electrons", counted_electrons),
            ("jets", _jets),
        )
    )
    muon = _with_lepton_quality(rng, muon, ids=("tightId", "softId"))
    electron = _with_lepton_quality(rng, electron, ids=("pfId",))
    met, met_phi = missing_momentum(rng, ak.sum(jet["pt"], axis=1))
    rest = opendata_rest.generator(seed, file, start)
    muon = opendata_rest.with_rest_of_muon(rest, muon)
    electron = opendata_rest.with_rest_of_electron(rest, electron)
    number = np.arange(count, dtype=np.uint64) + np.uint64(start)
    columns: Columns = {
        "run": np.full(count, 193_833 + file, dtype=np.int32),
        "luminosityBlock": (number // np.uint64(1_000) + np.uint64(1)).astype(np.uint32),
        "event": number + np.uint64(file) * np.uint64(10_000_000_000) + np.uint64(1),
    }
    for name, rate in _TRIGGERS.items():
        columns[f"HLT_{name}"] = rng.random(count) < rate
    columns["PV_npvs"] = rng.poisson(14.0, count).astype(np.int32)
    for axis, spread in (("x", 0.02), ("y", 0.02), ("z", 5.0)):
        columns[f"PV_{axis}"] = rng.normal(0.0, spread, count).astype(np.float32)
    columns |= {"Muon": ak.zip(muon), "Electron": ak.zip(electron), "Jet": ak.zip(jet)}
    tau, photon = opendata_rest.taus(rest, jet), opendata_rest.photons(rest, jet)
    columns |= {"Tau": ak.zip(tau), "Photon": ak.zip(photon)}
    sum_et = rng.gamma(6.0, 80.0, count)
    columns |= {
        "MET_pt": met.astype(np.float32),
        "MET_phi": met_phi.astype(np.float32),
        "MET_sumet": sum_et.astype(np.float32),
        "MET_significance": (met**2 / sum_et).astype(np.float32),
    }
    return columns | opendata_rest.met_covariance(rest, sum_et)


def _with_lepton_quality(rng: np.random.Generator, lepton: Lists, ids: tuple[str, ...]) -> Lists:
    """The leptons with isolation, impact parameters, identification and the index of a near jet
    (-1: none)."""
    import awkward as ak

    counts = ak.to_numpy(ak.num(lepton["pt"]))
    total = int(counts.sum())
    isolation = np.where(rng.random(total) < 0.02, UNDEFINED, rng.exponential(0.15, total))
    more: dict[str, NDArray[np.generic]] = {"pfRelIso03_all": isolation.astype(np.float32)}
    for axis, spread in (("dxy", 0.01), ("dz", 0.05)):
        more[axis] = rng.normal(0.0, spread, total).astype(np.float32)
        more[f"{axis}Err"] = rng.gamma(4.0, spread / 8, total).astype(np.float32)
    for name in ids:
        more[name] = rng.random(total) < 0.8
    near_jet = rng.random(total) < 0.3
    more["jetIdx"] = np.where(near_jet, 0, -1).astype(np.int32)
    return lepton | {name: ak.unflatten(column, counts) for name, column in more.items()}


def _jets(rng: np.random.Generator, counts: Integers) -> Lists:
    """So many jets of pt > 15 for each event. In a tenth of the events with three jets or more,
    three are hard, as of a top quark's decay."""
    import awkward as ak

    total = int(counts.sum())
    heavy = rng.random(total) < 0.12
    columns: dict[str, Column] = {
        "pt": falling(rng, total, 15.0, 4.0),
        "eta": np.clip(rng.normal(0.0, 1.9, total), -4.7, 4.7),
        "phi": angles(rng, total),
        "mass": rng.gamma(4.0, 2.2, total),
        "btag": np.where(heavy, rng.beta(6.0, 1.3, total), rng.beta(1.1, 7.0, total)),
    }
    top = (np.cumsum(counts) - counts)[(rng.random(len(counts)) < 0.1) & (counts >= 3)]
    hard = (top[:, None] + np.arange(3)).reshape(-1)
    number = len(hard)
    heavy = rng.random(number) < 0.4
    columns["pt"][hard] = falling(rng, number, 40.0, 4.5)
    columns["eta"][hard] = rng.normal(0.0, 1.2, number)
    columns["btag"][hard] = np.where(heavy, rng.beta(6.0, 1.3, number), rng.beta(1.1, 7.0, number))
    jet = jagged(columns, counts)
    jet["puId"] = ak.unflatten(rng.random(total) < 0.9, counts)
    return jet
