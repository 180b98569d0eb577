"""The boosted-tree version in RDataFrame: `python examples/agc/rdataframe_bdt.py FOLDER`, with the
models that treemill_bdt.py has trained.

The analysis is rdataframe_bdt.cpp; XGBoost's files are read here.
"""

import json
from pathlib import Path

import numpy as np
from rdataframe_ttbar import compiled, data_sets, main

SOURCE = Path(__file__).with_suffix(".cpp")
JETS = ("w1", "w2", "h", "l")
AXES = {
    **dict.fromkeys(("dr_lepton_bl", "dr_w", "dr_w1_bh", "dr_w2_bh"), (25, 0, 8)),
    **dict.fromkeys(("mass_lepton_bl", "mass_w"), (25, 0, 400)),
    "mass_top": (25, 0, 600),
    "pt_top": (25, 0, 400),
    **{f"pt_{jet}": (25, 0, 300) for jet in JETS},
    **{f"{kind}_{jet}": (25, 0, 1) for kind in ("btag", "qgl") for jet in JETS},
}


def forest(root, path):
    """The trees of one of XGBoost's files, their nodes one after another."""
    learner = json.loads(path.read_text())["learner"]
    score = np.float32(learner["learner_model_param"]["base_score"].strip("[]"))
    found = root.Forest()
    found.base = -np.log(1 / score - np.float32(1))
    for tree in learner["gradient_booster"]["model"]["trees"]:
        first = found.left.size()
        found.roots.push_back(first)
        for name, of in (("left", "left_children"), ("right", "right_children")):
            for child in tree[of]:
                getattr(found, name).push_back(first + child if child >= 0 else -1)
        for feature, value in zip(tree["split_indices"], tree["split_conditions"], strict=True):
            found.feature.push_back(feature)
            found.value.push_back(value)
    return found


def histograms(folder):
    """By name: feature, process and variation."""
    root = compiled(SOURCE)
    assignment = root.Assignment()
    assignment.even, assignment.odd = (
        forest(root, Path(folder, f"bdt_{half}.json")) for half in ("even", "odd")
    )
    axes = root.std.vector["Axis"]()
    for name, bins in AXES.items():
        axes.push_back(root.Axis(name, *bins))
    corrections = str(Path(folder, "corrections.json"))
    found = root.histograms_of_trees(data_sets(root, folder), corrections, assignment, axes)
    return {str(name): histogram for name, histogram in found}


if __name__ == "__main__":
    main(histograms, "rdataframe_bdt.root")
