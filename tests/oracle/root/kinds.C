// Every kind of branch that test_kinds.py knows by formula, for each split level, compression and flushing.
#include <TArrayC.h>
#include <TArrayD.h>
#include <TArrayF.h>
#include <TArrayI.h>
#include <TArrayL64.h>
#include <TArrayS.h>
#include <TBits.h>
#include <TClonesArray.h>
#include <TDatime.h>
#include <TFile.h>
#include <TFree.h>
#include <TH1.h>
#include <TH2.h>
#include <TList.h>
#include <TLorentzVector.h>
#include <TMatrixD.h>
#include <TMatrixDSym.h>
#include <TNtuple.h>
#include <TNtupleD.h>
#include <TObjString.h>
#include <TRefArray.h>
#include <TTree.h>
#include <TVector3.h>

#include <array>
#include <bitset>
#include <cstdio>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace every {

struct Small { int id; float weight; std::string text; };

class Hit : public TObject {
 public:
  int channel = 0;
  float charge = 0;
  Hit(int i = 0) : channel(i), charge(i / 4.f) {}
  ClassDef(Hit, 2)
};

struct Nothing { virtual ~Nothing() {} };

enum Colour { kRed, kGreen = 7 };

struct Arrays {
  TArrayC c; TArrayS s; TArrayI i; TArrayL64 l; TArrayF f; TArrayD d;
  Small three[3];
  int grid[2][3];
  std::array<int, 4> four;
  TBits bits;
  TDatime date;
  Colour colour;
};

struct Pointers {
  int before;
  Hit *maybe = nullptr;
  Hit *surely = new Hit;  //->
  std::vector<Hit *> hits;
  std::vector<Small *> smalls;
  int after;
};

// Pointers to anything are passed over; the rest is read.
struct Opaque : public Nothing {
  int before;
  TObject *any = nullptr;
  TList *list = nullptr;
  TH1F histogram;
  int after;
};

class Place : public TObject {
 public:
  double at[2] = {0, 0};
  std::string name;
  ClassDef(Place, 1)
};

class Track : public Place {
 public:
  TString label;
  std::vector<short> path;
  Hit last;
  Track(int i = 0) : label(i % 2 ? "odd" : "even"), path(i % 3, i), last(i) {
    at[0] = i; at[1] = -i; name = std::string(i % 4, 'n');
  }
  ClassDef(Track, 5)
};

// Arrays that are members: branches of their own at split level 1.
struct Owner : public Nothing {
  int before;
  TClonesArray *tracks = new TClonesArray("every::Track");
  TClonesArray *sure = new TClonesArray("every::Hit");  //->
  TClonesArray *none = nullptr;
  TClonesArray value = TClonesArray("every::Hit");
  int after;
};

struct Fit {
  int before;
  TMatrixD full;
  TMatrixDSym covariance;
  int after;
};

struct Ranges {
  Double32_t plain;
  Double32_t bits;  //[0,0,10]
  Double32_t range;  //[-10,10]
  Double32_t packed;  //[0,twopi,16]
  Float16_t half;
  Float16_t halfbits;  //[0,0,7]
  Float16_t halfrange;  //[-pi,pi,20]
  Double32_t array[3];  //[0,100,18]
  std::vector<Double32_t> d32;
  std::vector<Float16_t> f16;
};

struct Nested {
  std::vector<std::string> words;
  std::vector<std::vector<std::vector<int>>> cube;
  std::map<std::string, std::vector<Small>> smalls;
  std::unordered_map<int, std::set<int>> sets;
  std::multimap<int, std::string> texts;
  std::list<double> numbers;
  std::deque<short> shorts;
  std::unordered_set<std::string> unique;
  std::vector<std::pair<std::string, int>> pairs;
  std::vector<std::bitset<3>> masks;
  std::bitset<70> wide;
};

inline Small small(int i) { return {i, i / 2.f, std::string(i % 3, 's')}; }
inline std::vector<Small> smalls(int n) { std::vector<Small> v; for (int k = 0; k < n; ++k) v.push_back(small(k)); return v; }

