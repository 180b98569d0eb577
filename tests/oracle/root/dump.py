"""Dumps files with real ROOT: `dump.py OUTPUT FILE...` writes FILE.dump into the folder OUTPUT for
each of the files. Files that have one are left alone; a FILE.part that stays behind names a file at
which ROOT came to an end.
"""

import sys
from pathlib import Path

import ROOT


def main(output: Path, *files: Path) -> None:
    if not ROOT.gInterpreter.Declare((Path(__file__).parent / "dump.C").read_text()):
        raise SystemExit("dump.C does not compile")
    for path in sorted(files):
        part, done = (output / f"{path.stem}.{end}" for end in ("part", "dump"))
        if part.exists() or done.exists():
            continue
        part.touch()
        ROOT.dump.file(str(path), str(part))
        part.rename(done)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
