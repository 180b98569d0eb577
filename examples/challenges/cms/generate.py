"""`python examples/challenges/cms/generate.py FOLDER`: made-up NanoAOD of three years, each with a
Z' that decays to top quarks, backgrounds and data; `fileset.json`, which names the files in
coffea's form; `golden.json`, the certified sections; `corrections.json` in correctionlib's form.
"""

import argparse
import json
from pathlib import Path

import awkward as ak
import numpy as np
import uproot
from corrections import corrections
from treemill.facility.physics import angles, falling, jagged

YEARS = ("2016", "2017", "2018")
SAMPLES = {"signal": 0.05, "ttbar": 1.1, "single_top": 0.4, "wjets": 3.0, "data": None}
"""Cross section with efficiency, in pb."""
CLUSTER = 20_000
RUN, SECTION = 270_000, 100
"""The first run of a year, and the events in a luminosity section."""


def made_up(name, year, seed, count):
    """Columns of so many events: numpy arrays, and records of lists for collections."""
    rng = np.random.default_rng([seed, int(year), [*SAMPLES].index(name)])
    kind = np.full(count, name)
    if name == "data":
        xsec = {each: of for each, of in SAMPLES.items() if of}
        kind = rng.choice([*xsec], count, p=np.array([*xsec.values()]) / sum(xsec.values()))
    mass = np.where(
        kind == "signal", rng.normal(2000, 120, count), 600 + falling(rng, count, 200, 3)
    )
    cos, phi = rng.uniform(-0.8, 0.8, count), angles(rng, count)
    pt, eta = mass / 2 * np.sqrt(1 - cos**2), np.arctanh(cos)
    # One top is a fat jet, the other one a b jet, a muon and a neutrino.
    shares = rng.dirichlet([3, 2, 2], count).T * pt
    is_top, near = kind != "wjets", rng.normal(0, 0.2, (6, count))

    sizes = rng.poisson(2.5, count) + 1
    event = np.repeat(np.arange(count), sizes)
    first = np.r_[0, np.cumsum(sizes)[:-1]]
    flavour = rng.choice([0, 4, 5], len(event), p=[0.8, 0.12, 0.08])
    flavour[first[is_top]] = 5
    jet = falling(rng, len(event), 20, 3.0)
    jet[first], jet_eta, jet_phi = (
        shares[0],
        rng.uniform(-3, 3, len(event)),
        angles(rng, len(event)),
    )
    jet_eta[first], jet_phi[first] = near[0] - eta, phi + np.pi + near[1]
    heavy = rng.beta(4, 1.5, len(event)), rng.beta(1.2, 6, len(event))
    jets = {
        "pt": jet * rng.normal(1, 0.08, len(event)),
        "eta": jet_eta,
        "phi": np.remainder(jet_phi + np.pi, 2 * np.pi) - np.pi,
        "mass": 0.1 * jet,
        "btagDeepB": np.where(flavour == 5, *heavy),
        "jetId": np.where(rng.random(len(event)) < 0.97, 6, 2),
    }
    muons = rng.choice([0, 1, 2], count, p=[0.1, 0.8, 0.1])
    muon = np.repeat(np.arange(count), muons)
    columns = {
        "run": np.full(count, RUN + 10_000 * (int(year) - 2016) + seed, np.uint32),
        "luminosityBlock": (np.arange(count) // SECTION + 1).astype(np.uint32),
        "event": np.arange(count, dtype=np.uint64),
        "HLT_Mu50": rng.random(count) < 0.8,
        "PuppiMET_pt": np.hypot(shares[2], rng.normal(0, 20, count)).astype(np.float32),
        "PuppiMET_phi": angles(rng, count).astype(np.float32),
    }
    fat = {
        "pt": pt * rng.normal(1, 0.05, count),
        "eta": eta,
        "phi": phi,
        "mass": near[2] * 50 + 173,
    }
    fat["particleNet_TvsQCD"] = np.where(is_top, rng.beta(4, 1, count), rng.beta(1, 5, count))
    lepton = {"pt": shares[1], "eta": near[3] - eta, "phi": angles(rng, count)}
    lepton = {key: each[muon] for key, each in lepton.items()} | {"mass": np.full(len(muon), 0.106)}
    lepton["charge"] = 2 * rng.integers(0, 2, len(muon)) - 1
    lepton["miniIsoId"] = rng.integers(1, 5, len(muon))
    lepton["tightId"] = rng.random(len(muon)) < 0.9
    if name != "data":
        jets["hadronFlavour"] = flavour
        columns["genWeight"] = np.where(rng.random(count) < 0.02, -1, 1).astype(np.float32)
        columns["Pileup_nTrueInt"] = np.clip(rng.normal(30, 10, count), 0, 79).astype(np.float32)
    lists = {"Jet": (jets, sizes), "FatJet": (fat, np.ones(count, int)), "Muon": (lepton, muons)}
    return columns | {key: ak.zip(jagged(*each)) for key, each in lists.items()}


def write(path, name, year, seed, events):
    """One file: the tree `Events`, and for simulation the sum of weights in `Runs`."""
    columns = made_up(name, year, seed, events)
    with uproot.recreate(path, compression=uproot.ZSTD(5)) as file:
        kinds = {
            k: c.dtype if isinstance(c, np.ndarray) else c.type.content for k, c in columns.items()
        }
        tree = file.mktree("Events", kinds, counter_name=lambda key: f"n{key}")
        for start in range(0, events, CLUSTER):
            tree.extend({key: each[start : start + CLUSTER] for key, each in columns.items()})
        if "genWeight" in columns:
            runs = file.mktree("Runs", {"genEventSumw": np.float64})
            runs.extend({"genEventSumw": [columns["genWeight"].sum(dtype=float)]})


def generate(folder, events=20_000, files=1, share=1.0):
    """Writes what is not there yet."""
    folder.mkdir(parents=True, exist_ok=True)
    fileset, golden = {}, {}
    luminosity = events * files / sum(xsec for xsec in SAMPLES.values() if xsec)
    for year in YEARS:
        for name, xsec in SAMPLES.items():
            paths = [folder / f"{name}_{year}_{i}.root" for i in range(files)]
            for seed, path in enumerate(paths):
                if not path.exists():
                    part = path.with_suffix(".part")
                    write(part, name, year, seed, events)
                    part.rename(path)
            known = {"is_mc": xsec is not None, "process": name, "year": year, "lumi": luminosity}
            fileset[f"{name}_{year}"] = {
                "files": {str(path): "Events" for path in paths},
                "metadata": known | {"xsec": xsec or 0.0},
            }
        last = (events - 1) // SECTION + 1
        runs = range(RUN + 10_000 * (int(year) - 2016), RUN + 10_000 * (int(year) - 2016) + files)
        golden |= {str(run): [[1, last // 2], [last // 2 + 2, last]] for run in runs}
    written = {"fileset": fileset, "golden": golden, "corrections": corrections(YEARS, share)}
    for name, content in written.items():
        (folder / f"{name}.json").write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=lambda text: Path(text).absolute())
    parser.add_argument("--events", type=int, default=20_000, help="in each file")
    parser.add_argument("--files", type=int, default=1, help="of each sample and year")
    parser.add_argument("--systematics", type=float, default=1.0, help="part of the jets'")
    chosen = parser.parse_args()
    generate(chosen.folder, chosen.events, chosen.files, chosen.systematics)
