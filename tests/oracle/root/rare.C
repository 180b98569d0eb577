// Members that few files have, of which much is said by nothing but the data, that test_rare.py knows by formula.
#include <TClonesArray.h>
#include <TFile.h>
#include <TList.h>
#include <TNamed.h>
#include <TObjArray.h>
#include <TTree.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace rare {

class Hit : public TObject {
 public:
  int channel = 0;
  float charge = 0;
  Hit(int i = 0) : channel(i), charge(i / 4.f) {}
  ClassDef(Hit, 2)
};

class Special : public Hit {
 public:
  double extra = 0;
  Special(int i = 0) : Hit(i), extra(i / 8.) {}
  ClassDef(Special, 3)
};

// Arrays within the items of arrays, down to one of its own class, which is always empty.
class Inner : public TObject {
 public:
  int number = 0;
  TClonesArray hits;
  TClonesArray inners;
  Inner(int i = 0) : number(i), hits("rare::Hit"), inners("rare::Inner") {
    for (int k = 0; k < i % 3; ++k) new (hits[k]) Hit(i + k);
  }
  ClassDef(Inner, 1)
};

struct Owner {
  int before;
  TClonesArray *first = new TClonesArray("rare::Hit");
  TClonesArray *second = new TClonesArray("rare::Special");
  TClonesArray *late = nullptr;
  TClonesArray inners = TClonesArray("rare::Inner");
  int after;
};

enum Colour { kRed, kGreen = 7 };
enum class Small : unsigned char { a, b = 200 };

struct Enums {
  int before;
  Colour colour;
  std::vector<Colour> colours;
  std::vector<Small> smalls;
  int after;
};

struct Texts {
  int before;
  const char *text = nullptr;
  int after;
};

struct Pointers {
  int before;
  Hit *base = nullptr;
  int after;
};

// Of the same version as Special, so that one could be taken for the other.
class Other : public Hit {
 public:
  double extra = 0;
  Other(int i = 0) : Hit(i), extra(i / 16.) {}
  ClassDef(Other, 3)
};

// Which class a place in an entry refers to is not certain.
struct Both {
  int before;
  Hit *special = nullptr;
  Hit *other = nullptr;
  Hit *again = nullptr;
  int after;
};

struct Lists {
  int before;
  TObjArray *pointed = new TObjArray;
  TObjArray array;
  int after;
};

inline void fill(Owner &o, int i) {
  o.before = i; o.after = -i;
  o.first->Clear(); o.second->Clear(); o.inners.Delete();
  if (i == 30) o.late = new TClonesArray("rare::Hit");
  if (o.late) o.late->Clear();
  for (int k = 0; k < i % 4; ++k) {
    new ((*o.first)[k]) Hit(i + k); new ((*o.second)[k]) Special(i - k); new (o.inners[k]) Inner(i + k);
    if (o.late) new ((*o.late)[k]) Hit(k);
  }
}

inline void fill(Enums &e, int i) {
  e.before = i; e.after = -i;
  e.colour = i % 2 ? kGreen : kRed;
  e.colours.assign(i % 4, kGreen);
  e.smalls.assign(i % 3, Small::b);
}

inline void fill(Texts &t, int i) {
  static const std::string texts[] = {"", "text", std::string(300, 't')};
  t.before = i; t.after = -i;
  t.text = i % 4 == 3 ? nullptr : texts[i % 4].c_str();
}

inline void fill(Pointers &p, int i) {
  p.before = i; p.after = -i;
  delete p.base;
  p.base = i % 3 ? new Special(i) : nullptr;
}

inline void fill(Both &b, int i) {
  b.before = i; b.after = -i;
  delete b.special; delete b.other; delete b.again;
  b.special = new Special(i); b.other = new Other(i); b.again = new Other(i);
}

inline void fill(TObjArray &a, int i) {
  a.Delete();
  for (int k = 0; k < i % 4; ++k) a.Add(new Hit(i + k));
  if (i % 4 == 3) delete a.RemoveAt(1);
}

struct First { char text[12]; Int_t n; Float_t x; };

