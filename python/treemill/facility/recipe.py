"""What made-up files have in them: schema, number of events, seed, compression, kind of file. Equal
recipes give equal events, in whatever process files are written. Knows no file.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

import numpy as np

from ..errors import QueryError
from .physics import (
    angles,
    chunk,
    counted_electrons,
    counted_muons,
    falling,
    jagged,
    missing_momentum,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .physics import Column, Columns, Floats, Integers, Lists

__all__ = ["CODECS", "KINDS", "SCHEMAS", "Recipe", "counts"]

# Made-up events with the branches of CMS's open data in NanoAOD form, `Run2012B_SingleMu`, as the
# analysis description benchmark reads them, and with its numbers of electrons, muons and jets.
# Values depend on the seed, the file and the place in it. The branches are those that
# https://github.com/cms-opendata-analyses/AOD2NanoAODOutreachTool wrote. Knows no file.

# Made-up columns of CMS's open data that no task of the analysis description benchmark asks for:
# taus, photons, and some of muons, electrons and missing momentum. They are drawn by a generator
# of their own, so that columns which tasks ask for have the values that they had before these
# were added. Nothing is published of how many taus and photons the real events have: taus are
# made of central jets, and photons are drawn. Knows no file.

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


# How many electrons, jets and muons the events of CMS's open data have: counts of all 53,446,198
# events of `Run2012B_SingleMu`, and random numbers that are distributed like them. The counts
# were published with "Evaluating Query Languages and Systems for High-Energy Physics Data"
# (https://github.com/RumbleDB/hep-iris-benchmark-scripts).

_FILE = "run2012b_multiplicities.csv"


@cache
def counts(kind: str) -> Integers:
    """The number of events by their number of "electrons", "jets" or "muons", from 0 on."""
    text = resources.files(__package__).joinpath(_FILE).read_text(encoding="utf-8")
    rows = [row for row in csv.DictReader(text.splitlines()) if row[kind]]
    histogram = np.zeros(max(int(row["num_particles"]) for row in rows) + 1, np.int64)
    for row in rows:
        histogram[int(row["num_particles"])] = int(row[kind])
    return histogram


def drawn(rng: np.random.Generator, kind: str, events: int) -> Integers:
    """Draws the number of particles of each event, distributed as in the real events."""
    steps = np.cumsum(counts(kind))
    return np.searchsorted(steps, rng.integers(0, steps[-1], events), side="right")


_TRIGGERS = {"IsoMu24_eta2p1": 0.55, "IsoMu24": 0.6, "IsoMu17_eta2p1_LooseIsoPFTau20": 0.07}


def open_data_chunk(seed: int, file: int, start: int, count: int) -> Columns:
    """Columns of events `[start, start + count)` of a file: numpy arrays, and awkward arrays of
    records for collections."""
    import awkward as ak

    # The schema's number makes these events differ from the demo's.
    rng = np.random.default_rng([2012, seed, file, start])
    muon, electron, jet = (
        sampler(rng, drawn(rng, kind, count))
        for kind, sampler in (
            ("muons", counted_muons),
            ("electrons", counted_electrons),
            ("jets", _jets),
        )
    )
    muon = _with_lepton_quality(rng, muon, ids=("tightId", "softId"))
    electron = _with_lepton_quality(rng, electron, ids=("pfId",))
    met, met_phi = missing_momentum(rng, ak.sum(jet["pt"], axis=1))
    rest = generator(seed, file, start)
    muon = with_rest_of_muon(rest, muon)
    electron = with_rest_of_electron(rest, electron)
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
    tau, photon = taus(rest, jet), photons(rest, jet)
    columns |= {"Tau": ak.zip(tau), "Photon": ak.zip(photon)}
    sum_et = rng.gamma(6.0, 80.0, count)
    columns |= {
        "MET_pt": met.astype(np.float32),
        "MET_phi": met_phi.astype(np.float32),
        "MET_sumet": sum_et.astype(np.float32),
        "MET_significance": (met**2 / sum_et).astype(np.float32),
    }
    return columns | met_covariance(rest, sum_et)


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


# Made-up events after the class `Event` of ROOT's own test suite, which PROOF's benchmark writes
# too: a header, about 600 tracks with their columns, the tracks that are muons, and the bins of a
# histogram. Values depend on the seed, the file and the place in it. Knows no file. Where the
# class has references (`TRef`) to tracks, there are their numbers in the list of tracks.
# https://github.com/root-project/root/blob/master/test/Event.h has the class.

TRACKS = 600
"""Mean number of tracks of an event."""
BINS = 100
"""The number of bins of the histogram that each event has."""

_SPREAD = 25.0
_MUONS = 0.01
"""The share of the tracks that are muons."""
_TYPES = 5


def event_chunk(seed: int, file: int, start: int, count: int) -> Columns:
    """Columns of events `[start, start + count)` of a file: numpy arrays, one of them with a row
    for each event, and awkward arrays of records for collections."""
    import awkward as ak

    # The model's number makes these events differ from those of other schemas.
    rng = np.random.default_rng([1996, seed, file, start])
    counts = np.maximum(np.rint(rng.normal(TRACKS, _SPREAD, count)), 1).astype(np.int64)
    total = int(counts.sum())
    columns = _tracks(rng, total)
    is_muon = rng.random(total) < _MUONS
    of_event = np.repeat(np.arange(count), counts)
    first = np.cumsum(counts) - counts
    muons = np.flatnonzero(is_muon)
    muon_counts = np.bincount(of_event[muons], minlength=count)
    pt = np.hypot(columns["px"], columns["py"])
    muon = {
        "trackIdx": (muons - first[of_event[muons]]).astype(np.int32),
        "pt": pt[muons].astype(np.float32),
    }
    number = np.arange(count, dtype=np.uint64) + np.uint64(start)
    return {
        "run": np.full(count, 1_000 + file, dtype=np.int32),
        "event": number + np.uint64(file) * np.uint64(10_000_000_000) + np.uint64(1),
        "date": (960_312 + number // np.uint64(100_000)).astype(np.int32),
        "type": rng.integers(0, _TYPES, count, dtype=np.int32),
        "temperature": rng.normal(20.0, 0.1, count).astype(np.float32),
        "isValid": rng.random(count) < 0.99,
        "Track": ak.unflatten(ak.zip(columns), counts),
        "Muon": ak.unflatten(ak.zip(muon), muon_counts),
        # As TH1F has them: under- and overflow come first and last.
        "spectrum": rng.poisson(4.0, (count, BINS + 2)).astype(np.float32),
    }


def _tracks(rng: np.random.Generator, total: int) -> dict[str, np.ndarray]:
    """The columns of all tracks, without their events."""
    normal = rng.standard_normal((6, total), dtype=np.float32)
    px, py, pz = normal[0], normal[1], normal[2] * np.float32(3.0)
    return {
        "px": px,
        "py": py,
        "pz": pz,
        "mass2": rng.standard_exponential(total, dtype=np.float32),
        "vx": normal[3] * np.float32(0.1),
        "vy": normal[4] * np.float32(0.1),
        "vz": normal[5] * np.float32(10.0),
        "charge": (2 * rng.integers(0, 2, total, dtype=np.int8) - 1).astype(np.int32),
        "npoint": rng.poisson(60, total).astype(np.int32),
        "valid": rng.random(total, dtype=np.float32) < 0.9,
    }


SCHEMAS: dict[str, Callable[[int, int, int, int], Columns]] = {
    "demo": chunk,
    "opendata": open_data_chunk,
    "event": event_chunk,
}
"""Schemas by name: functions that give columns of events from (seed, file, start, count). "demo" is
a small NanoAOD; "opendata" has the branches and the multiplicities of CMS's open data in that form,
`Run2012B_SingleMu`; "event" is the `Event` of ROOT's test suite, which PROOF's benchmark writes."""

BLOCKS = {"event": 1_000}
"""The events that are drawn together, by schema, where they are not `BLOCK`. Events depend on the
block that they are in, and not on what is written together."""
BLOCK = 100_000

_VERSIONS = {"demo": 1, "opendata": 3, "event": 1}
"""Versions by schema. Raise one if the same recipe gives other values."""

CODECS = {"zlib": 1, "lz4": 4, "zstd": 5, "lzma": 7, "none": 0}
"""Compressions, with the level that ROOT and NanoAOD use."""
KINDS = ("ttree", "rntuple")


@dataclass(frozen=True)
class Recipe:
    """The files to write, and their content."""

    files: int = 4
    events_per_file: int = 500_000
    events_per_cluster: int = 100_000
    codec: str = "zstd"
    """One of CODECS."""
    seed: int = 1
    schema: str = "demo"
    """One of SCHEMAS."""
    level: int | None = None
    """The level of the compression; None: the usual one."""
    kind: str = "ttree"
    """One of KINDS."""

    def name(self, index: int) -> str:
        """The name of the file with this number."""
        return f"events_{index:03d}.root"

    def number(self, name: str) -> int | None:
        """The number of the file with this name; None if there is none.

        >>> Recipe(files=2).number("events_001.root"), Recipe(files=2).number("events_002.root")
        (1, None)
        """
        digits = name.removeprefix("events_").removesuffix(".root")
        if not (digits.isascii() and digits.isdecimal() and int(digits) < self.files):
            return None
        return int(digits) if name == self.name(int(digits)) else None

    def note(self, index: int) -> dict[str, object]:
        """Returns what decides on the content of the file with this number. It is kept in the
        file."""
        return self.made_from() | {"file": index}

    def made_from(self) -> dict[str, object]:
        """Returns what decides on the content of a file with a known number."""
        facts = asdict(self) | {"version": _VERSIONS.get(self.schema, 1)}
        del facts["files"]  # more files of the same recipe may be added
        if self.events_per_cluster != self.block:  # older files were drawn cluster by cluster
            facts["block"] = self.block
        return facts

    @property
    def block(self) -> int:
        """The events that are drawn together."""
        return BLOCKS.get(self.schema, BLOCK)

    def check(self) -> None:
        """Raises QueryError if there is no such schema, compression or kind of file."""
        for what, value, known in (
            ("schema", self.schema, SCHEMAS),
            ("compression", self.codec, CODECS),
            ("kind of file", self.kind, KINDS),
        ):
            if value not in known:
                raise QueryError(f"no {what} {value!r}", suggestions=[*known])
