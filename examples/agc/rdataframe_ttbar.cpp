// The tt̄ analysis in RDataFrame, as one would write it for speed: compiled functions with given
// types, one pass over each data set, no column that is not needed. Arithmetic is done in double, so
// that bins can be compared. rdataframe_ttbar.py compiles and calls it.
#include <Math/Vector4D.h>
#include <ROOT/RDFHelpers.hxx>
#include <ROOT/RDataFrame.hxx>
#include <ROOT/RVec.hxx>
#include <TH1D.h>

#include <correction.h>

#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

using ROOT::RVecB;
using ROOT::RVecD;
using ROOT::RVecF;
using ROOT::RVecI;
using Momentum = ROOT::Math::PxPyPzEVector;

struct DataSet {
  std::string process, variation;
  std::vector<std::string> files;
  double weight;
};

using Histograms = std::map<std::string, TH1D>;

int good_leptons(const RVecF &e_pt, const RVecF &e_eta, const RVecF &e_sip3d, const RVecI &e_id,
                 const RVecF &m_pt, const RVecF &m_eta, const RVecF &m_sip3d, const RVecB &m_id,
                 const RVecF &m_isolation) {
  int n = 0;
  for (std::size_t i = 0; i < e_pt.size(); ++i)
    n += e_pt[i] > 30 && std::abs(e_eta[i]) < 2.1 && e_sip3d[i] < 4 && e_id[i] == 4;
  for (std::size_t i = 0; i < m_pt.size(); ++i)
    n += m_pt[i] > 30 && std::abs(m_eta[i]) < 2.1 && m_sip3d[i] < 4 && m_id[i] &&
         m_isolation[i] < 0.15;
  return n;
}

RVecI good_jets(const RVecD &pt, const RVecF &eta, const RVecI &id) {
  RVecI good;
  for (std::size_t i = 0; i < pt.size(); ++i)
    if (pt[i] > 30 && std::abs(eta[i]) < 2.4 && (id[i] & 4)) good.push_back(i);
  return good;
}

int tags(const RVecI &good, const RVecF &btag) {
  int n = 0;
  for (int i : good) n += btag[i] > 0.5f;
  return n;
}

double trijet_mass(const RVecI &good, const RVecD &pt, const RVecF &eta, const RVecF &phi,
                   const RVecF &mass, const RVecF &btag) {
  std::vector<Momentum> jets;
  for (int i : good) jets.emplace_back(ROOT::Math::PtEtaPhiMVector(pt[i], eta[i], phi[i], mass[i]));
  double highest = -1;
  Momentum top;
  for (std::size_t i = 0; i < jets.size(); ++i)
    for (std::size_t j = i + 1; j < jets.size(); ++j)
      for (std::size_t k = j + 1; k < jets.size(); ++k) {
        if (btag[good[i]] <= 0.5f && btag[good[j]] <= 0.5f && btag[good[k]] <= 0.5f) continue;
        const Momentum sum = jets[i] + jets[j] + jets[k];
        if (sum.Pt() > highest) {
          highest = sum.Pt();
          top = sum;
        }
      }
  return top.M();
}

std::vector<std::string> btag_variations() {
  std::vector<std::string> names;
  for (int i = 0; i < 4; ++i)
    for (const char *way : {"_up", "_down"}) names.push_back("btag_var_" + std::to_string(i) + way);
  return names;
}

// ROOT makes no dictionaries of what is in here.
namespace {

// Books the histograms of one data set, which are filled when one of all data sets is asked for.
class Analysis {
public:
  explicit Analysis(const std::string &corrections)
      : resolution_(correction::CorrectionSet::from_file(corrections)->at("jet_resolution")) {}
  virtual ~Analysis() = default;

