"""Dumps files with real ROOT: `dump.py FOLDER` writes FILE.dump beside each of its ROOT files."""

import sys
from pathlib import Path

import ROOT


def main(folder: Path) -> None:
    if not ROOT.gInterpreter.Declare((Path(__file__).parent / "dump.C").read_text()):
        raise SystemExit("dump.C does not compile")
    for path in sorted(folder.glob("*.root")):
        ROOT.dump.file(str(path), str(path.with_suffix(".dump")))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
