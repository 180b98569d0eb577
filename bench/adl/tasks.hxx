// The eight tasks in RDataFrame, written as one would write them for speed: compiled functions with
// given types, ROOT's own vectors, one pass, no column that is not needed. Arithmetic is done in
// double, so that bins can be compared one by one with those of others.
//
// Each function gives all bins of its histograms, one after the other, flow bins included.
#pragma once
#include <Math/Vector4D.h>
#include <ROOT/RDataFrame.hxx>
#include <ROOT/RVec.hxx>
#include <TH1D.h>

#include <cmath>
#include <string>
#include <vector>

namespace adl {

using Floats = ROOT::RVecF;
using Ints = ROOT::RVecI;
using Momentum = ROOT::Math::PxPyPzEVector;
using Bins = std::vector<double>;

inline ROOT::RDF::TH1DModel model(double high, double low = 0) { return {"h", "", 128, low, high}; }

template <typename Result> void append(Bins &to, Result &result) {
  const double *first = result->GetArray();
  to.insert(to.end(), first, first + result->GetNcells());
}

template <typename... Results> Bins bins(Results... results) {
  Bins all;
  (append(all, results), ...);
  return all;
}

inline Momentum momentum(double pt, double eta, double phi, double mass) {
  return Momentum(ROOT::Math::PtEtaPhiMVector(pt, eta, phi, mass));
}

inline std::vector<Momentum> momenta(const Floats &pt, const Floats &eta, const Floats &phi,
                                     const Floats &mass) {
  std::vector<Momentum> all;
  all.reserve(pt.size());
  for (std::size_t i = 0; i < pt.size(); ++i)
    all.push_back(momentum(pt[i], eta[i], phi[i], mass[i]));
  return all;
}

inline Bins adl1(const std::string &path) {
  ROOT::RDataFrame df("Events", path);
  return bins(df.Histo1D<float>(model(256), "MET_pt"));
}

inline Bins adl2(const std::string &path) {
  ROOT::RDataFrame df("Events", path);
  return bins(df.Histo1D<Floats>(model(256), "Jet_pt"));
}

inline Bins adl3(const std::string &path) {
  ROOT::RDataFrame df("Events", path);
  auto central = [](const Floats &pt, const Floats &eta) { return Floats(pt[abs(eta) < 1]); };
  return bins(
      df.Define("x", central, {"Jet_pt", "Jet_eta"}).Histo1D<Floats>(model(256), "x"));
}

inline Bins adl4(const std::string &path) {
  ROOT::RDataFrame df("Events", path);
  auto two = [](const Floats &pt) {
    int n = 0;
    for (float x : pt) n += x > 40;
    return n >= 2;
  };
  return bins(df.Filter(two, {"Jet_pt"}).Histo1D<float>(model(256), "MET_pt"));
}

inline Bins adl5(const std::string &path) {
  ROOT::RDataFrame df("Events", path);
  auto z = [](const Floats &pt, const Floats &eta, const Floats &phi, const Floats &mass,
              const Ints &charge) {
    const auto n = pt.size();
    if (n < 2) return false;
    const auto p = momenta(pt, eta, phi, mass);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = i + 1; j < n; ++j) {
        if (charge[i] == charge[j]) continue;
        const double m = (p[i] + p[j]).M();
        if (m > 60 && m < 120) return true;
      }
    return false;
  };
  return bins(df.Filter(z, {"Muon_pt", "Muon_eta", "Muon_phi", "Muon_mass", "Muon_charge"})
                  .Histo1D<float>(model(256), "MET_pt"));
}

struct Trijet {
  double pt;
  float btag;
};

inline Bins adl6(const std::string &path) {
  ROOT::RDataFrame df("Events", path);
  auto three = [](const Floats &pt) { return pt.size() >= 3; };
  auto best = [](const Floats &pt, const Floats &eta, const Floats &phi, const Floats &mass,
                 const Floats &btag) {
    const auto p = momenta(pt, eta, phi, mass);
    const auto n = p.size();
    double closest = HUGE_VAL;
    std::size_t a = 0, b = 0, c = 0;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = i + 1; j < n; ++j) {
        const auto two = p[i] + p[j];
        for (std::size_t k = j + 1; k < n; ++k) {
          const double distance = std::abs((two + p[k]).M() - 172.5);
          if (distance < closest) closest = distance, a = i, b = j, c = k;
        }
      }
    const auto sum = p[a] + p[b] + p[c];
    return Trijet{sum.Pt(), std::max({btag[a], btag[b], btag[c]})};
  };
  auto found =
      df.Filter(three, {"Jet_pt"})
          .Define("trijet", best, {"Jet_pt", "Jet_eta", "Jet_phi", "Jet_mass", "Jet_btag"})
          .Define("trijet_pt", [](const Trijet &t) { return t.pt; }, {"trijet"})
          .Define("trijet_btag", [](const Trijet &t) { return t.btag; }, {"trijet"});
  auto pt = found.Histo1D<double>(model(256), "trijet_pt");
  auto btag = found.Histo1D<float>(model(1), "trijet_btag");
  return bins(pt, btag);
}

