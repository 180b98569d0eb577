"""The files that are read: trees as CMS writes its events, with few entries in a cluster and many
branches, and with the large clusters of modern files; a file of a given size. Made once and kept.

`python -m bench.io.layouts FILE EVENTS CLUSTER` writes one with ROOT, in a process of its own.
"""

import subprocess
import sys
from pathlib import Path

from ..protocol import REPOSITORY

TREE = "Events"
BRANCHES = 200
CLUSTERS = {"CMS 2013": 10, "modern": 250}
"""Layout -> entries of a cluster. The paper's Figure 1 shows 5 to 20."""
MANY = "many files"
"""No layout, but many files of the schema "opendata"."""

# Vectors of 16-bit numbers in floats, which compress as detectors' values do, and lengths from 1 to
# 1,000 as branches have them: the sizes of branches span three orders of magnitude.
_PROGRAM = """
#include <cmath>
#include <string>
#include <vector>
#include "TFile.h"
#include "TRandom3.h"
#include "TTree.h"
void write_layout(const char *path, int branches, long events, long cluster) {
  TFile file(path, "recreate", "", 505);
  TTree tree("Events", "made up by treemill");
  tree.SetAutoFlush(cluster);
  std::vector<std::vector<float>> values(branches);
  for (int i = 0; i < branches; i++)
    tree.Branch(("b" + std::to_string(i)).c_str(), &values[i], 1 << 20);
  TRandom3 random(1);
  for (long event = 0; event < events; event++) {
    for (int i = 0; i < branches; i++) {
      values[i].resize(random.Poisson(std::pow(1000., double(i) / branches)));
      for (float &value : values[i]) value = std::floor(random.Exp(4096.)) / 64;
    }
    tree.Fill();
  }
  tree.Write();
}
"""


def make(layout: str, events: int, where: Path) -> Path:
    """The file of a layout of CLUSTERS; ROOT writes it when it is not there."""
    path = where / f"io-{layout.replace(' ', '-').lower()}-{events}.root"
    if not path.exists():
        where.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".tmp.root")
        numbers = map(str, (events, CLUSTERS[layout]))
        command = [sys.executable, "-W", "ignore", "-m", __name__, str(part), *numbers]
        subprocess.run(command, cwd=REPOSITORY, check=True)
        part.rename(path)
    return path


def plain(size: int, where: Path) -> Path:
    """A file of so many bytes, to be copied."""
    path = where / f"io-plain-{size}"
    if not path.exists():
        where.mkdir(parents=True, exist_ok=True)
        block = bytes(range(256)) * 4096
        with path.open("wb") as file:
            for start in range(0, size, len(block)):
                file.write(block[: size - start])
    return path


def _write(path: str, events: int, cluster: int) -> None:
    import ROOT

    ROOT.gInterpreter.Declare(_PROGRAM)
    ROOT.write_layout(path, BRANCHES, events, cluster)


if __name__ == "__main__":
    _write(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
