"""Writes files whose columns "all" stands for: objects stored whole in a TTree, std::optional in an
RNTuple, and vectors of equal length, by RDataFrame and by TTree.

    python write_all.py FOLDER
"""

import sys
from array import array

import ROOT

folder = sys.argv[1]

ROOT.gInterpreter.Declare("""
#include <ROOT/RNTupleModel.hxx>
#include <ROOT/RNTupleWriter.hxx>
#include <optional>
#include <string>
#include <variant>

void write_optional(const char *path) {
  auto model = ROOT::RNTupleModel::Create();
  auto x = model->MakeField<std::optional<float>>("x");
  auto word = model->MakeField<std::optional<std::string>>("word");
  auto either = model->MakeField<std::variant<int, float>>("either");
  auto writer = ROOT::RNTupleWriter::Recreate(std::move(model), "t", path);
  for (int i = 0; i < 4; ++i) {
    x->reset();
    word->reset();
    if (i % 2) *x = i;
    if (i > 1) *word = "w";
    *either = i;
    writer->Fill();
  }
}
""")
ROOT.write_optional(f"{folder}/optional.root")

file = ROOT.TFile(f"{folder}/whole.root", "RECREATE")
tree = ROOT.TTree("t", "t")
x = array("i", [0])
word, words = ROOT.std.string(), ROOT.std.vector("string")()
four = ROOT.std.vector("ROOT::Math::PtEtaPhiMVector")
jets = ROOT.std.vector("std::vector<ROOT::Math::PtEtaPhiMVector>")()
seen = ROOT.TH1F("seen", "", 3, 0, 3)
tree.Branch("x", x, "x/I")
tree.Branch("word", word)
tree.Branch("words", words)
tree.Branch("jets", jets)
tree.Branch("seen", seen, 32000, 0)
for entry in range(3):
    x[0] = entry
    word.assign("a" * entry)
    words.clear()
    jets.clear()
    for _ in range(entry):
        words.push_back("b")
        pair = four()
        for pt in (10 + entry, 20 + entry):
            pair.push_back(ROOT.Math.PtEtaPhiMVector(pt, 0, 0, 0))
        jets.push_back(pair)
    seen.SetName(f"h{entry}")
    tree.Fill()
tree.Write()
file.Close()

frame = ROOT.RDataFrame(5)
frame = frame.Define("n", "int(rdfentry_ % 3)")
frame = frame.Define("lep_pt", "std::vector<float>(n, 1.f + rdfentry_)")
frame = frame.Define("lep_eta", "std::vector<float>(n, 0.5f * rdfentry_)")
frame = frame.Define("lep_good", "ROOT::RVec<int>(n / 2, 1)")
names = ROOT.std.vector("string")(["lep_pt", "lep_eta", "lep_good"])
frame.Snapshot("mini", f"{folder}/frame.root", names)

file = ROOT.TFile(f"{folder}/tree.root", "RECREATE")
tree = ROOT.TTree("mini", "mini")
vectors = {name: ROOT.std.vector("float")() for name in ("lep_pt", "lep_eta", "lep_good")}
for name, vector in vectors.items():
    tree.Branch(name, vector)
for entry in range(5):
    for name, value in (("lep_pt", 1 + entry), ("lep_eta", 0.5 * entry), ("lep_good", 1)):
        size = entry % 3 // (2 if name == "lep_good" else 1)
        vectors[name].assign(size, value)
    tree.Fill()
tree.Write()
file.Close()
