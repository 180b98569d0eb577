"""Writes the files of `objects.C` with real ROOT: `write_objects.py FOLDER`."""

import sys
from pathlib import Path

import ROOT


def main(folder: Path) -> None:
    # Compiled, for collections need dictionaries; which needs a C++ compiler.
    ROOT.gSystem.SetBuildDir(str(folder), True)
    if not ROOT.gSystem.CompileMacro(str(Path(__file__).parent / "objects.C"), "kO"):
        raise SystemExit("objects.C does not compile")
    ROOT.kinds.write(str(folder / "object-wise.root"), False)
    ROOT.kinds.write(str(folder / "member-wise.root"), True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
