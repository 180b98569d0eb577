// Trees written by ROOT itself, of everything that a branch of numbers and strings can be.
// Each function writes one file; `write_trees.py` calls them. Values come from the entry's number
// and differ from entry to entry, extremes and not-a-number included.
#include <TBranch.h>
#include <TFile.h>
#include <TFree.h>
#include <TLeaf.h>
#include <TList.h>
#include <TTree.h>
#include <ROOT/TIOFeatures.hxx>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace oracle {

template <typename T> T value(Long64_t i) {
  if constexpr (std::is_same_v<T, bool>) return i % 3 == 1;
  if (i % 7 == 5) return std::numeric_limits<T>::max();
  if (i % 7 == 6) return std::numeric_limits<T>::lowest();
  if constexpr (std::is_floating_point_v<T>) {
    if (i % 11 == 3) return std::numeric_limits<T>::quiet_NaN();
    if (i % 11 == 4) return -std::numeric_limits<T>::infinity();
    if (i % 11 == 7) return -T(0);
    return T(std::sin(double(i)) * 1e3);
  }
  return T(i * 2654435761LL);
}

// In a range, for Float16_t and Double32_t, with both ends.
inline double ranged(Long64_t i, double low, double high) {
  return i % 5 == 0 ? low : i % 5 == 1 ? high : low + (high - low) * (0.5 + 0.5 * std::sin(double(i)));
}

template <typename T> struct Scalar {
  T x;
  Scalar(TTree &tree, const char *name, const char *code) {
    tree.Branch(name, &x, (std::string(name) + "/" + code).c_str());
  }
  void set(Long64_t i) { x = value<T>(i); }
};

template <typename T> struct Arrays {
  T one[3], two[2][3], three[2][2][2];
  T counted[8], pairs[8][3];
  Arrays(TTree &tree, const std::string &name, const std::string &code) {
    auto add = [&](void *at, const std::string &what, const std::string &size) {
      tree.Branch((name + what).c_str(), at, (name + what + size + "/" + code).c_str());
    };
    add(one, "_1", "[3]");
    add(two, "_2", "[2][3]");
    add(three, "_3", "[2][2][2]");
    add(counted, "_n", "[n]");
    add(pairs, "_n3", "[n][3]");
  }
  void set(Long64_t i, int n) {
    for (int k = 0; k < 3; ++k) one[k] = value<T>(i + k);
    for (int k = 0; k < 6; ++k) two[k / 3][k % 3] = value<T>(i * 2 + k);
    for (int k = 0; k < 8; ++k) three[k / 4][k / 2 % 2][k % 2] = value<T>(i * 3 + k);
    for (int k = 0; k < n; ++k) counted[k] = value<T>(i * 5 + k);
    for (int k = 0; k < 3 * n; ++k) pairs[k / 3][k % 3] = value<T>(i * 7 + k);
  }
};

#define FOR_ALL_TYPES(DO) \
  DO(Char_t, B) DO(UChar_t, b) DO(Short_t, S) DO(UShort_t, s) DO(Int_t, I) DO(UInt_t, i) \
  DO(Long64_t, L) DO(ULong64_t, l) DO(Long_t, G) DO(ULong_t, g) DO(Float_t, F) DO(Double_t, D) \
  DO(Bool_t, O)

void fill_leaves(TTree &tree, Long64_t entries) {
  int n;
  tree.Branch("n", &n, "n/I");
#define SCALAR(T, code) Scalar<T> s_##code(tree, "s_" #code, #code); \
  Arrays<T> a_##code(tree, "a_" #code, #code);
  FOR_ALL_TYPES(SCALAR)
  char text[400];
  tree.Branch("text", text, "text/C");
  for (Long64_t i = 0; i < entries; ++i) {
    n = i % 9 == 4 ? 0 : int(i * i % 9);
#define SET(T, code) s_##code.set(i); a_##code.set(i, n);
    FOR_ALL_TYPES(SET)
    // Lengths around 255, where the length's own length changes.
    const int length = i % 10 == 9 ? 250 + int(i / 10 % 10) : int(i % 10);
    for (int k = 0; k < length; ++k) text[k] = char('a' + (i + k) % 26);
    text[length] = 0;
    tree.Fill();
  }
}