void add(TTree &tree, int split, int entries) {
  Owner owner; auto *powner = &owner;
  Enums enums; auto *penums = &enums;
  Texts texts; auto *ptexts = &texts;
  Pointers pointers; auto *ppointers = &pointers;
  Lists lists; auto *plists = &lists;
  TClonesArray owners("rare::Inner"); auto *powners = &owners;
  std::vector<Hit *> bases; auto *pbases = &bases;
  std::vector<Colour> colours; auto *pcolours = &colours;
  std::vector<Texts> many; auto *pmany = &many;
  TObjArray array; auto *parray = &array;
  TList list; auto *plist = &list;
  TObjArray mixed; auto *pmixed = &mixed;
  TObjArray late; auto *plate = &late;
  Both both; auto *pboth = &both;
  list.SetOwner();
  First first;
  const int size = 1000;
  tree.Branch("owner.", &powner, size, split);
  tree.Branch("enums.", &penums, size, split);
  tree.Branch("texts.", &ptexts, size, split);
  tree.Branch("pointers.", &ppointers, size, split);
  tree.Branch("lists.", &plists, size, split);
  tree.Branch("owners", &powners, size, split ? split - 1 : 0);
  tree.Branch("bases", &pbases, size, split);
  tree.Branch("colours", &pcolours, size, split);
  tree.Branch("many", &pmany, size, split);
  tree.Branch("array", "TObjArray", &parray, size, 0);
  tree.Branch("list", "TList", &plist, size, 0);
  tree.Branch("mixed", "TObjArray", &pmixed, size, 0);
  tree.Branch("late", "TObjArray", &plate, size, 0);
  tree.Branch("both.", &pboth, size, split);
  tree.Branch("first", &first, "text[12]/C:n/I:x/F", size);
  for (int i = 0; i < entries; ++i) {
    fill(owner, i); fill(enums, i); fill(texts, i); fill(pointers, i); fill(array, i); fill(both, i);
    list.Clear(); mixed.Delete(); late.Delete();
    for (int k = 0; k < i % 3; ++k) { list.Add(new Special(k), k ? "option" : ""); mixed.Add(k ? new Special(i) : new Hit(i)); }
    if (i + 1 == entries) late.Add(new Hit(i));
    lists.before = i; lists.after = -i; fill(*lists.pointed, i); fill(lists.array, i + 1);
    owners.Delete();
    for (auto *one : bases) delete one;
    bases.clear();
    colours = enums.colours;
    many.assign(i % 3, texts);
    for (int k = 0; k < i % 4; ++k) { new (owners[k]) Inner(i + k); bases.push_back(new Special(i + k)); }
    std::memset(&first, 0, sizeof first);
    std::memset(first.text, 'c', i % 5);
    first.n = i; first.x = i / 2.f;
    tree.Fill();
  }
  tree.ResetBranchAddresses();
}

void write(const char *path, int compression, int entries) {
  TFile file(path, "RECREATE", "", compression);
  for (int split : {0, 1, 99}) {
    TTree tree(("split" + std::to_string(split)).c_str(), "rare kinds", split);
    add(tree, split, entries);
    tree.Write();
  }
}

}  // namespace rare

#ifdef __ROOTCLING__
#pragma link C++ namespace rare;
#pragma link C++ function rare::write;
#pragma link C++ class rare::Hit+;
#pragma link C++ class rare::Special+;
#pragma link C++ class rare::Inner+;
#pragma link C++ class rare::Owner+;
#pragma link C++ enum rare::Colour;
#pragma link C++ enum class rare::Small;
#pragma link C++ class rare::Enums+;
#pragma link C++ class rare::Texts+;
#pragma link C++ class rare::Pointers+;
#pragma link C++ class rare::Other+;
#pragma link C++ class rare::Both+;
#pragma link C++ class rare::Lists+;
#pragma link C++ class std::vector<rare::Hit*>+;
#pragma link C++ class std::vector<rare::Colour>+;
#pragma link C++ class std::vector<rare::Small>+;
#pragma link C++ class std::vector<rare::Texts>+;
#endif
