"""The same analysis in treemill, coffea and RDataFrame: `python examples/agc/compare.py FOLDER`.

Runs the programs on the files of `generate.py`, compares the histograms of all processes and
variations bin by bin, and prints lines of code, time and memory. The exit status is 1 if a bin
differs and single precision does not explain it.
"""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))
from side_by_side import measured  # noqa: E402

PROGRAMS = {
    "treemill": ("treemill.root", ["treemill_ttbar.py"]),
    "coffea, as its reference": ("coffea.root", ["coffea_ttbar.py"]),
    "coffea, for speed": ("coffea_fast.root", ["coffea_fast.py", "coffea_ttbar.py"]),
    "RDataFrame, C++": ("rdataframe.root", ["rdataframe_ttbar.py", "rdataframe_ttbar.cpp"]),
}
"""What they write, and their sources, of which the first is run."""
TREES = {
    "treemill": ("treemill_bdt.root", ["treemill_bdt.py", "treemill_ttbar.py"]),
    "coffea, XGBoost, as its reference": (
        "coffea_bdt_reference.root",
        ["coffea_bdt_reference.py", "coffea_bdt.py", "coffea_fast.py", "coffea_ttbar.py"],
    ),
    "coffea, XGBoost, for speed": (
        "coffea_bdt.root",
        ["coffea_bdt.py", "coffea_fast.py", "coffea_ttbar.py"],
    ),
    "RDataFrame, C++": (
        "rdataframe_bdt.root",
        ["rdataframe_bdt.py", "rdataframe_bdt.cpp", "rdataframe_ttbar.py", "rdataframe_ttbar.cpp"],
    ),
}
"""The version with boosted trees, once `treemill_bdt.py FOLDER train` has made the models."""


def main(folder):
    """The exit status."""
    agree = measured(folder, PROGRAMS, HERE)
    if (folder / "bdt_even.json").exists():
        print("\nwith boosted trees")
        agree &= measured(folder, TREES, HERE)
    return 0 if agree else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
