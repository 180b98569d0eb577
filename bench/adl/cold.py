"""First results: the time that a whole new process takes, from the shell's prompt to its end. The
file is in the page cache; nothing else is warm. treemill's are the scripts of examples/adl/; ROOT's
are such scripts as its users write, whose expressions and functions it compiles as it starts.
"""

import sys
from pathlib import Path

from ..protocol import REPOSITORY

_START = """
import sys
import ROOT
df = ROOT.RDataFrame("Events", sys.argv[1])
"""
_END = """
print(h.GetEntries())
"""
_ROOT = {
    "adl1": """
h = df.Histo1D(("h", "", 128, 0, 256), "MET_pt")
""",
    "adl4": """
h = df.Filter("Sum(Jet_pt > 40) >= 2").Histo1D(("h", "", 128, 0, 256), "MET_pt")
""",
    "adl5": """
ROOT.gInterpreter.Declare('''
using Floats = const ROOT::RVecF &;
bool dimuon(Floats pt, Floats eta, Floats phi, Floats mass, const ROOT::RVecI &charge) {
  for (std::size_t i = 0; i < pt.size(); ++i)
    for (std::size_t j = i + 1; j < pt.size(); ++j) {
      if (charge[i] == charge[j]) continue;
      ROOT::Math::PtEtaPhiMVector a(pt[i], eta[i], phi[i], mass[i]);
      ROOT::Math::PtEtaPhiMVector b(pt[j], eta[j], phi[j], mass[j]);
      const double m = (a + b).M();
      if (m > 60 && m < 120) return true;
    }
  return false;
}
''')
h = (
    df.Filter("dimuon(Muon_pt, Muon_eta, Muon_phi, Muon_mass, Muon_charge)")
    .Histo1D(("h", "", 128, 0, 256), "MET_pt")
)
""",
}
TASKS = tuple(_ROOT)


def commands(path: Path) -> dict[tuple[str, str], list[str]]:
    """What is run, by task and program."""
    found = {}
    for task, text in _ROOT.items():
        script = str(REPOSITORY / "examples" / "adl" / f"{task}.py")
        found[task, "treemill"] = [sys.executable, script, str(path)]
        root = [sys.executable, "-W", "ignore", "-c", _START + text + _END]
        found[task, "RDataFrame"] = [*root, str(path)]
    return found