void leaves(const char *path) {
  TFile file(path, "RECREATE");
  TTree tree("t", "every leaf type");
  fill_leaves(tree, 500);
  tree.Write();
}

void empty(const char *path) {
  TFile file(path, "RECREATE");
  TTree none("none", "no branches");
  none.Write();
  TTree tree("t", "no entries");
  fill_leaves(tree, 0);
  tree.Write();
}

void leaf_lists(const char *path) {
  TFile file(path, "RECREATE");
  TTree tree("t", "several leaves in one branch");
  struct { Int_t a; Float_t b; Double_t c; } mixed;
  struct { Double_t x; Int_t i; Short_t s; UChar_t b; Bool_t o; } falling;
  struct { Float_t x, y, z; } same;
  struct { Double_t v[3]; Int_t k[2]; } arrays;
  tree.Branch("mixed", &mixed.a, "a/I:b/F");
  tree.Branch("falling", &falling, "x/D:i/I:s/S:b/b:o/O");
  tree.Branch("same", &same, "x:y:z");
  tree.Branch("arrays", &arrays, "v[3]/D:k[2]/I");
  for (Long64_t i = 0; i < 300; ++i) {
    mixed = {value<Int_t>(i), value<Float_t>(i), 0};
    falling = {value<double>(i), value<Int_t>(i), value<Short_t>(i), value<UChar_t>(i), i % 2 == 0};
    same = {value<float>(i), value<float>(i + 1), value<float>(i + 2)};
    arrays = {{value<double>(i), value<double>(i + 1), value<double>(i + 2)}, {int(i), int(-i)}};
    tree.Fill();
  }
  tree.Write();
}

// Leaves 'f' and 'd' are Float16_t and Double32_t.
void truncated(const char *path) {
  TFile file(path, "RECREATE");
  TTree tree("t", "Float16_t and Double32_t with ranges and bits");
  const std::vector<std::string> forms = {"", "[0,0,16]", "[0,0,6]", "[0,0,10]", "[-10,10,12]", "[-10,10]",
    "[0,100,30]", "[0,twopi,16]", "[-pi,pi,20]", "[-1000,1000,2]", "[0,5,31]", "[0,3,7]"};
  const std::vector<std::pair<double, double>> ranges = {{-1e3, 1e3}, {-1e3, 1e3}, {-1e3, 1e3}, {-1e3, 1e3},
    {-10, 10}, {-10, 10}, {0, 100}, {0, 2 * M_PI}, {-M_PI, M_PI}, {-1000, 1000}, {0, 5}, {0, 3}};
  int n;
  std::vector<Float16_t> f(forms.size());
  std::vector<Double32_t> d(forms.size());
  std::vector<std::array<Float16_t, 8>> fn(forms.size());
  std::vector<std::array<Double32_t, 8>> dn(forms.size());
  tree.Branch("n", &n, "n/I");
  for (size_t k = 0; k < forms.size(); ++k) {
    auto add = [&](void *at, const std::string &name, const std::string &size, char code) {
      tree.Branch(name.c_str(), at, (name + size + "/" + code + forms[k]).c_str());
    };
    const auto number = std::to_string(k);
    add(&f[k], "f" + number, "", 'f');
    add(&d[k], "d" + number, "", 'd');
    add(fn[k].data(), "fn" + number, "[n]", 'f');
    add(dn[k].data(), "dn" + number, "[n]", 'd');
    add(fn[k].data(), "fa" + number, "[3]", 'f');
    add(dn[k].data(), "da" + number, "[3]", 'd');
  }
  for (Long64_t i = 0; i < 200; ++i) {
    n = int(i % 8);
    for (size_t k = 0; k < forms.size(); ++k) {
      const auto [low, high] = ranges[k];
      f[k] = Float16_t(ranged(i, low, high));
      d[k] = ranged(i, low, high);
      for (int m = 0; m < 8; ++m) {
        fn[k][m] = Float16_t(ranged(i + m, low, high));
        dn[k][m] = ranged(i + m, low, high);
      }
    }
    tree.Fill();
  }
  tree.Write();
}

#define FOR_ALL_ITEMS(DO) \
  DO(bool) DO(char) DO(short) DO(int) DO(long) DO(Long64_t) DO(float) DO(double) DO(UChar_t) \
  DO(UShort_t) DO(UInt_t) DO(ULong_t) DO(ULong64_t)

