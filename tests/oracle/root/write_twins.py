"""Writes the trees of `twins.C` with real ROOT: `write_twins.py FOLDER`."""

import sys
from pathlib import Path

import ROOT
from compiling import HERE, compile_macro


def main(folder: Path) -> None:
    compile_macro(HERE / "twins.C", folder)
    ROOT.twins.write(str(folder / "twins.root"))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
