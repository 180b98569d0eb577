"""CMS' challenge in treemill: `python examples/challenges/cms/analysis.py FOLDER` looks for a Z'
that decays to top quarks, in events with a muon. It fills the mass of the top quarks with and
without a b tag, in all variations, and writes a skim of each sample, in the same pass. With `--on
tcp://HOST:8786` the workers of a Dask cluster do it.
"""

import argparse
from pathlib import Path

import hist
import treemill as tm

MASS = hist.axis.Regular(20, 200, 3000, label=r"$m_{t\bar{t}}$ [GeV]")
SKIM = "HLT_Mu50 and PuppiMET_pt > 50"
KEPT = ["run", "luminosityBlock", "event", "HLT_Mu50", "Muon", "Jet", "FatJet", "PuppiMET_*"]
KEPT_OF_SIMULATION = ["genWeight", "Pileup_nTrueInt"]
BTAG = ("hf", "lf", "hfstats1", "hfstats2", "lfstats1", "lfstats2", "cferr1", "cferr2")
MUONS = ("muon_id", "muon_iso", "muon_trigger")


def selected(events):
    """Events with one muon, a fat jet from a top quark and two jets, with the mass of them all."""
    good = "m.pt > 55 and abs(m.eta) < 2.4 and m.tightId and m.miniIsoId > 1"
    events = events.define("muons", f"[m for m in Muon if {good}]")
    events = events.filter("len(muons) == 1 and muons[0].pt + PuppiMET_pt > 150", name="muon")
    tops = "[f for f in FatJet if f.pt > 500 and f.particleNet_TvsQCD > 0.5]"
    events = events.define("tops", tops).filter("len(tops) == 1", name="top")
    jets = "[j for j in Jet if j.pt > 30 and abs(j.eta) < 2.5 and j.jetId >= 4]"
    events = events.define("jets", jets).filter("len(jets) >= 2", name="jets")
    neutrino = "vector(pt=PuppiMET_pt, eta=0, phi=PuppiMET_phi, mass=0)"
    events = events.define("mtt", f"(muons[0] + jets[0] + tops[0] + {neutrino}).mass")
    return events.define("tags", "sum(jets.btagDeepB > 0.5)")


def jets_vary(events, sf):
    """With jets' energies up and down, from each source."""
    for source in (name for name in sf if name.startswith("jes")):
        shift = f"sf['{source}'](Jet_eta, Jet_pt)"
        ways = {"up": f"Jet_pt * (1 + {shift})", "down": f"Jet_pt * (1 - {shift})"}
        events = events.vary("Jet_pt", ways, name=source)
    return events


def weighted(events):
    """With the weight of simulation: its factors, and the sources that change each of them."""
    muon = "sf['{}'](year, abs(muons[0].eta), muons[0].pt, '{{}}')"
    tag = "sf['btag']('{}', j.hadronFlavour, abs(j.eta), j.pt, j.btagDeepB)"
    pileup = "sf['pileup'](year, Pileup_nTrueInt, '{}')"
    factors = {
        "pileup": (pileup, "nominal", {"pileup": "{}"}),
        **{name: (muon.format(name), "nominal", {name: "syst{}"}) for name in MUONS},
        "btag": (f"prod({tag} for j in jets)", "central", {f"btag_{x}": f"{{}}_{x}" for x in BTAG}),
    }
    for name, (text, nominal, sources) in factors.items():
        events = events.define(name, text.format(nominal))
        for source, key in sources.items():
            ways = {way: text.format(key.format(way)) for way in ("up", "down")}
            events = events.vary(name, ways, name=source)
    return events.define("weight", " * ".join(["genWeight", "norm", *factors]))


def regions(events, weight):
    """A histogram for each region."""
    wanted = {"1b": "tags >= 1", "0b": "tags == 0"}
    return {
        region: events.filter(cut).hist("mtt", bins=MASS, weight=weight)
        for region, cut in wanted.items()
    }


def histograms(folder, run=tm.run):
    """By region and sample, with all variations; writes the skims."""
    fs = tm.fileset(f"{folder}/fileset.json")
    sf = tm.corrections(f"{folder}/corrections.json")
    simulated = fs.subset(lambda metadata: metadata["is_mc"])
    files = {name: [f"{file}:Runs" for file in sample.files] for name, sample in simulated.items()}
    sums = run(tm.fileset(files).sum("genEventSumw"))

    def norm(file):
        known = file.metadata
        return known["xsec"] * known["lumi"] / sums[file.dataset]

    certified = tm.lumi_mask(f"{folder}/golden.json")
    data = fs.subset(lambda metadata: not metadata["is_mc"]).filter(certified, name="certified")
    data = data.filter(SKIM, name="skim")
    simulated = simulated.define_per_file("norm", norm).with_params({"sf": sf})
    simulated = simulated.filter(SKIM, name="skim")
    events = weighted(selected(jets_vary(simulated, sf)))
    skims = [
        data.snapshot(f"{folder}/skim_{{dataset}}.root", KEPT),
        simulated.snapshot(f"{folder}/skim_{{dataset}}.root", [*KEPT, *KEPT_OF_SIMULATION]),
    ]
    found, seen, _ = run([regions(events, "weight"), regions(selected(data), 1), skims])
    return {region: found[region] | seen[region] for region in found}


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
        rename=lambda variation: variation.replace(":", "_"),
        empty="ignore",
        negative="ignore",
    )
    for region, of in found.items() if chosen.draw else ():
        all_years, path = of.stack("process"), chosen.folder / f"{region}.png"
        tm.plot.stack(all_years, path, data="data", title=region, ratio=True)
