"""The benchmark's files once more as RNTuples, written by ROOT's importer: what NanoAOD becomes.

`python -m bench.ntuples TREE.root RNTUPLE.root SETTING [PAGE]` is the conversion, in a process of
its own; PAGE: the bytes of a page at most, before it is compressed, instead of ROOT's own limit.
"""

import subprocess
import sys
from pathlib import Path

from . import data
from .protocol import REPOSITORY
from .queries import TREE

LABELS = {codec: f"RNTuple {codec}" for codec in data.CODECS}
"""Codec -> how tables call its file."""

# Codec -> ROOT's compression setting: 100 times the algorithm, and the level that ROOT prefers.
_SETTINGS = {"zlib": 101, "lz4": 404, "zstd": 505, "none": 0}


def make(codec: str, events: int, where: Path) -> Path:
    """The RNTuple of the tree of `data.make`; written by ROOT when it is not there."""
    path = where / f"rntuple-{codec}-{events}.root"
    if not path.exists():
        tree = data.make("none", events, where)
        part = path.with_suffix(".tmp.root")
        part.unlink(missing_ok=True)
        command = [sys.executable, "-W", "ignore", "-m", __name__, str(tree), str(part)]
        subprocess.run([*command, str(_SETTINGS[codec])], cwd=REPOSITORY, check=True)
        part.rename(path)
    return path


def _convert(tree: str, ntuple: str, setting: int, page: int = 0) -> None:
    import ROOT

    importer = ROOT.Experimental.RNTupleImporter.Create(tree, TREE, ntuple)
    importer.SetIsQuiet(True)
    options = importer.GetWriteOptions()
    options.SetCompression(setting)
    if page:
        options.SetMaxUnzippedPageSize(page)
    importer.SetWriteOptions(options)
    importer.Import()


if __name__ == "__main__":
    _convert(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:]))
