"""The tt̄ analysis in RDataFrame: `python examples/agc/rdataframe_ttbar.py FOLDER` writes the
histograms of all processes and variations, as treemill_ttbar.py does.

The analysis is rdataframe_ttbar.cpp, compiled once by ROOT with the machine's compiler.
"""

import json
import sys
import tempfile
from pathlib import Path

import ROOT
from correctionlib.util import this_module_path

_SOURCE = Path(__file__).with_suffix(".cpp")
_BUILT = Path(tempfile.gettempdir()) / "treemill-agc"


def compiled(source=_SOURCE):
    """The functions of the C++ file; the library is kept."""
    if not hasattr(ROOT, "DataSet"):
        library = this_module_path()
        ROOT.gSystem.AddIncludePath(f"-I{library / 'include'} -I{source.parent}")
        ROOT.gInterpreter.AddIncludePath(str(library / "include"))
        ROOT.gSystem.Load(str(library / "lib" / "libcorrectionlib.so"))
        ROOT.gSystem.AddLinkedLibs(f"-L{library / 'lib'} -lcorrectionlib")
        ROOT.gSystem.SetFlagsOpt("-O3 -march=native")
        if not ROOT.gSystem.CompileMacro(str(source), "kO", "", str(_BUILT)):
            raise RuntimeError(f"ROOT could not compile {source}")
    return ROOT


def data_sets(root, folder):
    """What is known of the files."""
    sets = root.std.vector["DataSet"]()
    for each in json.loads(Path(folder, "fileset.json").read_text()).values():
        known = each["metadata"]
        data = root.DataSet()
        data.process, data.variation = known["process"], known["variation"]
        data.files = list(each["files"])
        data.weight = known["xsec"] * 3378 / known["nevts"]
        sets.push_back(data)
    return sets


def histograms(folder):
    """By name, as the fit has them: region, process and variation."""
    root = compiled()
    found = root.histograms(data_sets(root, folder), str(Path(folder, "corrections.json")))
    return {str(name): histogram for name, histogram in found}


def main(histograms, name):
    """Writes them to a file in the folder."""
    folder = Path(sys.argv[1])
    found = histograms(folder)
    file = ROOT.TFile(str(folder / name), "RECREATE")
    for title, histogram in found.items():
        file.WriteObject(histogram, title)
    file.Close()


if __name__ == "__main__":
    main(histograms, "rdataframe.root")
