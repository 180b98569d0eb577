"""`python examples/challenges/atlas/generate.py FOLDER`: made-up ntuples as ATLAS' TopCPToolkit
writes them, and `fileset.json`, which names them in coffea's form with their cross sections.

A branch that a systematic variation changes is there once for each variation, under its name. With
`--systematics 1` there are as many as in the challenge: 172 sources, 1,241 branches.
"""

import argparse
import json
from pathlib import Path

import awkward as ak
import numpy as np
import uproot
from treemill.facility.physics import angles, falling

SAMPLES = {
    "ttbar": (831.8, 5.5),
    "Wt": (79.3, 4.5),
    "wjets": (1500.0, 3.6),
    "zjets": (300.0, 3.4),
    "Hplus_cb": (5.0, 6.0),
    "data": (None, None),
}
"""Cross section with efficiency in pb, and jets in the mean."""
ALL_EVENTS = 4
"""So many times the events of the tree have been simulated."""
CLUSTER = 2_000
"""Entries in a basket, as in the challenge."""
KINDS = {
    "jets": [f"JET_NP_{i}" for i in range(56)],
    "leptons": [f"EG_SCALE_{i}" for i in range(4)] + [f"MUON_SCALE_{i}" for i in range(6)],
    "weight_ftag_effSF_GN2v01_Continuous": [f"FT_EFF_Eigen_B_{i}" for i in range(90)],
    "weight_leptonSF_tight": [f"EL_EFF_{i}" for i in range(3)]
    + [f"MUON_EFF_{i}" for i in range(8)],
    "globalTriggerEffSF_emu": [f"TRIG_EFF_{i}" for i in range(4)],
    "weight_jvt_effSF": ["JET_NNJvtEfficiency"],
}
"""What systematic variations change: objects, or one of the weights."""
WEIGHTS = [*KINDS][2:]


def variations(sources, share):
    """Names of variations, and how far each goes."""
    for source in sources[: max(1, round(len(sources) * share))]:
        yield from ((f"{source}__1up", 1.0), (f"{source}__1down", -1.0))


def made_up(name, seed, count, share):
    """Columns of so many events: numpy arrays, and a record of lists for jets."""
    rng = np.random.default_rng([seed, [*SAMPLES].index(name)])
    is_data = SAMPLES[name][0] is None
    # Data are a mixture of all processes.
    mixed = [each for key, each in SAMPLES.items() if each[0] and (is_data or key == name)]
    xsec, mean = np.array(mixed).T
    sizes = np.maximum(rng.poisson(rng.choice(mean, count, p=xsec / xsec.sum())), 2)
    event = np.repeat(np.arange(count), sizes)
    pt = falling(rng, len(event), 20e3, 3.2)
    pt = pt[np.lexsort((-pt, event))]
    eta = rng.uniform(-2.5, 2.5, len(event))
    energy = np.hypot(pt * np.cosh(eta), 0.1 * pt)
    is_electron, lepton = rng.random(count) < 0.5, falling(rng, count, 25e3, 3.5)
    jets = {"eta": eta, "phi": angles(rng, len(event))}
    columns = {}

    def objects(variation, jet=None, scale=1.0):
        """What is there of an event if jets' or leptons' momenta are multiplied."""
        if jet is not None:
            jets[f"pt_{variation}"], jets[f"e_{variation}"] = jet * pt, jet * energy
        hard = pt * (1.0 if jet is None else jet) > 25e3
        enough = np.bincount(event, hard, minlength=count) >= 4
        enough &= scale * lepton > 27e3
        columns[f"pass_ejets_{variation}"] = (enough & is_electron).astype(np.int8)
        columns[f"pass_mujets_{variation}"] = (enough & ~is_electron).astype(np.int8)
        if not is_data:
            for weight in WEIGHTS:
                varied = nominal[weight] * (1 + 0.01 * rng.standard_normal() * is_electron)
                columns[f"{weight}_{variation}"] = varied.astype(np.float32)

    nominal = {weight: rng.normal(0.97, 0.05, count) for weight in WEIGHTS}
    objects("NOSYS", jet=1.0)
    if not is_data:
        columns["weight_mc_NOSYS"] = rng.normal(100.0, 10.0, count).astype(np.float32)
        columns["weight_pileup_NOSYS"] = rng.normal(1.0, 0.1, count).astype(np.float32)
        for variation, way in variations(KINDS["jets"], share):
            strength = way * rng.uniform(0.002, 0.03)
            objects(
                variation, jet=1 + strength * np.abs(eta) + way * rng.normal(0, 0.002, len(eta))
            )
        for variation, way in variations(KINDS["leptons"], share):
            objects(variation, scale=1 + way * rng.uniform(0.001, 0.01))
        for weight in WEIGHTS:
            for variation, way in variations(KINDS[weight], share):
                varied = nominal[weight] * (1 + way * rng.uniform(0, 0.04) * rng.random(count))
                columns[f"{weight}_{variation}"] = varied.astype(np.float32)
    lists = {key: ak.unflatten(each.astype(np.float32), sizes) for key, each in jets.items()}
    return columns | {"jet": ak.zip(lists)}


def write(path, name, seed, events, share):
    """One file: the tree `reco`, and for simulation the sum of weights before any selection."""
    columns = made_up(name, seed, events, share)
    with uproot.recreate(path, compression=uproot.ZSTD(5)) as file:
        if "weight_mc_NOSYS" in columns:
            sums = np.array([events, columns["weight_mc_NOSYS"].sum(dtype=float), 0.0]) * ALL_EVENTS
            file["CutBookkeeper_410470_284500_NOSYS"] = sums, np.arange(4.0)
        types = {k: c.dtype if k != "jet" else c.type.content for k, c in columns.items()}
        tree = file.mktree("reco", types)
        for start in range(0, events, CLUSTER):
            tree.extend({key: each[start : start + CLUSTER] for key, each in columns.items()})


def generate(folder, events=10_000, files=2, share=0.25):
    """Writes what is not there yet."""
    folder.mkdir(parents=True, exist_ok=True)
    fileset = {}
    simulated = sum(xsec for xsec, _ in SAMPLES.values() if xsec)
    luminosity = ALL_EVENTS * events * files / simulated
    for name, (xsec, _) in SAMPLES.items():
        paths = [folder / f"{name}_{i}.root" for i in range(files)]
        for seed, path in enumerate(paths):
            if not path.exists():
                part = path.with_suffix(".part")
                write(part, name, seed, events, share)
                part.rename(path)
        known = {
            "is_mc": xsec is not None,
            "process": name,
            "xsec": xsec or 1.0,
            "lumi": luminosity,
        }
        fileset[name] = {"files": {str(path): "reco" for path in paths}, "metadata": known}
    (folder / "fileset.json").write_text(json.dumps(fileset, indent=1) + "\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=lambda text: Path(text).absolute())
    parser.add_argument("--events", type=int, default=10_000, help="in each file")
    parser.add_argument("--files", type=int, default=2, help="of each sample")
    parser.add_argument("--systematics", type=float, default=0.25, help="part of the challenge's")
    chosen = parser.parse_args()
    generate(chosen.folder, chosen.events, chosen.files, chosen.systematics)
