// Classes that have grown a member: compiled with GENERATION defined as 1 and as 2, so that files of both can be merged.
#include <TFile.h>
#include <TTree.h>

#include <string>
#include <vector>

namespace versions {

class Thing {
 public:
  int a = 0;
#if GENERATION > 1
  float b = 0;
#endif
  Thing(int i = 0) : a(i) {
#if GENERATION > 1
    b = i / 2.f;
#endif
  }
  virtual ~Thing() {}
  ClassDef(Thing, GENERATION)
};

// Without a version of its own: its checksum says which it is.
struct Plain {
  int a = 0;
#if GENERATION > 1
  double c = 3;
#endif
};

class Derived : public Thing {
 public:
  short d = 0;
  Derived(int i = 0) : Thing(i), d(i) {}
  ClassDef(Derived, 1)
};

struct Holder {
  int before;
  Thing thing;
  Plain plain;
  std::vector<Thing> things;
  std::vector<Plain> plains;
  Derived derived;
  Derived *pointer = nullptr;
  int after;
};

void write(TFile &file, const char *name, int entries) {
  Holder holder; auto *pholder = &holder;
  std::vector<Thing> things; auto *pthings = &things;
  TTree tree(name, "one version");
  tree.Branch("holder.", &pholder, 1000, 0);
  tree.Branch("things", &pthings, 1000, 0);
  for (int i = 0; i < entries; ++i) {
    holder.before = i; holder.after = -i;
    holder.thing = Thing(i); holder.plain.a = -i; holder.derived = Derived(i);
    delete holder.pointer; holder.pointer = i % 3 ? new Derived(2 * i) : nullptr;
    things.assign(i % 4, Thing(i)); holder.things = things;
    holder.plains.assign(i % 3, holder.plain);
    tree.Fill();
  }
  file.cd();
  tree.Write();
}

void write(const char *path, const char *name, int entries) {
  TFile file(path, "RECREATE");
  write(file, name, entries);
  write(file, "both", entries);
}

}  // namespace versions

#ifdef __ROOTCLING__
#pragma link C++ namespace versions;
#pragma link C++ function versions::write(const char *, const char *, int);
#pragma link C++ class versions::Thing+;
#pragma link C++ class versions::Plain+;
#pragma link C++ class versions::Derived+;
#pragma link C++ class versions::Holder+;
#pragma link C++ class std::vector<versions::Thing>+;
#pragma link C++ class std::vector<versions::Plain>+;
#endif