void vectors(const char *path) {
  TFile file(path, "RECREATE");
  TTree tree("t", "std::vector of numbers, std::string");
#define MEMBER(T) std::vector<T> v_##T; tree.Branch("v_" #T, &v_##T);
  FOR_ALL_ITEMS(MEMBER)
  std::string text;
  std::vector<std::string> texts;
  std::vector<std::vector<float>> nested;
  tree.Branch("text", &text);
  tree.Branch("texts", &texts);
  tree.Branch("nested", &nested);
  for (Long64_t i = 0; i < 300; ++i) {
    const int n = int(i * i % 6);
#define PUSH(T) v_##T.clear(); for (int k = 0; k < n; ++k) v_##T.push_back(value<T>(i * 3 + k));
    FOR_ALL_ITEMS(PUSH)
    text = std::string(i % 50 == 49 ? 300 : size_t(i % 13), char('A' + i % 26));
    texts.assign(n, text);
    nested.assign(n, v_float);
    tree.Fill();
  }
  tree.Write();
}

// One file a codec. `sizes` has a basket of more than 16 MB, which is compressed in several blocks.
void codec(const char *path, int algorithm, int level) {
  TFile file(path, "RECREATE", "", algorithm * 100 + level);
  TTree tree("t", "compressed");
  Int_t n;
  Double_t noise, flat = 1.5;
  Float_t items[6];
  tree.Branch("n", &n, "n/I");
  tree.Branch("noise", &noise, "noise/D");
  tree.Branch("flat", &flat, "flat/D");
  tree.Branch("items", items, "items[n]/F");
  ULong64_t state = 88172645463325252ULL;
  for (Long64_t i = 0; i < 20000; ++i) {
    state ^= state << 13; state ^= state >> 7; state ^= state << 17;
    n = int(state % 7);
    noise = double(state);
    for (int k = 0; k < n; ++k) items[k] = float((state >> k) % 1000);
    tree.Fill();
  }
  tree.Write();
}

void blocks(const char *path, int algorithm, int level) {
  TFile file(path, "RECREATE", "", algorithm * 100 + level);
  TTree tree("t", "baskets of several compressed blocks");
  Long64_t x;
  tree.SetAutoFlush(0);
  tree.Branch("x", &x, "x/L", 40000000);
  for (x = 0; x < 2500000; ++x) tree.Fill();
  tree.Write();
}

void baskets(const char *path) {
  TFile file(path, "RECREATE");
  const int sizes[] = {128, 1000, 32000, 1000000};
  const Long64_t flushes[] = {0, 1, 37, 1000, -2000, -30000000};
  for (int size : sizes) for (Long64_t flush : flushes) {
    const auto name = "b" + std::to_string(size) + (flush < 0 ? "_bytes" : "_entries")
      + std::to_string(std::abs(flush));
    TTree tree(name.c_str(), "basket sizes and clusters");
    tree.SetAutoFlush(flush);
    Int_t n; Double_t x[10]; Long64_t i;
    tree.Branch("i", &i, "i/L", size);
    tree.Branch("n", &n, "n/I", size);
    tree.Branch("x", x, "x[n]/D", size);
    std::vector<int> v; std::string s;
    tree.Branch("v", &v, size);
    tree.Branch("s", &s, size);
    for (i = 0; i < 700; ++i) {
      n = int(i % 100 > 90 ? 0 : i * i % 10);
      for (int k = 0; k < n; ++k) x[k] = value<double>(i + k);
      v.assign(n, int(i));
      s.assign(n, 'x');
      tree.Fill();
    }
    tree.Write();
  }
}

// Offsets are not stored but made from the counter (TIOFeatures, ROOT >= 6.12).
void generated_offsets(const char *path) {
  TFile file(path, "RECREATE");
  TTree tree("t", "no stored offsets");
  ROOT::TIOFeatures features;
  features.Set("kGenerateOffsetMap");
  tree.SetIOFeatures(features);
  Int_t n; Float_t x[10]; Short_t y[10][2];
  tree.Branch("n", &n, "n/I", 2000);
  tree.Branch("x", x, "x[n]/F", 2000);
  tree.Branch("y", y, "y[n][2]/S", 2000);
  for (Long64_t i = 0; i < 3000; ++i) {
    n = int(i * i % 10);
    for (int k = 0; k < n; ++k) { x[k] = float(i + k); y[k][0] = Short_t(i); y[k][1] = Short_t(k); }
    tree.Fill();
  }
  tree.Write();
}

