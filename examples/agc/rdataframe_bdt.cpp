// The boosted-tree version in RDataFrame: which jets come from which quark. Selection and variations
// are those of rdataframe_ttbar.cpp. Trees are walked as TMVA's RBDT does it, as arrays of nodes;
// packages of ROOT for pip have no TMVA. rdataframe_bdt.py compiles and calls it.
#include "rdataframe_ttbar.cpp"

#include <Math/VectorUtil.h>

#include <algorithm>
#include <array>
#include <tuple>

constexpr std::size_t LEADING = 6, FEATURES = 20;

// Nodes of all trees: which feature is compared with what, where to go on (-1: a leaf, whose value
// it is). Sums and features are in single precision, as XGBoost has them.
struct Forest {
  std::vector<int> roots, feature, left, right;
  std::vector<float> value;
  float base;

  float operator()(const std::array<double, FEATURES> &row) const {
    std::array<float, FEATURES> features;
    std::copy(row.begin(), row.end(), features.begin());
    float sum = base;
    for (int node : roots) {
      while (left[node] >= 0)
        node = features[feature[node]] < value[node] ? left[node] : right[node];
      sum += value[node];
    }
    return 1 / (std::exp(-sum) + 1 + 1e-16f);
  }
};

struct Axis {
  std::string name;
  int bins;
  double low, high;
};

// The features of the best assignment.
struct Assignment {
  Forest even, odd;

  RVecD operator()(ULong64_t event, const RVecI &good, const RVecD &pt, const RVecF &eta,
                   const RVecF &phi, const RVecF &mass, const RVecF &btag, const RVecF &qgl,
                   const Momentum &lepton) const {
    using ROOT::Math::VectorUtil::DeltaR;
    // Each model judges events of the other half than those that it was trained on.
    const Forest &forest = event % 2 == 0 ? odd : even;
    const std::size_t n = std::min(good.size(), LEADING);
    std::array<Momentum, LEADING> jet;
    std::array<double, LEADING> to_lepton, mass_lepton;
    std::array<std::array<double, LEADING>, LEADING> apart;
    for (std::size_t i = 0; i < n; ++i) {
      const int at = good[i];
      jet[i] = ROOT::Math::PtEtaPhiMVector(pt[at], eta[at], phi[at], mass[at]);
      to_lepton[i] = DeltaR(lepton, jet[i]);
      mass_lepton[i] = (lepton + jet[i]).M();
      for (std::size_t j = 0; j < i; ++j) apart[i][j] = apart[j][i] = DeltaR(jet[j], jet[i]);
    }
    std::array<double, FEATURES> row, best{};
    float highest = -1;
    const auto of_jets = [&](std::size_t from, std::array<std::size_t, 4> jets) {
      for (std::size_t k = 0; k < 4; ++k) {
        const int at = good[jets[k]];
        row[from + k] = pt[at];
        row[from + 4 + k] = btag[at];
        row[from + 8 + k] = qgl[at];
      }
    };
    for (std::size_t a = 0; a < n; ++a)
      for (std::size_t b = a + 1; b < n; ++b) {
        const Momentum w = jet[a] + jet[b];
        const double mass_w = w.M();
        for (std::size_t c = 0; c < n; ++c) {
          if (c == a || c == b) continue;
          const Momentum top = w + jet[c];
          const double mass_top = top.M(), pt_top = top.Pt();
          for (std::size_t d = 0; d < n; ++d) {
            if (d == a || d == b || d == c) continue;
            row = {to_lepton[d],   apart[a][b], apart[a][c], apart[b][c],
                   mass_lepton[d], mass_w,      mass_top,    pt_top};
            of_jets(8, {a, b, c, d});
            if (const float score = forest(row); score > highest) {
              highest = score;
              best = row;
            }
          }
        }
      }
    return RVecD(best.begin(), best.end());
  }
};

Momentum lepton(const RVecF &e_pt, const RVecF &e_eta, const RVecF &e_phi, const RVecF &e_mass,
                const RVecF &e_sip3d, const RVecI &e_id, const RVecF &m_pt, const RVecF &m_eta,
                const RVecF &m_phi, const RVecF &m_mass, const RVecF &m_sip3d, const RVecB &m_id,
                const RVecF &m_isolation) {
  using ROOT::Math::PtEtaPhiMVector;
  for (std::size_t i = 0; i < e_pt.size(); ++i)
    if (e_pt[i] > 30 && std::abs(e_eta[i]) < 2.1 && e_sip3d[i] < 4 && e_id[i] == 4)
      return Momentum(PtEtaPhiMVector(e_pt[i], e_eta[i], e_phi[i], e_mass[i]));
  for (std::size_t i = 0; i < m_pt.size(); ++i)
    if (m_pt[i] > 30 && std::abs(m_eta[i]) < 2.1 && m_sip3d[i] < 4 && m_id[i] &&
        m_isolation[i] < 0.15)
      return Momentum(PtEtaPhiMVector(m_pt[i], m_eta[i], m_phi[i], m_mass[i]));
  return {};
}

namespace {

class TreesAnalysis : public Analysis {
public:
  TreesAnalysis(const std::string &corrections, const Assignment &assignment,
                const std::vector<Axis> &axes)
      : Analysis(corrections), assignment_(assignment), axes_(axes) {}

protected:
  void observe(const DataSet &set, ROOT::RDF::RNode df) override {
    df = df.Filter([](int n) { return n >= 2; }, {"tags"})
             .Define("lepton", lepton,
                     {"Electron_pt", "Electron_eta", "Electron_phi", "Electron_mass",
                      "Electron_sip3d", "Electron_cutBased", "Muon_pt", "Muon_eta", "Muon_phi",
                      "Muon_mass", "Muon_sip3d", "Muon_tightId", "Muon_pfRelIso04_all"})
             .Define("best", assignment_,
                     {"event", "good", "pt", "Jet_eta", "Jet_phi", "Jet_mass", "Jet_btagCSVV2",
                      "Jet_qgl", "lepton"});
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      const auto &axis = axes_[i];
      const ROOT::RDF::TH1DModel model("", "", axis.bins, axis.low, axis.high);
      book(set, axis.name,
           df.Define(axis.name, [i](const RVecD &best) { return best[i]; }, {"best"})
               .Histo1D<double, double>(model, axis.name, "weight"));
    }
  }

private:
  Assignment assignment_;
  std::vector<Axis> axes_;
};

} // namespace

Histograms histograms_of_trees(const std::vector<DataSet> &sets, const std::string &corrections,
                               const Assignment &assignment, const std::vector<Axis> &axes) {
  TreesAnalysis analysis(corrections, assignment, axes);
  for (const auto &set : sets) analysis.book(set);
  return analysis.run();
}
