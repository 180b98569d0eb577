"""A file with as many branches as a NanoAOD has, of NanoAOD's names, types and titles, written by
ROOT itself: `python -m bench.nanoaod FILE`. Its columns hold little; its metadata are the point.
"""

import sys
from collections.abc import Iterator

BRANCHES = 1800
EVENTS, CLUSTER = 20_000, 1_000

_P4 = ("pt/F", "eta/F", "phi/F", "mass/F")
_ID = ("cutBased/I", "charge/I", "pdgId/I", "jetIdx/S", "genPartIdx/S", "genPartFlav/b")
_ISOLATION = ("pfRelIso03_all/F", "pfRelIso03_chg/F", "miniPFRelIso_all/F", "isPFcand/O")
_IMPACT = ("dxy/F", "dxyErr/F", "dz/F", "dzErr/F", "ip3d/F", "sip3d/F")
_TAGS = tuple(f"btag{name}/F" for name in ("DeepFlavB", "DeepFlavCvB", "PNetB", "RobustParTAK4B"))
_LEPTON = (*_P4, *_ID, *_ISOLATION, *_IMPACT)

_COLLECTIONS: dict[str, tuple[str, ...]] = {
    "Electron": (*_LEPTON, "mvaIso/F", "mvaIso_WP90/O", "lostHits/b", "vidNestedWPBitmap/I"),
    "Muon": (*_LEPTON, "tightId/O", "mediumId/O", "nStations/b", "tkIsoId/b", "ptErr/F"),
    "Tau": (*_P4, *_ID, *_IMPACT[:3], "decayMode/b", "rawIso/F", "idDeepTau2018v2p5VSjet/b"),
    "Photon": (*_P4, *_ID, "r9/F", "sieie/F", "hoe/F", "electronVeto/O", "pixelSeed/O"),
    "Jet": (*_P4, *_TAGS, "area/F", "jetId/I", "nConstituents/b", "hadronFlavour/I", "rawFactor/F"),
    "FatJet": (*_P4, *_TAGS, "msoftdrop/F", "tau1/F", "tau2/F", "tau3/F", "subJetIdx1/S"),
    "SubJet": (*_P4, *_TAGS, "tau1/F", "tau2/F", "n2b1/F"),
    "GenPart": (*_P4, "pdgId/I", "status/I", "statusFlags/I", "genPartIdxMother/S"),
    "GenJet": (*_P4, "hadronFlavour/b", "partonFlavour/S"),
    "TrigObj": (*_P4[:3], "id/I", "filterBits/I", "l1charge/I", "l1pt/F"),
    "SV": (*_P4, "chi2/F", "dlen/F", "dlenSig/F", "ndof/F", "ntracks/b", "pAngle/F"),
    "IsoTrack": (*_P4[:3], *_IMPACT[:3], "isFromLostTrack/O", "pdgId/I"),
}
_FLAT = (
    *("run/i", "luminosityBlock/i", "event/l", "genWeight/F", "Pileup_nTrueInt/F"),
    *(
        f"{met}_{what}/F"
        for met in ("MET", "PuppiMET", "RawMET", "GenMET")
        for what in ("pt", "phi")
    ),
    *(f"PV_{what}/F" for what in ("x", "y", "z", "chi2", "ndof", "score")),
)
_OBJECTS = (
    "Ele",
    "IsoMu",
    "DoubleMu",
    "PFJet",
    "AK8PFJet",
    "PFHT",
    "PFMET",
    "Photon",
    "Tau",
    "BTagMu",
)


def branches() -> Iterator[tuple[str, str, str]]:
    """Name, leaf list and title of each; lists after the branch that counts them."""
    made = 0
    for leaf in _FLAT:
        name = leaf.split("/")[0]
        yield name, leaf, f"{name.replace('_', ' ')} of the event"
        made += 1
    for collection, members in _COLLECTIONS.items():
        yield f"n{collection}", f"n{collection}/I", f"slimmed {collection} after basic selection"
        for member in members:
            what, code = member.split("/")
            name = f"{collection}_{what}"
            yield (
                name,
                f"{name}[n{collection}]/{code}",
                f"{what} of {collection}, see NanoAOD's doc",
            )
        made += 1 + len(members)
    for i in range(BRANCHES - made):
        kind, first, second = ("L1" if i % 3 == 2 else "HLT"), i % 10, i // 10 % 10
        name = (
            f"{kind}_{_OBJECTS[first]}{20 + i}_{_OBJECTS[second]}{i % 37}_eta2p1_WPTight_v{i % 19}"
        )
        yield name, f"{name}/O", "Trigger/flag bit (process: HLT)"


_SOURCE = """
#include <TFile.h>
#include <TTree.h>
#include <string>
#include <tuple>
#include <vector>
void treemill_nanoaod(const char *path, const std::vector<std::string> &names,
    const std::vector<std::string> &leaves, const std::vector<std::string> &titles,
    int events, int cluster) {
  TFile file(path, "RECREATE", "", 505);
  TTree tree("Events", "Events");
  tree.SetAutoFlush(cluster);
  std::vector<std::vector<char>> memory(names.size(), std::vector<char>(64));
  std::vector<int *> counts;
  for (size_t k = 0; k < names.size(); ++k) {
    auto *branch = tree.Branch(names[k].c_str(), memory[k].data(), leaves[k].c_str(), 4000);
    branch->SetTitle(titles[k].c_str());
    const auto counter = "[" + names[k] + "]";
    if (k + 1 < names.size() && leaves[k + 1].find(counter) != std::string::npos)
      counts.push_back(reinterpret_cast<int *>(memory[k].data()));
  }
  for (int i = 0; i < events; ++i) {
    for (size_t k = 0; k < counts.size(); ++k) *counts[k] = (i + int(k)) % 4;
    tree.Fill();
  }
  tree.Write();
}
"""


def write(path: str) -> None:
    """Write it; ROOT is met in this process."""
    import ROOT

    if not ROOT.gInterpreter.Declare(_SOURCE):
        raise SystemExit("ROOT cannot compile the program that writes")
    texts = (ROOT.std.vector["std::string"](column) for column in zip(*branches(), strict=True))
    ROOT.treemill_nanoaod(path, *texts, EVENTS, CLUSTER)


if __name__ == "__main__":
    write(sys.argv[1])
