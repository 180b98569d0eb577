"""What `python -m bench scale` asks treemill and RDataFrame: queries named `PART:SIZE:ROUND`, each
of which has one answer, a number. The round makes expressions that were never compiled before:
users pay for first runs.
"""

import contextlib
import io
from functools import cache
from pathlib import Path
from typing import Any

from . import TREEMILL, TREEMILL_2, Rival

MODULE = "rivals.growth"
GROWTH_RIVALS = (
    Rival("grown-treemill", "treemill", MODULE, TREEMILL, variant="treemill"),
    Rival("grown-treemill-2", "treemill, 2 threads", MODULE, TREEMILL_2, 2, "treemill"),
    Rival("grown-rdf", "RDataFrame", MODULE, "RDataFrame", variant="rdf"),
    Rival("grown-rdf-2", "RDataFrame, 2 threads", MODULE, "RDataFrame, 2 threads", 2, "rdf"),
)
TREE, COLUMN, LISTS = "Events", "x", "X"
SOME = "y"
"""A column that every other file of a part lacks."""
FRIEND = "g"
"""What the names of a friend's files begin with."""
_DEFAULT = 50.0
_BINS = (100, 0.0, 100.0)
_PAIRS = (
    "auto p = ROOT::VecOps::Combinations(X, 2); return {0} * Sum(Take(X, p[0]) * Take(X, p[1]));"
)
_WRITERS = """
#include <ROOT/RNTupleModel.hxx>
#include <ROOT/RNTupleWriter.hxx>
#include <TFile.h>
#include <TTree.h>
namespace treemill_growth {
void tree(const char *path, long entries, long flush, int basket, long branches) {
  TFile file(path, "RECREATE", "", 101);
  TTree *tree = new TTree("Events", "");
  tree->SetAutoFlush(flush);
  float x = 0;
  tree->Branch("x", &x, "x/F", basket);
  for (long i = 1; i < branches; ++i) tree->Branch(Form("b%ld", i), &x, Form("b%ld/F", i), 1000);
  for (long i = 0; i < entries; ++i) { x = i % 100; tree->Fill(); }
  tree->Write();
}
void ntuple(const char *path, long entries) {
  auto model = ROOT::RNTupleModel::Create();
  auto x = model->MakeField<float>("x");
  auto writer = ROOT::RNTupleWriter::Recreate(std::move(model), "Events", path);
  for (long i = 0; i < entries; ++i) { *x = i % 100; writer->Fill(); writer->CommitCluster(); }
}
}
"""


@cache
def _names(folder: str, kind: str) -> list[str]:
    return sorted(map(str, Path(folder).glob(f"{kind}*.root")))


def _first(folder: str, count: int, kind: str = "f") -> list[str]:
    """The files whose names begin so, this many. To list a folder is no part of what is measured:
    it takes the same time for any number of them."""
    return _names(folder, kind)[:count]


