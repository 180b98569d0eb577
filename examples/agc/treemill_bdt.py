"""The boosted-tree version in treemill: which jets come from which quark.

`python examples/agc/treemill_bdt.py FOLDER train` trains the models on simulated tt̄ events, where
it is known; without `train` the histograms of all processes and variations are written.
"""

import sys
from pathlib import Path

import treemill as tm
from treemill_ttbar import histograms as histograms_of
from treemill_ttbar import selected

LEADING = 6
FEATURES = {  # of two jets of a W, of the b jets beside it and beside the lepton: text, axis
    "dr_lepton_bl": ("lepton.deltaR(l)", (25, 0, 8)),
    "dr_w": ("w1.deltaR(w2)", (25, 0, 8)),
    "dr_w1_bh": ("w1.deltaR(h)", (25, 0, 8)),
    "dr_w2_bh": ("w2.deltaR(h)", (25, 0, 8)),
    "mass_lepton_bl": ("(lepton + l).mass", (25, 0, 400)),
    "mass_w": ("(w1 + w2).mass", (25, 0, 400)),
    "mass_top": ("(w1 + w2 + h).mass", (25, 0, 600)),
    "pt_top": ("(w1 + w2 + h).pt", (25, 0, 400)),
    **{f"pt_{x}": (f"{x}.pt", (25, 0, 300)) for x in ("w1", "w2", "h", "l")},
    **{f"btag_{x}": (f"{x}.btagCSVV2", (25, 0, 1)) for x in ("w1", "w2", "h", "l")},
    **{f"qgl_{x}": (f"{x}.qgl", (25, 0, 1)) for x in ("w1", "w2", "h", "l")},
}


def with_assignments(events):
    """Events with two b tags: all ways to call four of the leading jets w1, w2, h and l."""
    events = events.filter("tags >= 2").define("lepton", "leptons[0]")
    events = events.define("lead", f"jets[:{LEADING}]")
    ways = """[(a[1], b[1], c[1], d[1]) for a, b in combinations(enumerate(lead), 2)
               for c in enumerate(lead) if c[0] != a[0] and c[0] != b[0]
               for d in enumerate(lead) if d[0] != a[0] and d[0] != b[0] and d[0] != c[0]]"""
    return events.define("ways", ways)


def assigned(events):
    """A histogram of each feature of the best assignment. Each model judges events of the other
    half than those that it was trained on."""
    events = with_assignments(events)
    inputs = ", ".join(text for text, _ in FEATURES.values())
    score = f"odd({inputs}) if event % 2 == 0 else even({inputs})"
    events = events.define("best", f"max(ways, key=lambda w1, w2, h, l: {score})")
    for i, name in enumerate(("w1", "w2", "h", "l")):
        events = events.define(name, f"best[{i}]")
    return {
        name: events.hist(text, bins=bins, weight="weight")
        for name, (text, bins) in FEATURES.items()
    }


def histograms(folder, run=tm.run):
    """By feature and process, with all variations."""
    models = {half: tm.model(f"{folder}/bdt_{half}.json") for half in ("even", "odd")}
    return histograms_of(folder, run, assigned, **models)


def train(folder):
    """The models of tt̄ events with even and odd numbers."""
    import awkward as ak
    import numpy as np
    import xgboost

    events = with_assignments(selected(tm.fileset(f"{folder}/fileset.json")["ttbar__nominal"]))
    labels = "w1.topLabel == 1 and w2.topLabel == 1 and h.topLabel == 2 and l.topLabel == 3"
    wanted = {name: text for name, (text, _) in FEATURES.items()} | {"label": labels}
    columns = {name: f"[{text} for w1, w2, h, l in ways]" for name, text in wanted.items()}
    for rest, half in enumerate(("even", "odd")):
        found = events.filter(f"event % 2 == {rest}").arrays(columns)
        flat = {name: ak.to_numpy(ak.flatten(found[name])) for name in wanted}
        data = xgboost.DMatrix(
            np.stack([np.asarray(flat[name], np.float32) for name in FEATURES], axis=1),
            flat["label"],
            feature_names=[*FEATURES],
        )
        shape = {
            "objective": "binary:logistic",
            "max_depth": 5,
            "eta": 0.2,
            "seed": 1,
            "nthread": 2,
        }
        xgboost.train(shape, data, 60).save_model(f"{folder}/bdt_{half}.json")


def write(found, folder):
    """All histograms."""
    named = {"name": "{feature}_{process}_{variation}", "empty": "ignore", "negative": "ignore"}
    tm.templates(found, folder / "treemill_bdt.root", **named, rename=lambda v: v.replace(":", "_"))


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    if "train" in sys.argv:
        train(folder)
    else:
        write(found := histograms(folder), folder)
        tm.plot.stack(found["mass_top"], folder / "bdt_top.png", title="best assignment")