  void book(const DataSet &set) {
    ROOT::RDF::RNode df = ROOT::RDataFrame("Events", set.files);
    const double weight = set.weight;
    const bool nominal = set.variation == "nominal";
    df = df.Define("leptons", good_leptons,
                   {"Electron_pt", "Electron_eta", "Electron_sip3d", "Electron_cutBased", "Muon_pt",
                    "Muon_eta", "Muon_sip3d", "Muon_tightId", "Muon_pfRelIso04_all"})
             .Filter([](int n) { return n == 1; }, {"leptons"})
             .Define("weight", [weight] { return weight; })
             .Define("pt", [](const RVecF &pt) { return RVecD(pt.begin(), pt.end()); }, {"Jet_pt"});
    if (nominal) {
      const auto shifted = [sf = resolution_](const RVecD &pt, const RVecF &phi) {
        RVecD blurred(pt.size());
        for (std::size_t i = 0; i < pt.size(); ++i)
          blurred[i] = pt[i] * (1 + 0.05 * sf->evaluate({pt[i], double(phi[i])}));
        return ROOT::RVec<RVecD>{pt * 1.03, blurred};
      };
      df = df.Vary("pt", shifted, {"pt", "Jet_phi"}, {"pt_scale_up", "pt_res_up"}, "pt");
    }
    df = df.Define("good", good_jets, {"pt", "Jet_eta", "Jet_jetId"})
             .Filter([](const RVecI &good) { return good.size() >= 4; }, {"good"})
             .Define("tags", tags, {"good", "Jet_btagCSVV2"});
    if (nominal) {
      const auto weights = [](double weight, const RVecD &pt, const RVecI &good) {
        RVecD all;
        for (int i = 0; i < 4; ++i) {
          const double shift = pt[good[i]] * 0.075 / 50;
          all.push_back(weight * (1.0 + shift));
          all.push_back(weight * (1.0 - shift));
        }
        return all;
      };
      df = df.Vary("weight", weights, {"weight", "pt", "good"}, btag_variations(), "weight");
    }
    if (nominal && set.process == "wjets") {
      const auto scaled = [](double w) { return RVecD{w * 1.03, w * 0.97}; };
      df = df.Vary("weight", scaled, {"weight"}, {"scale_var_up", "scale_var_down"}, "weight");
    }
    observe(set, df);
  }

  Histograms run() {
    ROOT::RDF::RunGraphs(handles_);
    Histograms found;
    for (const auto &collect : collect_) collect(found);
    return found;
  }

protected:
  // Books what is filled of the events that are selected.
  virtual void observe(const DataSet &set, ROOT::RDF::RNode df) {
    const auto ht = [](const RVecD &pt, const RVecI &good) {
      double sum = 0;
      for (int i : good) sum += pt[i];
      return sum;
    };
    const ROOT::RDF::TH1DModel model("", "", 25, 50, 550);
    book(set, "4j1b",
         df.Filter([](int n) { return n == 1; }, {"tags"})
             .Define("ht", ht, {"pt", "good"})
             .Histo1D<double, double>(model, "ht", "weight"));
    book(set, "4j2b",
         df.Filter([](int n) { return n >= 2; }, {"tags"})
             .Define("mass", trijet_mass,
                     {"good", "pt", "Jet_eta", "Jet_phi", "Jet_mass", "Jet_btagCSVV2"})
             .Histo1D<double, double>(model, "mass", "weight"));
  }

  void book(const DataSet &set, const std::string &region, ROOT::RDF::RResultPtr<TH1D> result) {
    const std::string name = region + "_" + set.process;
    handles_.emplace_back(result);
    if (set.variation != "nominal") {
      collect_.push_back([own = name + "_" + set.variation, result](Histograms &found) mutable {
        found.emplace(own, *result);
      });
      return;
    }
    auto all = ROOT::RDF::Experimental::VariationsFor(result);
    collect_.push_back([name, all](Histograms &found) mutable {
      for (const auto &key : all.GetKeys()) {
        const auto tag = key.substr(key.find(':') + 1);
        found.emplace(key == "nominal" ? name : name + "_" + tag, all[key]);
      }
    });
  }

private:
  correction::Correction::Ref resolution_;
  std::vector<ROOT::RDF::RResultHandle> handles_;
  std::vector<std::function<void(Histograms &)>> collect_;
};

} // namespace

Histograms histograms(const std::vector<DataSet> &sets, const std::string &corrections) {
  Analysis analysis(corrections);
  for (const auto &set : sets) analysis.book(set);
  return analysis.run();
}
