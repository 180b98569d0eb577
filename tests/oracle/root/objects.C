// Objects of many kinds, unsplit and split, for test_objects.py, which has the same values by formula.
#include <TClonesArray.h>
#include <TFile.h>
#include <TLorentzVector.h>
#include <TNamed.h>
#include <TRef.h>
#include <TString.h>
#include <TTree.h>
#include <TVector2.h>
#include <TVirtualStreamerInfo.h>

#include <array>
#include <bitset>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace kinds {

struct Inner { int a; double b; std::string s; std::vector<short> v; };
struct Base { float bx; std::vector<int> bv; };
struct Item : public Base { int i; Inner inner; TString t; double c[2][3]; };
struct Whole : public Base {
  Item item;
  std::vector<Inner> inners;
  std::vector<Item> items;
  std::vector<std::vector<Inner>> nested;
  std::map<std::string, int> counts;
  std::map<int, std::vector<float>> lists;
  std::map<std::string, Inner> named;
  std::map<std::string, std::map<int, double>> deep;
  std::vector<std::pair<int, float>> pairs;
  std::set<int> numbers;
  std::vector<bool> flags;
  std::bitset<5> bits;
  std::array<float, 3> three;
  std::pair<int, float> pair;
  int n;
  float *dynamic;  //[n]
  Double32_t narrow;  //[0,10,12]
  TLorentzVector p4;
  std::vector<TLorentzVector> p4s;
  TRef ref;
};

Inner inner(int i) { return {i, i / 2., std::string(i % 300, 'x'), std::vector<short>(i % 3, short(i))}; }
Item item(int i) {
  Item it;
  it.bx = i; it.bv.assign(i % 4, i); it.i = -i; it.inner = inner(i); it.t = TString('t', i % 5);
  for (int k = 0; k < 6; ++k) it.c[k / 3][k % 3] = i + k;
  return it;
}
std::vector<Inner> inners(int n) { std::vector<Inner> v; for (int k = 0; k < n; ++k) v.push_back(inner(k)); return v; }
TLorentzVector p4(int i) { return TLorentzVector(i, 2 * i, 3 * i, 20 * i); }

void fill(Whole &w, int i) {
  w.bx = i; w.bv.assign(i % 3, i);
  w.item = item(i);
  w.inners = inners(i % 4);
  w.items.clear(); for (int k = 0; k < i % 3; ++k) w.items.push_back(item(i + k));
  w.nested.clear(); for (int k = 0; k < i % 4; ++k) w.nested.push_back(inners(k));
  w.counts.clear(); w.lists.clear(); w.named.clear(); w.deep.clear(); w.pairs.clear(); w.p4s.clear(); w.numbers.clear();
  for (int k = 0; k < i % 4; ++k) {
    auto key = "k" + std::to_string(k);
    w.counts[key] = i * k;
    w.lists[k] = std::vector<float>(k, i);
    w.named[key] = inner(k);
    w.deep[key] = {{k, i / 4.}};
    w.pairs.push_back({k, i * k});
    w.p4s.push_back(p4(k));
    w.numbers.insert(k * k);
  }
  w.flags.assign(i % 5, i % 2);
  w.bits = i % 32;
  w.three = {float(i), 1, 2};
  w.pair = {i, i / 8.f};
  w.n = i % 4;
  for (int k = 0; k < w.n; ++k) w.dynamic[k] = i * k;
  w.narrow = i % 11;
  w.p4 = p4(i);
}

void write(const char *path, bool member_wise) {
  TVirtualStreamerInfo::SetStreamMemberWise(member_wise);
  TFile file(path, "RECREATE");
  for (int split : {0, 1, 2, 99}) {
    TTree tree(("split" + std::to_string(split)).c_str(), "objects");
    Whole whole; auto *at = &whole;
    float dynamic[4];
    whole.dynamic = dynamic;
    std::vector<Inner> tops; auto *ptops = &tops;
    std::vector<std::vector<Inner>> nested; auto *pnested = &nested;
    std::map<std::string, Inner> named; auto *pnamed = &named;
    std::vector<TLorentzVector> p4s; auto *pp4s = &p4s;
    TLorentzVector one; auto *pone = &one;
    TVector2 two; auto *ptwo = &two;
    TNamed title("name", "title"); auto *ptitle = &title;
    TClonesArray clones("TLorentzVector"); auto *pclones = &clones;
    tree.Branch("whole.", "kinds::Whole", &at, 32000, split);
    tree.Branch("tops", &ptops, 32000, split);
    tree.Branch("nested", &pnested, 32000, split);
    tree.Branch("named", &pnamed, 32000, split);
    tree.Branch("p4s", &pp4s, 32000, split);
    tree.Branch("one", "TLorentzVector", &pone, 32000, split);
    tree.Branch("two", "TVector2", &ptwo, 32000, split);
    tree.Branch("title", "TNamed", &ptitle, 32000, split);
    tree.Branch("clones", &pclones, 32000, split);
    for (int i = 0; i < 60; ++i) {
      fill(whole, i);
      tops = whole.inners; nested = whole.nested; named = whole.named; p4s = whole.p4s;
      one = p4(i); two.Set(i, 2. * i);
      title.SetName(std::to_string(i).c_str());
      clones.Clear();
      for (int k = 0; k < i % 3; ++k) new (clones[k]) TLorentzVector(p4(k));
      tree.Fill();
    }
    tree.Write();
  }
}

}  // namespace kinds

#ifdef __ROOTCLING__
#pragma link C++ namespace kinds;
#pragma link C++ function kinds::write;
#pragma link C++ class kinds::Inner+;
#pragma link C++ class kinds::Base+;
#pragma link C++ class kinds::Item+;
#pragma link C++ class kinds::Whole+;
#pragma link C++ class std::vector<kinds::Inner>+;
#pragma link C++ class std::vector<kinds::Item>+;
#pragma link C++ class std::vector<std::vector<kinds::Inner>>+;
#pragma link C++ class std::vector<std::pair<int, float>>+;
#pragma link C++ class std::vector<TLorentzVector>+;
#pragma link C++ class std::map<std::string, int>+;
#pragma link C++ class std::map<int, double>+;
#pragma link C++ class std::map<int, std::vector<float>>+;
#pragma link C++ class std::map<std::string, kinds::Inner>+;
#pragma link C++ class std::map<std::string, std::map<int, double>>+;
#endif
