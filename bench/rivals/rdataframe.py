"""ROOT's RDataFrame, written in two ways: expressions as strings with ROOT's own settings, as most
users have it; and C++ functions compiled by cling at its highest level of optimisation. A fresh
dataframe each time; what ROOT compiles once for all is compiled in the uncounted first run.
"""

from collections.abc import Callable
from typing import Any

import ROOT

from ..queries import BINS, HIGH, LOW, TREE

# One function a query. Types are given, so nothing is compiled when they run. (cling's linker fails
# on a global object here, hence `model()`.)
_COMPILED = f"""
#pragma cling optimize(3)
#include <ROOT/RDataFrame.hxx>
#include <ROOT/RVec.hxx>
#include <TH1D.h>
#include <string>
#include <vector>
namespace treemill_bench {{
using ROOT::RVecF;
ROOT::RDF::TH1DModel model() {{ return {{"h", "", {BINS}, {LOW}, {HIGH}}}; }}
template <typename Result> std::vector<double> bins(Result &result) {{
  const double *first = result->GetArray();
  return std::vector<double>(first, first + result->GetNcells());
}}
std::vector<double> q1(const std::string &path) {{
  ROOT::RDataFrame df("{TREE}", path);
  auto result = df.Histo1D<float>(model(), "MET_pt");
  return bins(result);
}}
std::vector<double> q2(const std::string &path) {{
  ROOT::RDataFrame df("{TREE}", path);
  auto result = df.Histo1D<RVecF>(model(), "Jet_pt");
  return bins(result);
}}
std::vector<double> q3(const std::string &path) {{
  ROOT::RDataFrame df("{TREE}", path);
  auto central = [](const RVecF &pt, const RVecF &eta) {{ return RVecF(pt[abs(eta) < 1]); }};
  auto result = df.Define("x", central, {{"Jet_pt", "Jet_eta"}}).Histo1D<RVecF>(model(), "x");
  return bins(result);
}}
std::vector<double> q4(const std::string &path) {{
  ROOT::RDataFrame df("{TREE}", path);
  auto two = [](const RVecF &pt) {{
    int n = 0;
    for (float x : pt) n += x > 40;
    return n >= 2;
  }};
  auto result = df.Filter(two, {{"Jet_pt"}}).Histo1D<float>(model(), "MET_pt");
  return bins(result);
}}
}}
"""

_MODEL = ("h", "", BINS, LOW, HIGH)
_STRINGS: dict[str, Callable[[Any], Any]] = {
    "q1": lambda df: df.Histo1D(_MODEL, "MET_pt"),
    "q2": lambda df: df.Histo1D(_MODEL, "Jet_pt"),
    "q3": lambda df: df.Define("x", "Jet_pt[abs(Jet_eta) < 1]").Histo1D(_MODEL, "x"),
    "q4": lambda df: df.Filter("Sum(Jet_pt > 40) >= 2").Histo1D(_MODEL, "MET_pt"),
}


class _RDataFrame:
    def __init__(self, threads: int, compiled: bool) -> None:
        if threads > 1:
            ROOT.EnableImplicitMT(threads)
        self._compiled = compiled
        if compiled and not ROOT.gInterpreter.Declare(_COMPILED):
            raise RuntimeError("ROOT could not compile the benchmark's functions")

    def run(self, query: str, path: str) -> list[float]:
        if self._compiled:
            return list(getattr(ROOT.treemill_bench, query)(path))
        histogram = _STRINGS[query](ROOT.RDataFrame(TREE, path))
        return [histogram.GetBinContent(i) for i in range(BINS + 2)]

    def sweep(self, paths: list[str], branches: list[str]) -> float:
        df = ROOT.RDataFrame(TREE, paths)
        booked = [df.Histo1D((name, "", BINS, LOW, HIGH), name) for name in branches]
        return float(sum(h.Integral(0, BINS + 1) for h in booked))

    def versions(self) -> dict[str, str]:
        return {"ROOT": ROOT.gROOT.GetVersion()}


def make(threads: int, variant: str) -> _RDataFrame:
    """RDataFrame; `variant` is `strings` or `compiled`."""
    return _RDataFrame(threads, variant == "compiled")
