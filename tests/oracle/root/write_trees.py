"""Writes the files of `trees.C` with real ROOT: `write_trees.py FOLDER`. A program of its own, for
ROOT's global state has no place in the process of the tests.
"""

import sys
from pathlib import Path

import ROOT

PLAIN = (
    *("leaves", "empty", "leaf_lists", "truncated", "vectors", "baskets", "generated_offsets"),
    *("embedded", "objects", "directories", "far"),
)
ALGORITHMS = {"zlib": 1, "lzma": 2, "old": 3, "lz4": 4, "zstd": 5}


def main(folder: Path) -> None:
    source = (Path(__file__).parent / "trees.C").read_text()
    if not ROOT.gInterpreter.Declare(source):
        raise SystemExit("trees.C does not compile")
    for name in PLAIN:
        getattr(ROOT.oracle, name)(str(folder / f"{name}.root"))
    ROOT.oracle.codec(str(folder / "codec-none.root"), 1, 0)
    for name, number in ALGORITHMS.items():
        for level in range(1, 10):
            ROOT.oracle.codec(str(folder / f"codec-{name}-{level}.root"), number, level)
        ROOT.oracle.blocks(str(folder / f"blocks-{name}.root"), number, 1)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
