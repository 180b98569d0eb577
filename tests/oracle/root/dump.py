"""Dumps files with real ROOT: `dump.py FOLDER [OUTPUT]` writes FILE.dump for each of the folder's
ROOT files, into the same folder if no other is named. Files that have one are left alone; a
FILE.part that stays behind names a file at which ROOT came to an end.
"""

import sys
from pathlib import Path

import ROOT


def main(folder: Path, output: Path) -> None:
    if not ROOT.gInterpreter.Declare((Path(__file__).parent / "dump.C").read_text()):
        raise SystemExit("dump.C does not compile")
    for path in sorted(folder.glob("*.root")):
        part, done = (output / f"{path.stem}.{end}" for end in ("part", "dump"))
        if part.exists() or done.exists():
            continue
        part.touch()
        ROOT.dump.file(str(path), str(part))
        part.rename(done)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[-1]))
