"""Writes the RNTuples of `ntuples.C` with real ROOT, each with a `.json` of what ROOT reads from
it: `write_ntuples.py FOLDER`. The table of ways to write is `WAYS`.
"""

import sys
from pathlib import Path

import ROOT

# File -> what differs from the usual way to write.
WAYS = {
    "none": {"compression": 0},
    "zlib": {"compression": 101},
    "lzma": {"compression": 207},
    "lz4": {"compression": 404},
    "zstd": {"compression": 505},
    "unchecked": {"compression": 505, "checksums": False},
    "unchecked-none": {"compression": 0, "checksums": False},
    "large-pages": {"compression": 505, "page": 1 << 20, "cluster": 170, "group": 1},
    "tiny-clusters": {"compression": 404, "page": 16, "cluster": 3, "group": 7, "entries": 200},
}


def main(folder: Path) -> None:
    # A program's neighbour; the tests import this module for its ways, and do not find it.
    from compiling import HERE, compile_macro

    compile_macro(HERE / "ntuples.C", folder)
    for name, changes in WAYS.items():
        way = ROOT.ntuples.Way()
        for key, value in changes.items():
            setattr(way, key, value)
        ROOT.ntuples.write(str(folder / f"{name}.root"), way)
        ROOT.ntuples.read(str(folder / f"{name}.root"), str(folder / f"{name}.json"))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
