"""The tt̄ analysis in treemill: `python examples/agc/treemill_ttbar.py FOLDER` writes the
histograms of all processes and variations, and draws the regions."""

import sys
from pathlib import Path

import hist
import treemill as tm

HT = hist.axis.Regular(25, 50, 550, label="$H_T$ [GeV]")
MASS = hist.axis.Regular(25, 50, 550, label="$m_{bjj}$ [GeV]")
WEIGHTS = {f"btag_var_{i}": ("btag_var", i) for i in range(4)}
WJETS = WEIGHTS | {"scale_var": ("scale_var", 0)}


def selected(events, jets_vary=False, weights=None):
    """Events with one lepton and four jets, and what varies in them."""
    if jets_vary:
        blurred = "Jet_pt * (1 + 0.05 * sf['jet_resolution'](Jet_pt, Jet_phi))"
        shifts = {"scale_up": "Jet_pt * 1.03", "res_up": blurred}
        events = events.vary("Jet_pt", shifts, name="pt")

    good = "l.pt > 30 and abs(l.eta) < 2.1 and l.sip3d < 4"
    electrons = f"[l for l in Electron if {good} and l.cutBased == 4]"
    muons = f"[l for l in Muon if {good} and l.tightId and l.pfRelIso04_all < 0.15]"
    events = events.define("leptons", f"concat({electrons}, {muons})").filter("len(leptons) == 1")
    jets = "[j for j in Jet if j.pt > 30 and abs(j.eta) < 2.4 and j.jetId & 4]"
    events = events.define("jets", jets).filter("len(jets) >= 4")
    events = events.define("tags", "sum(jets.btagCSVV2 > 0.5)")
    events = events.define("weight", "xsec * 3378 / nevts")

    for name, (kind, jet) in (weights or {}).items():
        factor = f"sf['event_systematics']('{kind}', '{{}}', jets[{jet}].pt)"
        shifts = {way: f"weight * {factor.format(way)}" for way in ("up", "down")}
        events = events.vary("weight", shifts, name=name)
    return events


def regions(events):
    """A histogram for each region."""
    tagged = "max(a.btagCSVV2, b.btagCSVV2, c.btagCSVV2) > 0.5"
    trijets = f"[a + b + c for a, b, c in combinations(jets, 3) if {tagged}]"
    top = events.filter("tags >= 2").define("top", f"max({trijets}, key=lambda t: t.pt)")
    return {
        "4j1b": events.filter("tags == 1").hist("sum(jets.pt)", bins=HT, weight="weight"),
        "4j2b": top.hist("top.mass", bins=MASS, weight="weight"),
    }


def histograms(folder, run=tm.run, booked=regions, **params):
    """By region and process, with all variations."""
    fs = tm.fileset(f"{folder}/fileset.json")
    params["sf"] = tm.corrections(f"{folder}/corrections.json")
    others = fs.subset(lambda m: m["variation"] != "nominal")
    nominal = fs.subset(lambda m: m["variation"] == "nominal" and m["process"] != "wjets")
    wjets = fs.subset(["wjets__nominal"])
    a, b, c = run(
        [
            booked(selected(nominal.with_params(params), True, WEIGHTS)),
            booked(selected(wjets.with_params(params), True, WJETS)),
            booked(selected(others.with_params(params))),
        ]
    )
    return {region: (a[region] | b[region] | c[region]).as_variations() for region in a}


def shapes(found, merged):
    """What the fit takes: so many bins as one, and data made up of other simulations."""
    coarse = slice(110j, None, hist.rebin(merged))
    made = {
        region: of.map(lambda varied: varied.map(lambda h: h[coarse]))
        for region, of in found.items()
    }
    for of in made.values():
        others = sum(each.nominal for name, each in of.items() if name != "ttbar")
        of["data"] = (of["ttbar"]["ME_var"] + of["ttbar"]["PS_var"]) * 0.5 + others
    return made


def write(found, folder, merged=2):
    """All histograms, and the fit's; gives the latter."""
    names = {"name": "{region}_{process}_{variation}", "rename": lambda v: v.replace(":", "_")}
    tm.templates(found, folder / "treemill.root", **names, empty="ignore")
    made = shapes(found, merged)
    tm.templates(made, folder / "shapes.root", **names, empty="ignore")
    return made


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    for region, of in write(histograms(folder), folder).items():
        tm.plot.stack(of, folder / f"{region}.png", title=region, ratio=True)
    print(f"{folder} has treemill.root, shapes.root (what the fit takes), 4j1b.png, 4j2b.png")
