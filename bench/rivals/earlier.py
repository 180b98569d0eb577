"""treemill at another commit, for `python -m bench before`: the same modules, in a process that
imports the other commit's package.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from ..adl.tasks import TASKS
from ..queries import QUERIES, Query
from . import Rival

FACES = (
    Query("import", "import treemill, in a process of its own", ()),
    Query("arrays", "arrays of flat columns", ("MET_pt", "MET_phi")),
    Query("lists", "arrays of lists", ("Jet_pt", "Jet_eta", "Muon_charge")),
    Query("threads", "a selector on a thread", ("MET_pt", "Jet_pt")),
    Query("processes", "a selector on a process", ("MET_pt", "Jet_pt")),
    Query("skim", "a snapshot to a TTree", ("MET_pt", "Jet_pt")),
)


SESSIONS = (
    Query("run", "a selector of one cycle, on a thread", ()),
    Query("submit", "a selector of one cycle, on a process", ()),
    Query("packets", "300 packets of nothing, there and back", ()),
    Query("life", "a session of two processes: start, one cycle, end", ()),
    Query("touch", "two columns that a selector reads", ("MET_pt", "Jet_pt")),
    Query("query", "two histograms of the same columns", ("MET_pt", "Jet_pt")),
)


@dataclass(frozen=True)
class Part:
    """What is measured: the module that does it, the kind of its files, what it is asked. No
    questions: those that the files have an answer to."""

    name: str
    module: str
    files: str
    queries: Sequence[Query]

    @property
    def now(self) -> Rival:
        """This version."""
        return Rival(f"now-{self.name}", "now", self.module, "now")

    @property
    def before(self) -> Rival:
        """The other version."""
        return Rival(f"before-{self.name}", "before", self.module, "before")


PARTS = {
    part.name: part
    for part in (
        Part("queries", "rivals.treemill_", "demo", QUERIES),
        Part("adl", "adl.treemill_", "opendata", tuple(TASKS.values())),
        Part("faces", "rivals.faces", "demo", FACES),
        Part("sessions", "rivals.sessions_", "demo", SESSIONS),
        Part("types", "rivals.types_", "types", ()),
        Part("ntuples", "rivals.treemill_", "ntuples", QUERIES),
    )
}

EARLIER_RIVALS = tuple(rival for part in PARTS.values() for rival in (part.now, part.before))
