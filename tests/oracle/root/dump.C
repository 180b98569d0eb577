// Reads trees with ROOT itself (TTree::GetEntry) and writes what is in memory then, for
// `dump.py` to pass on. No code is generated for a type, so that hundreds of branches take no time.
//
// A column in the output: name, type, number of entries; items of each entry as int32; size of the
// items in bytes; the items as in memory. Strings are items of one byte, a string is a list.
#include <TBranchElement.h>
#include <TDirectory.h>
#include <TFile.h>
#include <TKey.h>
#include <TLeaf.h>
#include <TTree.h>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace dump {

struct Column {
  std::string name, type;
  std::vector<int> counts;
  std::string bytes;

  void entry(const void *at, int count, size_t size) {
    counts.push_back(count);
    bytes.append(static_cast<const char *>(at), count * size);
  }
};

void put(std::ostream &out, const std::string &text) {
  const auto size = UInt_t(text.size());
  out.write(reinterpret_cast<const char *>(&size), 4);
  out.write(text.data(), text.size());
}

void put(std::ostream &out, const std::string &tree, const Column &column) {
  put(out, tree);
  put(out, column.name);
  put(out, column.type);
  const auto *counts = reinterpret_cast<const char *>(column.counts.data());
  put(out, std::string(counts, column.counts.size() * sizeof(int)));
  put(out, column.bytes);
}

// Items in memory of a leaf of this type; the second is NumPy's name.
const std::map<std::string, std::pair<size_t, std::string>> numbers = {
  {"Char_t", {1, "i1"}}, {"UChar_t", {1, "u1"}}, {"Short_t", {2, "i2"}}, {"UShort_t", {2, "u2"}},
  {"Int_t", {4, "i4"}}, {"UInt_t", {4, "u4"}}, {"Long64_t", {8, "i8"}}, {"ULong64_t", {8, "u8"}},
  {"Long_t", {8, "i8"}}, {"ULong_t", {8, "u8"}}, {"Float_t", {4, "f4"}}, {"Double_t", {8, "f8"}},
  {"Float16_t", {4, "f4"}}, {"Double32_t", {8, "f8"}}, {"Bool_t", {1, "?"}},
};

template <typename T> void vector(TBranch &branch, Column &column, Long64_t entries) {
  std::vector<T> *at = nullptr;
  branch.SetAddress(&at);
  for (Long64_t i = 0; i < entries; ++i) {
    branch.GetEntry(i);
    if constexpr (std::is_same_v<T, bool>) {
      std::string bytes;
      for (bool x : *at) bytes.push_back(x);
      column.entry(bytes.data(), int(bytes.size()), 1);
    } else {
      column.entry(at->data(), int(at->size()), sizeof(T));
    }
  }
  branch.ResetAddress();
  delete at;
}

void text(TBranch &branch, Column &column, Long64_t entries) {
  std::string *at = nullptr;
  branch.SetAddress(&at);
  for (Long64_t i = 0; i < entries; ++i) {
    branch.GetEntry(i);
    column.entry(at->data(), int(at->size()), 1);
  }
  branch.ResetAddress();
  delete at;
}

using Reader = void (*)(TBranch &, Column &, Long64_t);
const std::map<std::string, std::pair<Reader, std::string>> classes = {
  {"string", {text, "S"}},
  {"vector<bool>", {vector<bool>, "?"}},
  {"vector<char>", {vector<char>, "i1"}},
  {"vector<unsigned char>", {vector<unsigned char>, "u1"}},
  {"vector<short>", {vector<short>, "i2"}},
  {"vector<unsigned short>", {vector<unsigned short>, "u2"}},
  {"vector<int>", {vector<int>, "i4"}},
  {"vector<unsigned int>", {vector<unsigned int>, "u4"}},
  {"vector<long>", {vector<long>, "i8"}},
  {"vector<unsigned long>", {vector<unsigned long>, "u8"}},
  {"vector<Long64_t>", {vector<Long64_t>, "i8"}},
  {"vector<ULong64_t>", {vector<ULong64_t>, "u8"}},
  {"vector<float>", {vector<float>, "f4"}},
  {"vector<double>", {vector<double>, "f8"}},
};

void leaf(TTree &tree, TLeaf &leaf, Column &column) {
  const auto size = numbers.at(leaf.GetTypeName()).first;
  const bool string = std::strcmp(leaf.ClassName(), "TLeafC") == 0;
  column.type = string ? "S" : numbers.at(leaf.GetTypeName()).second;
  for (Long64_t i = 0; i < tree.GetEntries(); ++i) {
    tree.LoadTree(i);
    if (auto *counter = leaf.GetLeafCount()) counter->GetBranch()->GetEntry(i);
    leaf.GetBranch()->GetEntry(i);
    const void *at = leaf.GetValuePointer();
    const int count = string ? int(std::strlen(static_cast<const char *>(at))) : leaf.GetNdata();
    column.entry(at, count, size);
  }
}

// A name that no other branch has: the second of several top branches of one name is `x;2`, a member has its full name.
std::string called(TTree &tree, TBranch &branch) {
  if (branch.GetMother() != &branch) return branch.GetFullName().Data();
  int number = 0;
  for (auto *object : *tree.GetListOfBranches()) {
    number += std::strcmp(object->GetName(), branch.GetName()) == 0;
    if (object == &branch) break;
  }
  const std::string own = branch.GetName();
  return number > 1 ? own + ";" + std::to_string(number) : own;
}

void read(std::ostream &out, const std::string &name, TTree &tree) {
  for (auto *object : *tree.GetListOfLeaves()) {
    auto &one = static_cast<TLeaf &>(*object);
    auto &branch = *one.GetBranch();
    Column column;
    const auto own = called(tree, branch);
    column.name = branch.GetListOfLeaves()->GetEntries() > 1 ? own + "/" + one.GetName() : own;
    const bool element = branch.InheritsFrom(TBranchElement::Class());
    const auto known = classes.find(branch.GetClassName());
    if (!element && numbers.count(one.GetTypeName())) {
      leaf(tree, one, column);
    } else if (element && branch.GetMother() == &branch && known != classes.end()) {
      column.type = known->second.second;
      known->second.first(branch, column, tree.GetEntries());
    } else {
      continue;
    }
    put(out, name, column);
  }
}

void walk(std::ostream &out, TDirectory &folder, const std::string &path) {
  for (auto *object : *folder.GetListOfKeys()) {
    auto &key = static_cast<TKey &>(*object);
    const auto name = path + key.GetName();
    std::unique_ptr<TObject> held;
    if (std::strcmp(key.GetClassName(), "TTree") == 0) {
      held.reset(key.ReadObj());
      read(out, name + ";" + std::to_string(key.GetCycle()), static_cast<TTree &>(*held));
    } else if (std::strcmp(key.GetClassName(), "TDirectoryFile") == 0) {
      walk(out, *folder.GetDirectory(key.GetName()), name + "/");
    }
  }
}

void file(const char *path, const char *output) {
  std::unique_ptr<TFile> opened(TFile::Open(path));
  std::ofstream out(output, std::ios::binary);
  walk(out, *opened, "");
}

}  // namespace dump
