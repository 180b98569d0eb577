"""ATLAS' challenge in treemill: `python examples/challenges/atlas/analysis.py FOLDER` fills the
mass of the two leading jets of all samples, in two regions and all variations. With `--on
tcp://HOST:8786` the workers of a Dask cluster do it.
"""

import argparse
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import treemill as tm
import uproot

REGIONS = ("ejets", "mujets")
WEIGHTS = (
    "weight_mc",
    "weight_pileup",
    "weight_jvt_effSF",
    "weight_ftag_effSF_GN2v01_Continuous",
    "weight_leptonSF_tight",
    "globalTriggerEffSF_emu",
)
VARIED = ("jet_pt", "jet_e", *(f"pass_{region}" for region in REGIONS), *WEIGHTS)
JET = "vector(pt=jet_pt_NOSYS[{0}], eta=jet_eta[{0}], phi=jet_phi[{0}], energy=jet_e_NOSYS[{0}])"


def sum_of_weights(path):
    """Of all simulated events, before any selection, which no tree has."""
    with uproot.open(path) as file:
        (name,) = file.keys(filter_name="CutBookkeeper*NOSYS")
        return file[name].values()[1]


def norms(simulated):
    """Cross section and luminosity by the sum of weights, of each sample."""
    with ThreadPoolExecutor() as pool:
        for name, sample in simulated.items():
            known = simulated.metadata[name]
            total = sum(pool.map(sum_of_weights, sample.files))
            yield name, known["xsec"] * known["lumi"] / total


def variations(branches):
    """The branches that take the place of those called NOSYS, by source and direction."""
    found = {}
    for column in VARIED:
        for branch in branches:
            name, is_varied, way = branch.removeprefix(f"{column}_").partition("__1")
            if branch.startswith(f"{column}_") and is_varied:
                found.setdefault(name, {}).setdefault(way, {})[f"{column}_NOSYS"] = branch
    return found


def booked(events, weight):
    """A histogram for each region."""
    mass = f"({JET.format(0)} + {JET.format(1)}).mass / 1000"
    return {
        region: events.filter(f"pass_{region}_NOSYS == 1").hist(
            mass, bins=(20, 0, 1000), weight=weight, label="$m_{jj}$ [GeV]"
        )
        for region in REGIONS
    }


def histograms(folder, run=tm.run):
    """By region and sample, with all variations."""
    fs = tm.fileset(f"{folder}/fileset.json")
    data = fs.subset(lambda metadata: not metadata["is_mc"])
    simulated = fs.subset(lambda metadata: metadata["is_mc"])

    norm = dict(norms(simulated))
    events = simulated.define_per_file("norm", lambda file: norm[file.dataset])
    branches = next(iter(simulated.values())).branches
    for name, ways in variations(branches).items():
        columns = sorted({column for replaced in ways.values() for column in replaced})
        events = events.vary(columns, ways, name=name)
    weight = " * ".join(["norm", *(f"{each}_NOSYS" for each in WEIGHTS)])
    found, seen = run([booked(events, weight), booked(data, 1)])
    return {region: found[region] | seen[region] for region in REGIONS}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--on", help="a Dask scheduler's address; without it this machine works")
    parser.add_argument("--workers", type=int, help="threads; without it one for each core")
    parser.add_argument("--draw", action="store_true", help="the regions, beside the files")
    chosen = parser.parse_args()
    with tm.connect(chosen.on, workers=None if chosen.on else chosen.workers) as session:
        found = histograms(chosen.folder, session.run)
    tm.templates(
        found,
        chosen.folder / "treemill.root",
        name="{region}_{dataset}_{variation}",
        levels=["region", "dataset"],
        rename=lambda variation: variation.replace(":", "__1"),
        empty="ignore",
    )
    for region, of in found.items() if chosen.draw else ():
        tm.plot.stack(of, chosen.folder / f"{region}.png", data="data", title=region, ratio=True)
