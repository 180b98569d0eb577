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


@dataclass(frozen=True)
class Part:
    """What is measured: the module that does it, the schema of its files, what it is asked."""

    name: str
    module: str
    schema: str
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
    )
}

EARLIER_RIVALS = tuple(rival for part in PARTS.values() for rival in (part.now, part.before))