template <typename T> void set(T &array, int i) { array.Set(i % 4); for (int k = 0; k < i % 4; ++k) array[k] = i + k; }

void fill(Arrays &a, int i) {
  set(a.c, i); set(a.s, i); set(a.i, i); set(a.l, i); set(a.f, i); set(a.d, i);
  for (int k = 0; k < 3; ++k) a.three[k] = small(i + k);
  for (int k = 0; k < 6; ++k) a.grid[k / 3][k % 3] = i * k;
  a.four = {i, 1, 2, -i};
  a.bits.ResetAllBits(); a.bits.SetBitNumber(i % 13); a.bits.Compact();
  a.date.Set(1995 + i, 5, 6, 7, 8, 9);
  a.colour = i % 2 ? kGreen : kRed;
}

void fill(Pointers &p, int i) {
  p.before = i; p.after = -i;
  delete p.maybe; p.maybe = i % 3 ? new Hit(i) : nullptr;
  p.surely->channel = 2 * i; p.surely->charge = i / 8.f;
  for (auto *hit : p.hits) delete hit;
  for (auto *one : p.smalls) delete one;
  p.hits.clear(); p.smalls.clear();
  for (int k = 0; k < i % 4; ++k) { p.hits.push_back(new Hit(i + k)); p.smalls.push_back(new Small(small(i + k))); }
}

void fill(Owner &o, int i) {
  o.before = i; o.after = -i;
  o.tracks->Delete(); o.sure->Clear(); o.value.Clear();
  for (int k = 0; k < i % 4; ++k) {
    new ((*o.tracks)[k]) Track(i + k); new ((*o.sure)[k]) Hit(i + k); new (o.value[k]) Hit(i - k);
  }
}

inline Fit fit(int i) {
  Fit f{i, TMatrixD(i % 3 + 1, i % 2 + 1), TMatrixDSym(i % 4), -i};
  for (int k = 0; k < f.full.GetNoElements(); ++k) f.full.GetMatrixArray()[k] = i + k;
  for (int r = 0; r < i % 4; ++r) for (int c = r; c < i % 4; ++c) f.covariance(r, c) = f.covariance(c, r) = i + 10 * r + c;
  return f;
}

void set(Fit &to, const Fit &from) {
  to.before = from.before; to.after = from.after;
  to.full.ResizeTo(from.full); to.full = from.full;
  to.covariance.ResizeTo(from.covariance); to.covariance = from.covariance;
}

void fill(Opaque &o, int i) {
  o.before = i; o.after = -i;
  delete o.any; o.any = i % 2 ? new TNamed("name", "title") : nullptr;
  if (!o.list) { o.list = new TList; o.list->SetOwner(); }
  o.list->Clear();
  for (int k = 0; k < i % 3; ++k) o.list->Add(new TObjString("text"));
  o.histogram.SetBins(3, 0, 3); o.histogram.Reset(); o.histogram.Fill(1.5, i);
}

inline double in(int i, double low, double high) { return low + (high - low) * ((i * 37) % 100) / 100.; }

void fill(Ranges &r, int i) {
  r.plain = in(i, -5, 5); r.bits = in(i, -5, 5); r.range = in(i, -10, 10); r.packed = in(i, 0, 6.28);
  r.half = Float16_t(in(i, -5, 5)); r.halfbits = Float16_t(in(i, -5, 5)); r.halfrange = Float16_t(in(i, -3, 3));
  for (int k = 0; k < 3; ++k) r.array[k] = in(i + k, 0, 100);
  r.d32.clear(); r.f16.clear();
  for (int k = 0; k < i % 4; ++k) { r.d32.push_back(in(i + k, -5, 5)); r.f16.push_back(Float16_t(in(i + k, -5, 5))); }
}

