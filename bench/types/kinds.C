// The files of `python -m bench types`: a tree for each kind of branch, written by ROOT itself.
// Compiled by `write.py`, for collections need dictionaries. Knows kinds, not who reads them.
#include <TClonesArray.h>
#include <TFile.h>
#include <TLorentzVector.h>
#include <TRef.h>
#include <TRefArray.h>
#include <TString.h>
#include <TTree.h>
#include <TVirtualStreamerInfo.h>

#include <array>
#include <bitset>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace kinds {

struct Link { unsigned key, index; };
struct Item { int a; float x; float c[3]; std::string s; std::vector<short> v; };
struct Event {
  int id;
  TString title;
  std::bitset<8> bits;
  std::map<int, float> weights;
  std::map<std::string, double> named;
  std::pair<int, float> pair;
  std::set<int> numbers;
  std::array<float, 3> three;
  std::vector<std::pair<int, float>> pairs;
  std::vector<Double32_t> narrow;
  Double32_t truncated;  //[0,10,12]
  TRef ref;
  TRefArray refs;
  int n;
  float *dynamic;  //[n]
};

// The same numbers in every run (xorshift64).
struct Dice {
  ULong64_t state = 88172645463325252ULL;
  ULong64_t next() { state ^= state << 13; state ^= state >> 7; state ^= state << 17; return state; }
  int below(int n) { return int(next() % n); }
  float value() { return below(100000) / 1024.f; }  // 17 random bits of 32, as measured things have
  std::string text(int most) { return std::string(below(most + 1), char('a' + below(26))); }
};

class Writer {
  Dice dice;
  double scale;

  template <typename Set> void fill(TTree &tree, Long64_t entries, Set set) {
    const auto many = std::max(Long64_t(entries * scale), 10LL);
    for (Long64_t i = 0; i < many; ++i) { set(); tree.Fill(); }
    tree.Write();
  }
  // One leaf list.
  template <typename T, typename Set> void leaf(const char *name, const char *leaves, Long64_t entries, Set set) {
    TTree tree(name, name);
    T x{};
    tree.Branch("x", &x, leaves);
    fill(tree, entries, [&] { set(x); });
  }
  // One object of a class.
  template <typename T, typename Set> void object(const char *name, int split, Long64_t entries, T &x, Set set) {
    TTree tree(name, name);
    auto *at = &x;
    tree.Branch("x", &at, 32000, split);
    fill(tree, entries, [&] { set(x); });
  }
  template <typename T, typename Make> void list(const char *name, int split, Long64_t entries, int most, Make make) {
    std::vector<T> x;
    object(name, split, entries, x, [&](std::vector<T> &v) {
      v.clear();
      for (int k = dice.below(most + 1); k > 0; --k) v.push_back(make());
    });
  }
  template <typename T> std::vector<T> few(int most) {
    std::vector<T> v(dice.below(most + 1));
    for (auto &x : v) x = T(dice.value());
    return v;
  }
  TLorentzVector vector() { return TLorentzVector(dice.value(), dice.value(), dice.value(), 100 + dice.value()); }
  Item item() { return {dice.below(1000), dice.value(), {dice.value(), 1, 2}, dice.text(12), few<short>(4)}; }

  void leaves() {
    auto value = [&](auto &x) { x = dice.value(); };
    leaf<double>("double", "x/D", 4000000, value);
    leaf<float>("float", "x/F", 8000000, value);
    leaf<int>("int", "x/I", 8000000, [&](int &x) { x = dice.below(100000); });
    leaf<bool>("bool", "x/O", 16000000, [&](bool &x) { x = dice.below(2); });
    leaf<std::array<float, 3>>("float[3]", "x[3]/F", 2500000, [&](auto &x) { for (auto &f : x) f = dice.value(); });
    leaf<std::array<double, 6>>("double[2][3]", "x[2][3]/D", 700000, [&](auto &x) { for (auto &f : x) f = dice.value(); });
    struct Mixed { int a; float b; double c; };
    leaf<Mixed>("leaf list", "a/I:b/F:c/D", 2000000, [&](Mixed &x) { x = {dice.below(100), dice.value(), dice.value()}; });
    leaf<double>("Double32_t", "x/d", 8000000, value);
    leaf<double>("Double32_t [0,100,16]", "x/d[0,100,16]", 8000000, value);
    leaf<double>("Double32_t [0,0,10]", "x/d[0,0,10]", 8000000, value);
    leaf<float>("Float16_t", "x/f", 8000000, value);
    leaf<float>("Float16_t [0,100,16]", "x/f[0,100,16]", 8000000, value);
    leaf<std::array<char, 32>>("char*", "x/C", 1500000, [&](auto &x) { auto s = 'c' + dice.text(19); std::copy_n(s.c_str(), s.size() + 1, x.begin()); });
    jagged<float>("float[n]", "F", 1500000);
    jagged<short>("short[n]", "S", 1500000);
    jagged<bool>("bool[n]", "O", 1500000);
  }
  template <typename T> void jagged(const char *name, const char *code, Long64_t entries) {
    TTree tree(name, name);
    int n;
    T x[8];
    tree.Branch("n", &n, "n/I");
    tree.Branch("x", x, (std::string("x[n]/") + code).c_str());
    fill(tree, entries, [&] { n = dice.below(9); for (int k = 0; k < n; ++k) x[k] = T(dice.below(1000)); });
  }

