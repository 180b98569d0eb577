"""Writes the files of `rare.C` with real ROOT: `write_rare.py FOLDER`."""

import sys
from pathlib import Path

import ROOT
from compiling import HERE, compile_macro

ENTRIES = 60
COMPRESSIONS = {"none": 0, "zstd": 505}


def main(folder: Path) -> None:
    compile_macro(HERE / "rare.C", folder)
    for name, setting in COMPRESSIONS.items():
        ROOT.rare.write(str(folder / f"{name}.root"), setting, ENTRIES)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