void fill(Nested &n, int i) {
  n = Nested();
  for (int k = 0; k < i % 4; ++k) {
    n.words.push_back(std::string(k, 'w'));
    n.cube.push_back(std::vector<std::vector<int>>(k, std::vector<int>(2, i)));
    n.smalls["k" + std::to_string(k)] = smalls(k);
    for (int m = 0; m < k; ++m) n.sets[0].insert(m * i);
    n.texts.insert({k / 2, std::to_string(k)});
    n.numbers.push_back(i / 4. + k);
    n.shorts.push_back(short(-k));
    n.pairs.push_back({std::to_string(i), k});
    n.masks.push_back(std::bitset<3>(k));
  }
  n.unique.insert(std::to_string(i));
  n.wide.set(i % 70); n.wide.set(69);
}

// By size, for ROOT puts no padding between the leaves of a list.
struct Letters {
  Long64_t L; ULong64_t l; Long_t G; ULong_t g; Double_t D; Double32_t d; Int_t I; UInt_t i; Float_t F; Float16_t f;
  Short_t S; UShort_t s; Char_t B; UChar_t b; Bool_t O; char C[9];
};

void add(TTree &tree, int split, int entries) {
  const int size = 2000;
  Arrays arrays; auto *parrays = &arrays;
  Pointers pointers; auto *ppointers = &pointers;
  Opaque opaque; auto *popaque = &opaque;
  Ranges ranges; auto *pranges = &ranges;
  Nested nested; auto *pnested = &nested;
  Nothing nothing; auto *pnothing = &nothing;
  std::vector<Nothing> nothings; auto *pnothings = &nothings;
  std::vector<Small> row; auto *prow = &row;
  std::vector<Hit *> hits; auto *phits = &hits;
  std::map<int, std::vector<std::string>> map; auto *pmap = &map;
  std::pair<int, std::string> pair; auto *ppair = &pair;
  std::bitset<20> bits; auto *pbits = &bits;
  std::string text; auto *ptext = &text;
  TArrayF array; auto *parray = &array;
  TRefArray refs; auto *prefs = &refs;
  TVector3 vector; auto *pvector = &vector;
  std::vector<TVector3> vectors; auto *pvectors = &vectors;
  TClonesArray clones("every::Hit"); auto *pclones = &clones;
  TClonesArray tracks("every::Track"); auto *ptracks = &tracks;
  TClonesArray one_by_one("every::Track"); auto *pone_by_one = &one_by_one;
  TClonesArray never("every::Hit"); auto *pnever = &never;
  one_by_one.BypassStreamer(kFALSE);
  TMatrixDSym *pcovariance = new TMatrixDSym;
  Fit one_fit; auto *pfit = &one_fit;
  std::vector<Fit> fits; auto *pfits = &fits;
  Owner owner; auto *powner = &owner;
  TClonesArray fourvectors("TLorentzVector"); auto *pfourvectors = &fourvectors;
  Letters letters;
  struct { Int_t n; Float_t x[8]; } counted;
  opaque.histogram.SetDirectory(nullptr);
  tree.Branch("arrays.", &parrays, size, split);
  tree.Branch("pointers.", &ppointers, size, split);
  tree.Branch("opaque.", &popaque, size, split);
  tree.Branch("ranges.", &pranges, size, split);
  tree.Branch("nested.", &pnested, size, split);
  tree.Branch("nothing", &pnothing, size, split);
  tree.Branch("nothings", &pnothings, size, split);
  tree.Branch("row", &prow, size, split);
  tree.Branch("hits", &phits, size, split);
  tree.Branch("map", &pmap, size, split);
  tree.Branch("pair", &ppair, size, split);
  tree.Branch("bits", &pbits, size, split);
  tree.Branch("text", &ptext, size, split);
  tree.Branch("array", "TArrayF", &parray, size, split);
  tree.Branch("refs", "TRefArray", &prefs, size, split);
  tree.Branch("vector", "TVector3", &pvector, size, split);
  tree.Branch("vectors", &pvectors, size, split);
  tree.Branch("clones", &pclones, size, split);
  tree.Branch("tracks", &ptracks, size, split);
  tree.Branch("one_by_one", &pone_by_one, size, 0);
  tree.Branch("never", &pnever, size, 0);
  tree.Branch("fit.", &pfit, size, split);
  tree.Branch("fits", &pfits, size, 0);
  tree.Branch("covariance", "TMatrixDSym", &pcovariance, size, split);
  tree.Branch("owner.", &powner, size, split);
  tree.Branch("fourvectors", &pfourvectors, size, split);
  tree.Branch("letters", &letters,
              "L/L:l/l:G/G:g/g:D/D:d/d[0,10,12]:I/I:i/i:F/F:f/f[0,10,12]:S/S:s/s:B/B:b/b:O/O:C[9]/C", size);
  tree.Branch("counted", &counted, "n/I:x[n]/F", size);
  for (int i = 0; i < entries; ++i) {
    fill(arrays, i); fill(pointers, i); fill(opaque, i); fill(ranges, i); fill(nested, i);
    nothings.resize(i % 4);
    row = smalls(i % 5);
    for (auto *hit : hits) delete hit;
    hits.clear(); map.clear(); vectors.clear(); clones.Clear(); fourvectors.Clear();
    tracks.Delete(); one_by_one.Delete(); fill(owner, i);
    set(one_fit, fit(i)); pcovariance->ResizeTo(one_fit.covariance); *pcovariance = one_fit.covariance;
    fits.clear(); fits.resize(i % 4);
    for (int k = 0; k < i % 4; ++k) set(fits[k], fit(i + k));
    for (int k = 0; k < i % 4; ++k) {
      hits.push_back(new Hit(k));
      map[k] = std::vector<std::string>(k, "m");
      vectors.push_back(TVector3(i, k, 1));
      new (clones[k]) Hit(i * k);
      new (tracks[k]) Track(i + k); new (one_by_one[k]) Track(i + k);
      new (fourvectors[k]) TLorentzVector(i, k, 2, 50);
    }
    pair = {i, std::string(i % 4, 'p')};
    bits = i;
    text = std::string(i % 30 == 29 ? 300 : i, 't');
    set(array, i);
    vector.SetXYZ(i, -i, 1);
    letters = {-i, ULong64_t(i), -2 * i, ULong_t(2 * i), i / 4., double(i % 11), -i, UInt_t(i), i / 2.f,
               Float16_t(i % 11), Short_t(-i), UShort_t(i), Char_t(-i), UChar_t(i), i % 2 == 1, ""};
    for (int k = 0; k < i % 9; ++k) letters.C[k] = 'c';
    letters.C[i % 9] = 0;
    counted.n = i % 8;
    for (int k = 0; k < counted.n; ++k) counted.x[k] = i + k;
    tree.Fill();
  }
  tree.ResetBranchAddresses();
}

