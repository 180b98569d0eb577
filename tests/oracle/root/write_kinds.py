"""Writes the files of `kinds.C` with real ROOT: `write_kinds.py FOLDER [big]`."""

import sys
from pathlib import Path

import ROOT
from compiling import HERE, compile_macro

ENTRIES = 40
COMPRESSIONS = {"none": 0, "zlib": 101, "lzma": 201, "old": 301, "lz4": 404, "zstd": 505}


def main(folder: Path, what: str = "") -> None:
    compile_macro(HERE / "kinds.C", folder)
    if what == "big":
        ROOT.every.big(str(folder / "big.root"), 290_000, 1000)
        return
    for name, setting in COMPRESSIONS.items():
        ROOT.every.write(str(folder / f"{name}.root"), setting, ENTRIES)
    ROOT.every.ranges(str(folder / "none.root"), str(folder / "ranges.jsonl"))


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
