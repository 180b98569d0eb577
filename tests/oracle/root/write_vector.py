"""Writes a tree with a branch `v` of vectors, uncompressed: `write_vector.py FOLDER` makes
vector.root."""

import sys

import ROOT

ROOT.gInterpreter.Declare("""
void write(const char *path) {
  TFile file(path, "recreate", "", 0);
  TTree tree("t", "t");
  std::vector<float> v;
  tree.Branch("v", &v);
  for (int i = 0; i < 60; ++i) {
    v.assign(1 + i % 3, i);
    tree.Fill();
  }
  tree.Write();
}
""")
ROOT.write(f"{sys.argv[1]}/vector.root")
