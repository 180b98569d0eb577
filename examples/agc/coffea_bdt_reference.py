"""The boosted-tree version in coffea, written as the reference implementation is:
`python examples/agc/coffea_bdt_reference.py FOLDER`.

Each systematic selects and reconstructs anew. Jets and leptons are in double precision: the best
assignment changes as a whole when rounding takes a feature over the threshold of a tree, and no
neighbouring bin would explain that.
"""

import awkward as ak
import numpy as np
from coffea_bdt import AXES, TreesAnalysis, best
from coffea_fast import momenta
from coffea_ttbar import TtbarAnalysis, empty, main
from coffea_ttbar import histograms as histograms_of


class TreesReference(TtbarAnalysis):
    """A histogram for each feature of the best assignment."""

    def __init__(self, corrections, folder):
        super().__init__(corrections)
        self.folder = folder

    def empty(self):
        """What is filled."""
        return {name: empty(bins) for name, bins in AXES.items()}

    def jets(self, events):
        """The stored jets, with momenta in double precision."""
        jets = events.Jet
        for name in ("pt", "eta", "phi", "mass"):
            jets = ak.with_field(jets, ak.values_astype(jets[name], np.float64), name)
        return jets

    def observed(self, region, chosen, events, jets, electrons, muons):
        """What is filled in the region with two b tags."""
        if region == "4j2b" and np.any(chosen):
            leptons = momenta(electrons[chosen]), momenta(muons[chosen])
            jets = momenta(jets[chosen], *TreesAnalysis.fields)
            yield from best(jets, *leptons, events.event[chosen], self.folder).items()


def histograms(folder):
    """By name: feature, process and variation."""
    return histograms_of(folder, lambda corrections: TreesReference(corrections, folder))


if __name__ == "__main__":
    main(histograms, "coffea_bdt_reference.root")
