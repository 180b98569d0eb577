"""What is asked of every rival: the queries' names, branches and bins. How each rival writes them
is up to the rival.

The bins are 2^n over a power of two: `(x - low) / width * bins` is then exact in every rival, so
that equal bin contents mean equal values read, and no rounding rule at a bin's edge plays a part.
"""

from dataclasses import dataclass

BINS, LOW, HIGH = 128, 0.0, 256.0
TREE = "Events"


@dataclass(frozen=True)
class Query:
    """One of the benchmark's questions."""

    key: str
    title: str
    branches: tuple[str, ...]


QUERIES = (
    Query("q1", "MET_pt of all events", ("MET_pt",)),
    Query("q2", "Jet_pt of all jets", ("Jet_pt",)),
    Query("q3", "Jet_pt of jets with |eta| < 1", ("Jet_pt", "Jet_eta")),
    Query("q4", "MET_pt where >= 2 jets have pt > 40", ("Jet_pt", "MET_pt")),
)

# The sweep for the memory measurement fills one histogram from each of these.
SWEEP = (
    *(f"Muon_{x}" for x in ("pt", "eta", "phi", "mass")),
    *(f"Jet_{x}" for x in ("pt", "eta", "phi", "mass", "btag")),
    *(f"Electron_{x}" for x in ("pt", "eta", "phi", "mass")),
    *("event", "MET_pt", "MET_phi", "genWeight"),
)
