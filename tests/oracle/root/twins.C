// Trees with several split objects of one class, for test_twins.py, which has the same values by formula.
#include <Math/Vector4D.h>
#include <TFile.h>
#include <TTimeStamp.h>
#include <TTree.h>
#include <TVector3.h>

#include <string>
#include <vector>

namespace twins {

struct Base { int b; float same; };
struct Inner { float q; int r; };
struct Deep { Inner in; };
struct Track { float pt; int id; };
struct Event : public Base {
  float val3;
  float same;
  Inner in;
  Deep deep;
  std::vector<float> v;
  std::vector<Track> tracks;
  TVector3 place;
  ROOT::Math::PtEtaPhiMVector p4;
};

void fill(Event &event, int i, int of) {
  event.b = 100 * of + i;
  event.Base::same = -1000 * of - i;
  event.val3 = 10 * of + i;
  event.same = 1000 * of + i;
  event.in = {float(of + i), of * i};
  event.deep.in = {float(-of - i), -of * i};
  event.v.assign(i % 3, of);
  event.tracks.clear();
  for (int k = 0; k < (i + of) % 4; ++k) event.tracks.push_back({float(10 * of + k), k});
  event.place.SetXYZ(of, i, 2 * of + i);
  event.p4.SetCoordinates(10 * of + i, of, 1, 0.1);
}

void write(const char *path) {
  TFile file(path, "RECREATE");
  auto *vectors = new TTree("vectors", "three four-vectors and two of three parts");
  ROOT::Math::PtEtaPhiMVector mu[3];
  TVector3 place[2];
  vectors->Branch("mu1", &mu[0]);
  vectors->Branch("mu2", &mu[1]);
  vectors->Branch("mu3.", &mu[2]);
  vectors->Branch("place1", &place[0]);
  vectors->Branch("place2.", &place[1]);
  auto *events = new TTree("events", "three objects with members of many kinds");
  Event event[3];
  events->Branch("e1", &event[0]);
  events->Branch("e2", &event[1]);
  events->Branch("e3.", &event[2]);
  auto *alone = new TTree("alone", "objects of which there is one each");
  TTimeStamp time;
  alone->Branch("data", &event[0]);
  alone->Branch("ts", &time);
  auto *named = new TTree("named", "two branches of one name, and one in an object");
  float x[2];
  Inner q;
  float own;
  named->Branch("x", &x[0], "x/F");
  named->Branch("x", &x[1], "x/F");
  named->Branch("obj", &q);
  named->Branch("q", &own, "q/F");
  for (int i = 0; i < 5; ++i) {
    for (int k = 0; k < 3; ++k) {
      mu[k].SetCoordinates(10 * (k + 1) + i, 0.5 * k, 0.1 * i, 0.1);
      fill(event[k], i, k + 1);
    }
    for (int k = 0; k < 2; ++k) place[k].SetXYZ(k + 1, i, 2 * k + 3);
    time.SetSec(1000 + i);
    time.SetNanoSec(i);
    x[0] = i;
    x[1] = 10 + i;
    q = {float(100 + i), i};
    own = -i;
    for (auto *tree : {vectors, events, alone, named}) tree->Fill();
  }
  file.Write();
}

}  // namespace twins

#ifdef __CLING__
#pragma link C++ namespace twins;
#pragma link C++ class twins::Base+;
#pragma link C++ class twins::Inner+;
#pragma link C++ class twins::Deep+;
#pragma link C++ class twins::Track+;
#pragma link C++ class std::vector<twins::Track>+;
#pragma link C++ class twins::Event+;
#pragma link C++ function twins::write;
#endif
