"""Writes the files of `objects.C` with real ROOT: `write_objects.py FOLDER`."""

import sys
from pathlib import Path

import ROOT


def main(folder: Path) -> None:
    source = (Path(__file__).parent / "objects.C").read_text()
    if not ROOT.gInterpreter.Declare(source):
        raise SystemExit("objects.C does not compile")
    ROOT.kinds.write(str(folder / "object-wise.root"), False)
    ROOT.kinds.write(str(folder / "member-wise.root"), True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
