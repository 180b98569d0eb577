"""A file as a NanoAOD's analysis meets it, of 200 columns: as a tree, as an RNTuple with the pages
that ROOT makes, and as one with pages as large as the tree's baskets. Made once and kept.

`python -m bench.io.nano FILE EVENTS` writes the tree with ROOT, in a process of its own.
"""

import subprocess
import sys
from pathlib import Path

from ..protocol import REPOSITORY

SMALL_PAGES = "RNTuple with small pages"
KINDS = ("TTree", "RNTuple", SMALL_PAGES)
COLUMNS = (
    *("luminosityBlock", "MET_pt", "nMuon", "Muon_v0", "Muon_v1", "Muon_v2"),
    *("nJet", "Jet_v0", "Jet_v1", "Jet_v2"),
)
"""Ten of them, of an analysis."""
BLOCKS = 100
"""Luminosity blocks, one after the other."""
_ZSTD = 505
_PAGE = 32 << 10
"""Bytes of a small page before it is compressed, as ROOT begins baskets. A page may have 1 MiB if
nobody says so, and a column of this file fills one."""
_COLLECTIONS = ("Muon", "Electron", "Tau", "Photon", "Jet", "FatJet", "GenPart", "GenJet")
_MEMBERS = 23
"""Of each collection; with eight counters and eight columns of the event these are 200."""

# Values of 12 bits, as NanoAOD has them.
_PROGRAM = """
#include <array>
#include <cmath>
#include <string>
#include <vector>
#include "TFile.h"
#include "TRandom3.h"
#include "TTree.h"
void write_nano(const char *path, const std::vector<std::string> &collections, int members,
                long events, int blocks) {
  TFile file(path, "recreate", "", 505);
  TTree tree("Events", "made up by treemill");
  tree.SetAutoFlush(5000);
  unsigned run = 1, block = 0;
  unsigned long long event = 0;
  std::array<float, 5> values;
  tree.Branch("run", &run, "run/i");
  tree.Branch("luminosityBlock", &block, "luminosityBlock/i");
  tree.Branch("event", &event, "event/l");
  const char *names[] = {"MET_pt", "MET_phi", "PV_x", "PV_y", "PV_z"};
  for (int i = 0; i < 5; i++)
    tree.Branch(names[i], &values[i], (names[i] + std::string("/F")).c_str());
  constexpr int most = 32;
  std::vector<int> counts(collections.size());
  std::vector<std::array<float, most>> lists(collections.size() * members);
  for (size_t c = 0; c < collections.size(); c++) {
    std::string counter = "n" + collections[c];
    tree.Branch(counter.c_str(), &counts[c], (counter + "/I").c_str());
    for (int m = 0; m < members; m++) {
      std::string name = collections[c] + "_v" + std::to_string(m);
      std::string leaf = name + "[" + counter + "]/F";
      tree.Branch(name.c_str(), lists[c * members + m].data(), leaf.c_str());
    }
  }
  TRandom3 random(1);
  auto value = [&] { return std::floor(random.Exp(512.)) / 16; };
  for (; event < (unsigned long long)events; event++) {
    block = event * blocks / events;
    for (float &each : values) each = value();
    for (size_t c = 0; c < collections.size(); c++) {
      counts[c] = std::min<int>(random.Poisson(3.), most);
      for (int m = 0; m < members; m++)
        for (int i = 0; i < counts[c]; i++) lists[c * members + m][i] = value();
    }
    tree.Fill();
  }
  tree.Write();
}
"""


def make(kind: str, events: int, where: Path) -> Path:
    """The file of one of KINDS; ROOT writes it when it is not there."""
    path = where / f"io-nano-{kind.lower().replace(' ', '-')}-{events}.root"
    if not path.exists():
        where.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".tmp.root")
        part.unlink(missing_ok=True)
        python = [sys.executable, "-W", "ignore", "-m"]
        command = [*python, __name__, str(part), str(events)]
        if kind != "TTree":
            tree = make("TTree", events, where)
            command = [*python, "bench.ntuples", str(tree), str(part), str(_ZSTD)]
            command += [str(_PAGE)] if kind == SMALL_PAGES else []
        subprocess.run(command, cwd=REPOSITORY, check=True)
        part.rename(path)
    return path


def block(number: int, events: int) -> range:
    """The entries of a luminosity block, of a file of so many events."""
    return range(-(-number * events // BLOCKS), -(-(number + 1) * events // BLOCKS))


def _write(path: str, events: int) -> None:
    import ROOT

    ROOT.gInterpreter.Declare(_PROGRAM)
    collections = ROOT.std.vector["std::string"](_COLLECTIONS)
    ROOT.write_nano(path, collections, _MEMBERS, events, BLOCKS)


if __name__ == "__main__":
    _write(sys.argv[1], int(sys.argv[2]))