inline bool near(double eta, double phi, const Floats &pts, const Floats &etas,
                 const Floats &phis) {
  for (std::size_t i = 0; i < pts.size(); ++i)
    if (pts[i] > 10 && ROOT::VecOps::DeltaR<double>(eta, etas[i], phi, phis[i]) < 0.4) return true;
  return false;
}

inline Bins adl7(const std::string &path) {
  ROOT::RDataFrame df("Events", path);
  auto ht = [](const Floats &pt, const Floats &eta, const Floats &phi, const Floats &e_pt,
               const Floats &e_eta, const Floats &e_phi, const Floats &m_pt, const Floats &m_eta,
               const Floats &m_phi) {
    double sum = 0;
    for (std::size_t i = 0; i < pt.size(); ++i)
      if (pt[i] > 30 && !near(eta[i], phi[i], e_pt, e_eta, e_phi) &&
          !near(eta[i], phi[i], m_pt, m_eta, m_phi))
        sum += pt[i];
    return sum;
  };
  return bins(df.Define("ht", ht,
                        {"Jet_pt", "Jet_eta", "Jet_phi", "Electron_pt", "Electron_eta",
                         "Electron_phi", "Muon_pt", "Muon_eta", "Muon_phi"})
                  .Histo1D<double>(model(512), "ht"));
}

// Electrons first, then muons, as one list: what is asked of a pair and of the lepton beside it.
struct Pair {
  double distance = HUGE_VAL;
  int first = -1, second = -1;
};

inline void closest(Pair &best, int offset, const Floats &pt, const Floats &eta, const Floats &phi,
                    const Floats &mass, const Ints &charge) {
  const int n = pt.size();
  if (n < 2) return;
  const auto p = momenta(pt, eta, phi, mass);
  for (int i = 0; i < n; ++i)
    for (int j = i + 1; j < n; ++j) {
      if (charge[i] == charge[j]) continue;
      const double distance = std::abs((p[i] + p[j]).M() - 91.2);
      if (distance < best.distance) best = {distance, offset + i, offset + j};
    }
}

inline Bins adl8(const std::string &path) {
  ROOT::RDataFrame df("Events", path);
  auto three = [](const Floats &e, const Floats &m) { return e.size() + m.size() >= 3; };
  auto pair = [](const Floats &e_pt, const Floats &e_eta, const Floats &e_phi,
                 const Floats &e_mass, const Ints &e_charge, const Floats &m_pt,
                 const Floats &m_eta, const Floats &m_phi, const Floats &m_mass,
                 const Ints &m_charge) {
    Pair best;
    closest(best, 0, e_pt, e_eta, e_phi, e_mass, e_charge);
    closest(best, e_pt.size(), m_pt, m_eta, m_phi, m_mass, m_charge);
    return best;
  };
  auto found = [](const Pair &best) { return best.first >= 0; };
  auto transverse = [](const Pair &best, const Floats &e_pt, const Floats &e_phi,
                       const Floats &m_pt, const Floats &m_phi, float met, float met_phi) {
    const int electrons = e_pt.size(), all = electrons + m_pt.size();
    double pt = -1, phi = 0;
    for (int i = 0; i < all; ++i) {
      if (i == best.first || i == best.second) continue;
      const double next = i < electrons ? e_pt[i] : m_pt[i - electrons];
      if (next > pt) pt = next, phi = i < electrons ? e_phi[i] : m_phi[i - electrons];
    }
    return std::sqrt(2 * pt * met * (1 - std::cos(phi - met_phi)));
  };
  return bins(
      df.Filter(three, {"Electron_pt", "Muon_pt"})
          .Define("pair", pair,
                  {"Electron_pt", "Electron_eta", "Electron_phi", "Electron_mass",
                   "Electron_charge", "Muon_pt", "Muon_eta", "Muon_phi", "Muon_mass",
                   "Muon_charge"})
          .Filter(found, {"pair"})
          .Define("mt", transverse,
                  {"pair", "Electron_pt", "Electron_phi", "Muon_pt", "Muon_phi", "MET_pt",
                   "MET_phi"})
          .Histo1D<double>(model(256), "mt"));
}

} // namespace adl
