"""Writes the files of `kinds.C` with real ROOT: `python -m bench.types.write FOLDER SCALE CODEC…`.

A program of its own: ROOT's global state has no place in the process that measures.
"""

import sys
from pathlib import Path

SETTINGS = {"none": 0, "zlib": 101, "lzma": 201, "lz4": 404, "zstd": 505}
"""TFile's compression settings: algorithm * 100 + level."""


def main(folder: Path, scale: float, codecs: list[str]) -> None:
    """Write them; ROOT is met in this process only."""
    import ROOT

    ROOT.gSystem.SetBuildDir(str(folder), True)
    if not ROOT.gSystem.CompileMacro(str(Path(__file__).parent / "kinds.C"), "kO"):
        raise SystemExit("kinds.C does not compile")
    for codec in codecs:
        # Under another name until it is whole: a run that was stopped leaves no half of a file.
        half = folder / f"{codec}.part"
        ROOT.kinds.write(str(half), SETTINGS[codec], scale)
        half.rename(folder / f"{codec}.root")


if __name__ == "__main__":
    main(Path(sys.argv[1]), float(sys.argv[2]), sys.argv[3:])