// `flush`: as TTree::SetAutoFlush; `all`: whether the last baskets are flushed or stay in the tree's record.
void write(const char *path, int compression, int entries) {
  TFile file(path, "RECREATE", "", compression);
  for (int split : {0, 1, 99}) for (Long64_t flush : {0, 7, -3000}) for (bool all : {true, false}) {
    const std::string name = "split" + std::to_string(split) + (flush < 0 ? "_bytes" : "_entries")
      + std::to_string(std::abs(flush)) + (all ? "" : "_open");
    auto tree = std::make_unique<TTree>(name.c_str(), "every kind", split, nullptr);
    tree->SetDirectory(&file);
    tree->SetAutoFlush(flush);
    add(*tree, split, entries);
    if (all) tree->Write(); else file.WriteTObject(tree.get());
    tree->SetDirectory(nullptr);
  }
  TNtuple floats("floats", "TNtuple", "a:b:c");
  TNtupleD doubles("doubles", "TNtupleD", "a:b");
  for (int i = 0; i < entries; ++i) { floats.Fill(i, i / 2.f, -i); doubles.Fill(i / 3., -i); }
  floats.Write();
  doubles.Write();
}

// What ROOT itself reads of `Ranges`, whose values are not those that were written: a line an entry.
void ranges(const char *path, const char *out) {
  TFile file(path);
  auto *tree = file.Get<TTree>("split0_entries0");
  Ranges *r = nullptr;
  tree->SetBranchAddress("ranges.", &r);
  std::unique_ptr<FILE, decltype(&fclose)> to(fopen(out, "w"), fclose);
  auto put = [&](const char *name, const auto &values) {
    fprintf(to.get(), ", \"%s\": [", name);
    const char *comma = "";
    for (double value : values) { fprintf(to.get(), "%s%.17g", comma, value); comma = ", "; }
    fprintf(to.get(), "]");
  };
  for (Long64_t i = 0; i < tree->GetEntries(); ++i) {
    tree->GetEntry(i);
    fprintf(to.get(), "{\"plain\": %.17g, \"bits\": %.17g, \"range\": %.17g, \"packed\": %.17g, ",
            double(r->plain), double(r->bits), double(r->range), double(r->packed));
    fprintf(to.get(), "\"half\": %.17g, \"halfbits\": %.17g, \"halfrange\": %.17g", double(r->half),
            double(r->halfbits), double(r->halfrange));
    put("array", r->array); put("d32", r->d32); put("f16", r->f16);
    fprintf(to.get(), "}\n");
  }
}

