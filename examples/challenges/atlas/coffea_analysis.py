"""ATLAS' challenge in coffea: `python examples/challenges/atlas/coffea_analysis.py FOLDER` fills
what analysis.py does. Arrays are virtual: a branch is read when it is used. What only weights
change is selected once.
"""

import argparse
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import awkward as ak
import hist
import numpy as np
import uproot
from coffea import processor
from coffea.nanoevents import BaseSchema
from coffea.nanoevents.methods import vector

REGIONS = ("ejets", "mujets")
WEIGHTS = (
    "weight_mc",
    "weight_pileup",
    "weight_jvt_effSF",
    "weight_ftag_effSF_GN2v01_Continuous",
    "weight_leptonSF_tight",
    "globalTriggerEffSF_emu",
)
SHAPES = ("jet_pt", "jet_e", *(f"pass_{region}" for region in REGIONS))


def sum_of_weights(path):
    """Of all simulated events, before any selection, which no tree has."""
    with uproot.open(path) as file:
        (name,) = file.keys(filter_name="CutBookkeeper*NOSYS")
        return file[name].values()[1]


def variations(fields):
    """The columns that each variation has branches of."""
    found = {"NOSYS": {*SHAPES, *WEIGHTS}}
    for column in (*SHAPES, *WEIGHTS):
        for field in fields:
            if field.startswith(f"{column}_") and "__1" in field:
                found.setdefault(field.removeprefix(f"{column}_"), set()).add(column)
    return found


def mass(events, chosen, at):
    """The mass of the two leading jets of the chosen events, in GeV."""
    columns = {"pt": at("jet_pt"), "eta": "jet_eta", "phi": "jet_phi", "energy": at("jet_e")}
    two = {name: events[field][chosen][:, :2] for name, field in columns.items()}
    jets = ak.zip(
        {name: ak.values_astype(each, float) for name, each in two.items()},
        with_name="PtEtaPhiELorentzVector",
        behavior=vector.behavior,
    )
    return ak.to_numpy((jets[:, 0] + jets[:, 1]).mass) / 1000


class DijetMass(processor.ProcessorABC):
    """Histograms of all regions and variations."""

    def process(self, events):
        """Those of a chunk of events."""
        known = events.metadata
        of_all = variations(events.fields) if known["is_mc"] else {"NOSYS": {*SHAPES}}
        found = {}
        nominal = {}
        for variation, columns in of_all.items():

            def at(column, variation=variation, columns=columns):
                return f"{column}_{variation if column in columns else 'NOSYS'}"

            weights = np.full(len(events), known["norm"])
            for column in WEIGHTS if known["is_mc"] else ():
                weights = weights * ak.to_numpy(events[at(column)])
            for region in REGIONS:
                # Weights alone leave the masses as they are.
                if not columns.isdisjoint(SHAPES):
                    chosen = ak.to_numpy(events[at(f"pass_{region}")]) == 1
                    masses = mass(events, chosen, at)
                    if variation == "NOSYS":
                        nominal[region] = chosen, masses
                else:
                    chosen, masses = nominal[region]
                name = f"{region}_{known['dataset']}_{variation}".removesuffix("_NOSYS")
                found[name] = hist.new.Reg(20, 0, 1000, label="$m_{jj}$ [GeV]").Weight()
                found[name].fill(masses, weight=weights[chosen])
        return found

    def postprocess(self, accumulator):
        """Nothing is left to do."""
        return accumulator


def histograms(folder, executor):
    """By name: region, sample and variation."""
    fileset = json.loads(Path(folder, "fileset.json").read_text())
    for sample in fileset.values():
        known = sample["metadata"]
        known["norm"] = 1.0
        if known["is_mc"]:
            with ThreadPoolExecutor() as pool:
                total = sum(pool.map(sum_of_weights, sample["files"]))
            known["norm"] = known["xsec"] * known["lumi"] / total
    run = processor.Runner(executor, schema=BaseSchema)
    return run(fileset, processor_instance=DijetMass())


def executor_of(scheduler, workers):
    """Who computes: a Dask cluster, processes of this machine, or this process."""
    if scheduler:
        from distributed import Client

        return processor.DaskExecutor(client=Client(scheduler), status=False)
    if workers > 1:
        return processor.FuturesExecutor(workers=workers, status=False)
    return processor.IterativeExecutor(status=False)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--on", help="a Dask scheduler's address; without it this machine works")
    parser.add_argument("--workers", type=int, default=1, help="processes")
    chosen = parser.parse_args()
    found = histograms(chosen.folder, executor_of(chosen.on, chosen.workers))
    with uproot.recreate(chosen.folder / "coffea.root") as file:
        for name, histogram in found.items():
            file[name] = histogram