class _Treemill:
    def __init__(self, threads: int) -> None:
        import treemill as tm

        self._tm = tm
        self._session = tm.connect(workers=threads, mode="threads")

    def run(self, query: str, path: str) -> list[float]:
        part, size, turn = query.split(":")
        return [float(getattr(self, part)(path, int(size), int(turn)))]

    def versions(self) -> dict[str, str]:
        return {"treemill": self._tm.__version__}

    def files(self, path: str, size: int, turn: int) -> Any:
        return self._sum([self._tm.dataset(_first(path, size), tree=TREE).hist(COLUMN, bins=_BINS)])

    nano_files = ntuple_files = files

    def datasets(self, path: str, size: int, turn: int) -> Any:
        files = {f"d{number}": [name] for number, name in enumerate(_first(path, size))}
        booked = self._tm.fileset(files, tree=TREE).hist(f"{COLUMN} + {turn / 1000}", bins=_BINS)
        self._session.run(booked, progress=False)
        return sum(each.values(flow=True).sum() for each in booked.value.values())

    def defaults(self, path: str, size: int, turn: int) -> Any:
        events = self._tm.dataset(_first(path, size), tree=TREE, missing={SOME: _DEFAULT})
        return self._sum([events.hist(SOME, bins=_BINS)])

    def friends(self, path: str, size: int, turn: int) -> Any:
        events = self._tm.dataset(_first(path, size), tree=TREE)
        friend = self._tm.dataset(_first(path, size, FRIEND), tree=TREE)
        return self._sum([events.add_friend(friend, alias="F").hist("F.z", bins=_BINS)])

    def histograms(self, path: str, size: int, turn: int) -> Any:
        events = self._tm.dataset(path, tree=TREE)
        return self._sum(
            [events.hist(f"{COLUMN} + {turn / 1000}", bins=_BINS) for _ in range(size)]
        )

    def variations(self, path: str, size: int, turn: int) -> Any:
        factors = {str(i): f"w * {1 + turn + i / 1000}" for i in range(size)}
        node = self._tm.dataset(path, tree=TREE).define("w", "x * 0.0 + 1.0").vary("w", factors)
        varied = self._session.run(node.hist(COLUMN, bins=_BINS, weight="w"), progress=False)
        return sum(each.values(flow=True).sum() for each in varied.values())

    def steps(self, path: str, size: int, turn: int) -> Any:
        node = self._tm.dataset(path, tree=TREE).define("v0", COLUMN)
        for step in range(1, size // 2 + 1):
            node = node.define(f"v{step}", f"v{step - 1} + {turn + 2}").filter(f"v{step} > -1")
        return self._session.run(node.sum(f"v{size // 2}"), progress=False)

    def baskets(self, path: str, size: int, turn: int) -> Any:
        return self._sum([self._tm.dataset(path, tree=TREE).hist(COLUMN, bins=_BINS)])

    clusters = ntuple_clusters = baskets

    def rows(self, path: str, size: int, turn: int) -> Any:
        events = self._tm.dataset(path, tree=TREE)
        return len(self._session.run(events.take(COLUMN), progress=False))

    def pairs(self, path: str, size: int, turn: int) -> Any:
        events = self._tm.dataset(path, tree=TREE)
        text = f"{turn + 2} * sum(a * b for a, b in combinations({LISTS}, 2))"
        return self._session.run(events.sum(text), progress=False)

    def categories(self, path: str, size: int, turn: int) -> Any:
        import hist

        axis = hist.axis.StrCategory([], growth=True)
        return self._sum([self._tm.dataset(path, tree=TREE).hist("name", bins=axis)])

    def branches(self, path: str, size: int, turn: int) -> Any:
        told = io.StringIO()
        with contextlib.redirect_stdout(told):
            self._tm.dataset(path, tree=TREE).show("*")
        return told.getvalue().count("float32")

    def _sum(self, booked: list[Any]) -> Any:
        self._session.run(*booked, progress=False)
        return sum(each.value.values(flow=True).sum() for each in booked)


class _RDataFrame:
    def __init__(self, threads: int) -> None:
        import ROOT

        self._root = ROOT
        if threads > 1:
            ROOT.EnableImplicitMT(threads)

    def run(self, query: str, path: str) -> list[float]:
        part, size, turn = query.split(":")
        return [float(getattr(self, part)(path, int(size), int(turn)))]

    def versions(self) -> dict[str, str]:
        return {"ROOT": str(self._root.gROOT.GetVersion())}

    def files(self, path: str, size: int, turn: int) -> Any:
        return self._sum(self._root.RDataFrame(TREE, _first(path, size)), [COLUMN])

    nano_files = ntuple_files = files

    def defaults(self, path: str, size: int, turn: int) -> Any:
        events = self._root.RDataFrame(TREE, _first(path, size))
        return self._sum(events.DefaultValueFor(SOME, _DEFAULT), [SOME])

    def friends(self, path: str, size: int, turn: int) -> Any:
        chains = [self._root.TChain(TREE), self._root.TChain(TREE)]
        for chain, kind in zip(chains, ("f", FRIEND), strict=True):
            for name in _first(path, size, kind):
                chain.Add(name)
        chains[0].AddFriend(chains[1], "F")
        return self._sum(self._root.RDataFrame(chains[0]), ["F.z"])

    def histograms(self, path: str, size: int, turn: int) -> Any:
        events = self._root.RDataFrame(TREE, path).Define("y", f"{COLUMN} + {turn / 1000}")
        return self._sum(events, ["y"] * size)

    def variations(self, path: str, size: int, turn: int) -> Any:
        factors = ", ".join(f"w * {1 + turn + i / 1000}" for i in range(size))
        events = self._root.RDataFrame(TREE, path).Define("w", "x * 0.0 + 1.0")
        tags = [str(i) for i in range(size)]
        events = events.Vary("w", f"ROOT::RVecD{{{factors}}}", tags)
        nominal = events.Histo1D(("h", "", *_BINS), COLUMN, "w")
        varied = self._root.RDF.Experimental.VariationsFor(nominal)
        return sum(varied[key].Integral(0, _BINS[0] + 1) for key in varied.GetKeys())

    def steps(self, path: str, size: int, turn: int) -> Any:
        node = self._root.RDataFrame(TREE, path).Define("v0", f"double({COLUMN})")
        for step in range(1, size // 2 + 1):
            node = node.Define(f"v{step}", f"v{step - 1} + {turn + 2}").Filter(f"v{step} > -1")
        return node.Sum(f"v{size // 2}").GetValue()

    def baskets(self, path: str, size: int, turn: int) -> Any:
        return self._sum(self._root.RDataFrame(TREE, path), [COLUMN])

    clusters = ntuple_clusters = baskets

    def rows(self, path: str, size: int, turn: int) -> Any:
        return len(self._root.RDataFrame(TREE, path).AsNumpy([COLUMN])[COLUMN])

    def pairs(self, path: str, size: int, turn: int) -> Any:
        events = self._root.RDataFrame(TREE, path)
        return events.Define("p", _PAIRS.format(turn + 2)).Sum("p").GetValue()

    def write(self, path: str, size: int, turn: int) -> Any:
        """Makes the file of the part that its folder is named after."""
        if not hasattr(self._root, "treemill_growth"):
            self._root.gInterpreter.Declare(_WRITERS)
        make, kind = self._root.treemill_growth, Path(path).parent.name
        if kind == "ntuple_clusters":
            make.ntuple(path, size)
        else:
            entries, flush, basket, branches = {
                "baskets": (7 * size, 0, 100, 1),  # seven fit into ROOT's smallest basket
                "clusters": (size, 1, 32000, 1),
                "branches": (10, 0, 1000, size),
            }[kind]
            make.tree(path, entries, flush, basket, branches)
        return 0

    def _sum(self, events: Any, columns: list[str]) -> Any:
        booked = [events.Histo1D((f"h{i}", "", *_BINS), name) for i, name in enumerate(columns)]
        return sum(each.Integral(0, _BINS[0] + 1) for each in booked)


def make(threads: int, variant: str) -> _Treemill | _RDataFrame:
    """`variant`: treemill or rdf."""
    return _Treemill(threads) if variant == "treemill" else _RDataFrame(threads)