// A branch of more than 2 GB, in baskets before and beyond 2 GB of a sparse file.
void big(const char *path, Long64_t entries, int items) {
  TFile file(path, "RECREATE", "", 404);
  TTree tree("t", "more than 2 GB");
  std::vector<Double_t> values(items);
  Long64_t number;
  tree.Branch("number", &number, "number/L");
  tree.Branch("values", values.data(), ("values[" + std::to_string(items) + "]/D").c_str(), 1000000);
  for (number = 0; number < entries; ++number) {
    if (number == entries / 2) {
      tree.FlushBaskets();
      const Long64_t end = 3000000000LL;
      auto *free = static_cast<TFree *>(file.GetListOfFree()->Last());
      free->SetFirst(end);
      free->SetLast(end + 2000000000LL);
      file.SetEND(end);
    }
    for (int k = 0; k < items; ++k) values[k] = double(number);
    tree.Fill();
  }
  tree.Write();
}

}  // namespace every

#ifdef __ROOTCLING__
#pragma link C++ namespace every;
#pragma link C++ function every::write;
#pragma link C++ function every::ranges;
#pragma link C++ function every::big;
#pragma link C++ class every::Small+;
#pragma link C++ class every::Hit+;
#pragma link C++ class every::Nothing+;
#pragma link C++ class every::Arrays+;
#pragma link C++ class every::Pointers+;
#pragma link C++ class every::Opaque+;
#pragma link C++ class every::Place+;
#pragma link C++ class every::Track+;
#pragma link C++ class every::Owner+;
#pragma link C++ class every::Fit+;
#pragma link C++ class std::vector<every::Fit>+;
#pragma link C++ class every::Ranges+;
#pragma link C++ class every::Nested+;
#pragma link C++ class std::vector<every::Small>+;
#pragma link C++ class std::vector<every::Small*>+;
#pragma link C++ class std::vector<every::Hit*>+;
#pragma link C++ class std::vector<every::Nothing>+;
#pragma link C++ class std::vector<TVector3>+;
#pragma link C++ class std::vector<std::bitset<3>>+;
#pragma link C++ class std::bitset<3>+;
#pragma link C++ class std::bitset<20>+;
#pragma link C++ class std::bitset<70>+;
#pragma link C++ class std::list<double>+;
#pragma link C++ class std::deque<short>+;
#pragma link C++ class std::unordered_set<std::string>+;
#pragma link C++ class std::unordered_map<int, std::set<int>>+;
#pragma link C++ class std::multimap<int, std::string>+;
#pragma link C++ class std::map<std::string, std::vector<every::Small>>+;
#pragma link C++ class std::map<int, std::vector<std::string>>+;
#pragma link C++ class std::pair<int, std::string>+;
#pragma link C++ class std::vector<std::pair<std::string, int>>+;
#pragma link C++ class std::vector<std::vector<std::vector<int>>>+;
#endif
