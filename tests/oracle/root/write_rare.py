"""Writes the files of `rare.C` with real ROOT: `write_rare.py FOLDER`."""

import sys
from pathlib import Path

import ROOT

ENTRIES = 60
COMPRESSIONS = {"none": 0, "zstd": 505}


def main(folder: Path) -> None:
    # Compiled, for collections need dictionaries; which needs a C++ compiler.
    ROOT.gSystem.SetBuildDir(str(folder), True)
    if not ROOT.gSystem.CompileMacro(str(Path(__file__).parent / "rare.C"), "kO"):
        raise SystemExit("rare.C does not compile")
    for name, setting in COMPRESSIONS.items():
        ROOT.rare.write(str(folder / f"{name}.root"), setting, ENTRIES)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