// Baskets that were never flushed lie in the tree's own record.
void embedded(const char *path) {
  TFile file(path, "RECREATE");
  for (Long64_t entries : {1, 10, 3000}) {
    auto tree = std::make_unique<TTree>(("t" + std::to_string(entries)).c_str(), "unflushed", 99, nullptr);
    tree->SetDirectory(&file);
    tree->SetAutoFlush(0);
    Long64_t i; Int_t n; Float_t x[5]; std::vector<double> v; std::string s;
    tree->Branch("i", &i, "i/L", 4000);
    tree->Branch("n", &n, "n/I", 4000);
    tree->Branch("x", x, "x[n]/F", 4000);
    tree->Branch("v", &v, 4000);
    tree->Branch("s", &s, 4000);
    for (i = 0; i < entries; ++i) {
      n = int(i % 6);
      for (int k = 0; k < n; ++k) x[k] = float(i * k);
      v.assign(n, double(i));
      s = std::to_string(i);
      tree->Fill();
    }
    file.WriteTObject(tree.get());  // Unlike TTree::Write, this flushes nothing.
    tree->SetDirectory(nullptr);
  }
}

struct Point { float x, y; };
struct Event : public Point {
  int id;
  double position[3];
  Double32_t narrow;  //[0,10,12]
  bool good;
  std::string name;
  std::vector<float> values;
  Point origin;
  std::vector<Point> points;
  int count;
  float *dynamic;  //[count]
};

void objects(const char *path) {
  TFile file(path, "RECREATE");
  for (int split : {0, 1, 99}) {
    TTree tree(("split" + std::to_string(split)).c_str(), "a class, split more or less");
    Event event; auto *at = &event;
    float dynamic[4];
    event.dynamic = dynamic;
    tree.Branch("event", "oracle::Event", &at, 32000, split);
    tree.Branch("top.", "oracle::Event", &at, 32000, split);
    for (Long64_t i = 0; i < 100; ++i) {
      event.x = float(i); event.y = -float(i); event.id = int(i);
      for (int k = 0; k < 3; ++k) event.position[k] = value<double>(i + k);
      event.narrow = double(i % 11); event.good = i % 2;
      event.name = std::string(i % 7, 'n');
      event.values.assign(i % 5, float(i));
      event.origin = {1, float(i)};
      event.points.assign(i % 4, Point{float(i), 2});
      event.count = i % 4;
      for (int k = 0; k < event.count; ++k) dynamic[k] = float(i * k);
      tree.Fill();
    }
    tree.Write();
  }
}

void directories(const char *path) {
  TFile file(path, "RECREATE");
  int x;
  auto add = [&](const char *name, int entries) {
    TTree tree(name, name);
    tree.Branch("x", &x, "x/I");
    for (x = 0; x < entries; ++x) tree.Fill();
    tree.SetAlias("twice", "2 * x");
    tree.Write();
  };
  add("t", 3);
  add("t", 5);  // A second cycle.
  for (int d = 0; d < 20; ++d) {
    auto *folder = file.mkdir(("d" + std::to_string(d)).c_str());
    folder->cd();
    add("t", d);
    folder->mkdir("inner")->cd();
    for (int k = 0; k < 5; ++k) add(("t" + std::to_string(k)).c_str(), k);
  }
}

// The tree lies beyond 2 GB: keys and directories have 64-bit offsets. The file is sparse.
void far(const char *path) {
  TFile file(path, "RECREATE");
  const Long64_t end = 3000000000LL;
  auto *free = static_cast<TFree *>(file.GetListOfFree()->Last());
  free->SetFirst(end);
  free->SetLast(end + 2000000000LL);
  file.SetEND(end);
  TTree tree("t", "beyond 2 GB");
  fill_leaves(tree, 200);
  tree.Write();
  file.mkdir("folder")->cd();
  TTree inner("inner", "beyond 2 GB");
  fill_leaves(inner, 20);
  inner.Write();
}

}  // namespace oracle
