"""The boosted-tree version in coffea: `python examples/agc/coffea_bdt.py FOLDER`, with XGBoost's
own prediction by the models that treemill_bdt.py has trained."""

from functools import cache
from itertools import combinations
from pathlib import Path

import awkward as ak
import numpy as np
import xgboost
from coffea_fast import FastAnalysis, momenta
from coffea_ttbar import empty, main
from coffea_ttbar import histograms as histograms_of

LEADING = 6
JETS = ("w1", "w2", "h", "l")
AXES = {
    **dict.fromkeys(("dr_lepton_bl", "dr_w", "dr_w1_bh", "dr_w2_bh"), (25, 0, 8)),
    **dict.fromkeys(("mass_lepton_bl", "mass_w"), (25, 0, 400)),
    "mass_top": (25, 0, 600),
    "pt_top": (25, 0, 400),
    **{f"pt_{jet}": (25, 0, 300) for jet in JETS},
    **{f"{kind}_{jet}": (25, 0, 1) for kind in ("btag", "qgl") for jet in JETS},
}


@cache
def assignments(number):
    """The numbers of four of so many jets, in all ways."""
    return [
        (a, b, c, d)
        for a, b in combinations(range(number), 2)
        for c in range(number)
        if c not in (a, b)
        for d in range(number)
        if d not in (a, b, c)
    ]


def features(jets, lepton):
    """A column for each feature, of all assignments of all events, and their number in each."""
    numbers = np.minimum(ak.to_numpy(ak.num(jets)), LEADING)
    ways = ak.Array([assignments(n) for n in range(4, LEADING + 1)])[numbers - 4]
    w1, w2, h, l = (jets[ways[str(i)]] for i in range(4))  # noqa: E741
    w, top, leptonic = w1 + w2, w1 + w2 + h, lepton + l
    distances = (lepton.delta_r(l), w1.delta_r(w2), w1.delta_r(h), w2.delta_r(h))
    sums = (leptonic.mass, w.mass, top.mass, top.pt)
    fields = (jet[name] for name in ("pt", "btagCSVV2", "qgl") for jet in (w1, w2, h, l))
    columns = [ak.to_numpy(ak.flatten(each)) for each in (*distances, *sums, *fields)]
    return np.stack(columns, axis=1), ak.to_numpy(ak.num(ways))


def best(jets, electrons, muons, numbers, folder):
    """The features of the best assignment of each event, by name, from objects in double precision
    and the events' numbers. Each model judges events of the other half than those that it was
    trained on."""
    found, ways = features(jets, ak.concatenate([electrons, muons], axis=1)[:, 0])
    is_odd = np.repeat(ak.to_numpy(numbers) % 2 == 1, ways)
    scores = np.empty(len(found), np.float32)
    for half, rows in (("even", is_odd), ("odd", ~is_odd)):
        model = xgboost.Booster({"nthread": 1}, model_file=Path(folder, f"bdt_{half}.json"))
        scores[rows] = model.inplace_predict(found[rows].astype(np.float32))
    first = np.cumsum(ways) - ways
    chosen = first + ak.to_numpy(ak.argmax(ak.unflatten(scores, ways), axis=1))
    return dict(zip(AXES, found[chosen].T, strict=True))


class TreesAnalysis(FastAnalysis):
    """A histogram for each feature of the best assignment."""

    fields = ("btagCSVV2", "qgl")

    def __init__(self, corrections, folder):
        super().__init__(corrections)
        self.folder = folder

    def empty(self):
        """What is filled."""
        return {name: empty(bins) for name, bins in AXES.items()}

    def observed(self, jets, events):
        """What is filled, its values and the jets of these events."""
        chosen = ak.sum(jets.btagCSVV2 > 0.5, axis=1) >= 2
        jets, events = jets[chosen], events[chosen]
        if len(jets) == 0:
            return
        electrons = momenta(events.Electron[events.good_electrons])
        muons = momenta(events.Muon[events.good_muons])
        found = best(jets, electrons, muons, events.event, self.folder)
        for name, values in found.items():
            yield name, values, jets


def histograms(folder):
    """By name: feature, process and variation."""
    return histograms_of(folder, lambda corrections: TreesAnalysis(corrections, folder))


if __name__ == "__main__":
    main(histograms, "coffea_bdt.root")