  void collections() {
    list<float>("vector<float>", 99, 1500000, 8, [&] { return dice.value(); });
    list<int>("vector<int>", 99, 1500000, 8, [&] { return dice.below(1000); });
    list<bool>("vector<bool>", 99, 1500000, 8, [&] { return dice.below(2) == 1; });
    list<std::vector<float>>("vector<vector<float>>", 99, 250000, 4, [&] { return few<float>(4); });
    list<std::vector<std::vector<int>>>("vector<vector<vector<int>>>", 99, 60000, 3, [&] {
      std::vector<std::vector<int>> v; for (int k = dice.below(4); k > 0; --k) v.push_back(few<int>(3)); return v; });
    list<std::vector<Link>>("vector<vector<Link>>", 99, 30000, 4, [&] {
      std::vector<Link> v(dice.below(4)); for (auto &x : v) x = {unsigned(dice.next()), unsigned(dice.below(100))}; return v; });
    list<Link>("vector<Link> split", 99, 1000000, 6, [&] { return Link{unsigned(dice.next()), unsigned(dice.below(100))}; });
    std::string text;
    object("string", 99, 1500000, text, [&](std::string &s) { s = dice.text(20); });
    list<std::string>("vector<string>", 99, 120000, 6, [&] { return dice.text(20); });
    list<std::vector<std::string>>("vector<vector<string>>", 99, 30000, 3, [&] {
      std::vector<std::string> v; for (int k = dice.below(4); k > 0; --k) v.push_back(dice.text(9)); return v; });
    list<Item>("vector<Item> split", 99, 200000, 4, [&] { return item(); });
    std::map<int, float> map;
    object("map<int,float>", 0, 30000, map, [&](auto &m) { m.clear(); for (int k = dice.below(6); k > 0; --k) m[dice.below(100)] = dice.value(); });
    for (bool by_member : {false, true}) {
      TVirtualStreamerInfo::SetStreamMemberWise(by_member);
      list<Item>(by_member ? "vector<Item> memberwise" : "vector<Item>", 0, 15000, 4, [&] { return item(); });
      list<TLorentzVector>(by_member ? "vector<TLorentzVector> memberwise" : "vector<TLorentzVector>", 0, 150000, 4, [&] { return vector(); });
    }
  }

  void objects() {
    TLorentzVector p4;
    for (int split : {0, 99})
      object(split ? "TLorentzVector split" : "TLorentzVector", split, split ? 700000 : 7000, p4, [&](auto &v) { v = vector(); });
    for (int split : {0, 99}) clones(split);
    for (int split : {0, 99}) {
      Event event{};
      float dynamic[4] = {1, 2, 3, 4};
      event.dynamic = dynamic;
      object(split ? "Event split" : "Event", split, split ? 300000 : 6000, event, [&](Event &e) {
        e.id = dice.below(1000); e.title = dice.text(10).c_str(); e.bits = dice.below(256);
        e.weights.clear(); e.named.clear(); e.numbers.clear();
        for (int k = dice.below(4); k > 0; --k) { e.weights[k] = dice.value(); e.named[dice.text(5)] = k; e.numbers.insert(dice.below(50)); }
        e.pair = {dice.below(10), dice.value()}; e.three = {dice.value(), 1, 2};
        e.pairs.assign(dice.below(4), e.pair); e.narrow = few<Double32_t>(4); e.truncated = dice.value() / 10;
        e.n = dice.below(5); dynamic[0] = dice.value();
      });
    }
  }
  void clones(int split) {
    const char *name = split ? "TClonesArray split" : "TClonesArray";
    TTree tree(name, name);
    TClonesArray x("TLorentzVector");
    auto *at = &x;
    tree.Branch("x", &at, 32000, split);
    fill(tree, split ? 250000 : 15000, [&] { x.Clear(); for (int k = dice.below(5); k > 0; --k) new (x[x.GetEntriesFast()]) TLorentzVector(vector()); });
  }

public:
  explicit Writer(double scale) : scale(scale) {}
  void all() { leaves(); collections(); objects(); }
};

// `compression` as in TFile: algorithm * 100 + level. `scale` 1: as many entries as above.
void write(const char *path, int compression, double scale) {
  TFile file(path, "RECREATE", "", compression);
  Writer(scale).all();
}

}  // namespace kinds

#ifdef __ROOTCLING__
#pragma link C++ namespace kinds;
#pragma link C++ function kinds::write;
#pragma link C++ class kinds::Link+;
#pragma link C++ class kinds::Item+;
#pragma link C++ class kinds::Event+;
#pragma link C++ class std::vector<kinds::Link>+;
#pragma link C++ class std::vector<std::vector<kinds::Link>>+;
#pragma link C++ class std::vector<kinds::Item>+;
#pragma link C++ class std::vector<std::pair<int, float>>+;
#pragma link C++ class std::vector<std::vector<std::vector<int>>>+;
#pragma link C++ class std::vector<std::vector<std::string>>+;
#pragma link C++ class std::vector<TLorentzVector>+;
#pragma link C++ class std::map<int, float>+;
#pragma link C++ class std::map<std::string, double>+;
#endif
