"""Writes the files of `objects.C` with real ROOT: `write_objects.py FOLDER`."""

import sys
from pathlib import Path

import ROOT
from compiling import HERE, compile_macro


def main(folder: Path) -> None:
    compile_macro(HERE / "objects.C", folder)
    ROOT.kinds.write(str(folder / "object-wise.root"), False)
    ROOT.kinds.write(str(folder / "member-wise.root"), True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
