"""What users of TTree::Draw write, drawn by treemill and by ROOT: equal bins."""

import json
import re
from dataclasses import dataclass

import awkward as ak
import numpy as np
import pytest
import treemill as tm
import uproot
from treemill import QueryError
from treemill.language.clike import dimensions

from tests.raising import raises

PT = (50, 0.0, 200.0)
X = (64, -32.0, 96.0)
FEW = (12, -2.0, 10.0)
WHOLE = (221, -20.5, 200.5)


@dataclass(frozen=True)
class Drawn:
    """`expr` and `where` as ROOT has them. treemill gets the same words, but for `ours`: what it
    says to write instead. `weighted`: the selection is a number, whose sums are not exact."""

    expr: str
    where: str | None = None
    bins: tuple[tuple[int, float, float], ...] = (X,)
    ours: tuple[str, str | None] | None = None
    weighted: bool = False
    profile: bool = False


CASES = [
    Drawn("x"),
    Drawn("f", bins=(PT,)),
    Drawn("i", bins=((30, -15.0, 15.0),)),
    Drawn("big - 1099511627776", bins=((64, 0.0, 4096.0),)),
    Drawn("x*2 - y/3 + 1"),
    Drawn("i/7", bins=(FEW,)),
    Drawn("u % 7", bins=(FEW,)),
    Drawn("i % 7", bins=(WHOLE,)),
    Drawn("-i % 7", bins=(WHOLE,)),
    Drawn("y % 5.5", bins=(WHOLE,)),
    Drawn("Jet_pt % 10", bins=(WHOLE,)),
    Drawn("i ^ 2 / 4", bins=(PT,)),
    Drawn("-y ^ 2 / 100"),
    Drawn("2 * y ^ 0.5", bins=(PT,)),
    # Integers that 64 bits do not hold, and those that they do.
    Drawn("l - 10", bins=(WHOLE,)),
    Drawn("-l", bins=(WHOLE,)),
    Drawn("wide ^ 2 / 1e18", bins=(FEW,)),
    Drawn("wide * wide / 1e18 - big * big * 1e-24", bins=(FEW,)),
    Drawn("pow(wide, 2) / 1e18 + TMath::Power(wide, 2) / 1e18", bins=((64, 0.0, 64.0),)),
    Drawn("(big * big * big) / 1e37 + i", bins=(WHOLE,)),
    Drawn("x", "l - 10 > 0 && wide * wide > 5e18"),
    Drawn("i * i - u + nJet", bins=(WHOLE,)),
    # Halves and zeros.
    Drawn("round(half)", bins=(WHOLE,)),
    Drawn("rint(half) + TMath::Nint(half)", bins=(WHOLE,)),
    Drawn("sign(i) + 3 * sign(half)", bins=(FEW,)),
    Drawn("u & 4 == 4", bins=(FEW,)),
    Drawn("u & 12", bins=((16, 0.0, 16.0),)),
    Drawn("u >> 2", bins=((32, 0.0, 64.0),)),
    Drawn("u << 1", bins=((32, 0.0, 512.0),)),
    Drawn("x", "(u & 3) == 1 || (u | 8) == 12"),
    Drawn("abs(x)"),
    Drawn("fabs(x) + sqrt(y)"),
    Drawn("pow(y, 2) / 10"),
    Drawn("y**2 / 10"),
    Drawn("log10(y + 1) + log(y + 1) + exp(-y)", bins=(FEW,)),
    Drawn("sin(x) * cos(y) + tan(f)", bins=(FEW,)),
    Drawn("atan2(x, y)", bins=(FEW,)),
    Drawn("min(x, y)"),
    Drawn("max(x, 10)"),
    Drawn("TMath::Abs(x)"),
    Drawn("TMath::Sqrt(TMath::Power(y, 2) + 1)"),
    Drawn("TMath::ATan2(x, y) / TMath::Pi()", bins=(FEW,)),
    # Without NaN, which ROOT's functions pass over and treemill's carry on, as numpy's do.
    Drawn("TMath::Max(f, y) - TMath::Min(f, y)"),
    Drawn("x", "y > 20 && i < 3"),
    Drawn("x", "y > 60 || !(i < 3)"),
    Drawn("x", "y > 20 & i < 3"),
    Drawn("x", "y > 60 | flag & i < 3"),
    Drawn("x", "!flag"),
    Drawn("x", "flag && !(y > 20) || i == 4"),
    Drawn("x", "y > 20 && i != 3 && f <= 40"),
    Drawn("y > 20", bins=(FEW,)),
    Drawn("y > 20 ? x : -y"),
    Drawn("i > 3 ? 1 : i < -3 ? 2 : 3", bins=(FEW,)),
    Drawn("x", "flag ? y > 20 : y < 5"),
    # Selections that are weights.
    Drawn("x", "w", weighted=True),
    Drawn("x", "w * (y > 20)", weighted=True),
    Drawn("x", "(y > 20 && i < 3) * w", weighted=True),
    Drawn("x", "i", weighted=True),
    Drawn("x", "0.5", weighted=True),
    Drawn("x", "flag * w", weighted=True),
    Drawn("x", "i > 0 ? w : 1", weighted=True),
    Drawn("x", "u & 4", weighted=True),
    Drawn("x", "nJet", weighted=True),
    Drawn("x", "Sum$(Jet_pt)", weighted=True),
    Drawn("x", "Jet_pt", weighted=True),
    Drawn("x", "(y > 20) + (i > 3)", weighted=True),
    Drawn("Jet_pt", "w", (PT,), weighted=True),
    Drawn("Jet_pt", "w * (Jet_pt > 30 && abs(Jet_eta) < 2)", (PT,), weighted=True),
    Drawn("y:x", "w", (X, PT), weighted=True),
    # Arrays.
    Drawn("Jet_pt", bins=(PT,)),
    Drawn("Jet_pt", "Jet_pt > 30", (PT,)),
    Drawn("Jet_pt", "abs(Jet_eta) < 1 && y > 20", (PT,)),
    Drawn("Jet_pt", "y > 20", (PT,)),
    Drawn("x", "Jet_pt > 60"),
    Drawn("Jet_pt * cosh(Jet_eta)", bins=(PT,)),
    Drawn("Jet_pt - y"),
    Drawn("Jet_pt[0]", bins=(PT,)),
    Drawn("Jet_pt[0] - Jet_pt[1]"),
    Drawn("Jet_pt[1]", "Jet_eta[1] > 0", (PT,)),
    Drawn("x", "Jet_pt[0] > 60"),
    Drawn("fixed", bins=(FEW,)),
    Drawn("fixed[1] * 2", bins=(FEW,)),
    Drawn("fixed", "fixed > 0", (FEW,)),
    Drawn("nJet + nMuon", bins=(FEW,)),
    # Functions with $.
    Drawn("Sum$(Jet_pt)", bins=((64, 0.0, 512.0),)),
    Drawn("Sum$(Jet_pt * (Jet_pt > 30))", bins=((64, 0.0, 512.0),)),
    Drawn("Sum$(Jet_pt > 30)", bins=(FEW,)),
    Drawn("x", "Sum$(Jet_pt > 40) >= 2"),
    Drawn("x", "Sum$(Jet_pt > 30 && abs(Jet_eta) < 2) == 1"),
    Drawn("Length$(Jet_pt)", bins=(FEW,)),
    Drawn("x", "Length$(Muon_pt) > 1"),
    Drawn("Max$(Jet_pt)", bins=(PT,)),
    Drawn("Min$(Jet_pt)", bins=(PT,)),
    Drawn("Max$(abs(Jet_eta))", "Length$(Jet_eta) > 2", (FEW,)),
    Drawn("MaxIf$(Jet_pt, abs(Jet_eta) < 1)", bins=(PT,)),
    Drawn("MinIf$(Jet_pt, Jet_pt > 30)", bins=(PT,)),
    Drawn("Alt$(Jet_pt[0], -1)", bins=(PT,)),
    Drawn("Alt$(Jet_pt[2], 0) + Alt$(Muon_pt[0], 0)", bins=(PT,)),
    Drawn("Jet_pt / Max$(Jet_pt)", bins=(FEW,)),
    Drawn("Jet_pt", "Jet_pt == Max$(Jet_pt)", (PT,)),
    # Arrays of arrays, lists of arrays, lists of lists.
    Drawn("mat", bins=(FEW,)),
    Drawn("mat[2]", bins=(FEW,)),
    Drawn("mat[][1]", bins=(FEW,)),
    Drawn("mat[1][0] + mat[2][]", bins=(FEW,)),
    Drawn("mat[][1] * mat[][0]", bins=(FEW,)),
    Drawn("mat", "mat > 0", (FEW,)),
    Drawn("Sum$(mat)", bins=(FEW,)),
    Drawn("Max$(mat) - Min$(mat)", bins=(FEW,)),
    Drawn("Length$(mat)", bins=(FEW,)),
    Drawn("rows", bins=(FEW,)),
    Drawn("rows[]", bins=(FEW,)),
    Drawn("rows[0]", "nRow > 1", (FEW,)),
    Drawn("rows[][2] - rows[][1]", bins=(FEW,)),
    Drawn("rows[][0]", "rows[][1] > 0", (FEW,)),
    Drawn("rows[1][2]", bins=(FEW,)),
    Drawn("Sum$(rows[][1])", bins=(FEW,)),
    Drawn("Sum$(rows)", bins=(FEW,)),
    Drawn("vv", bins=(FEW,)),
    Drawn("vv[][0]", bins=(FEW,)),
    Drawn("Sum$(vv)", bins=(FEW,)),
    Drawn("Length$(vv)", bins=(WHOLE,)),
    Drawn("@vv.size()", bins=(WHOLE,)),
    Drawn("@v.size() + v@.size()", bins=(WHOLE,)),
    Drawn("MaxIf$(mat, mat < 3)", bins=(FEW,)),
    # Methods of vectors.
    *(Drawn(f"p4.{name}()") for name in ("Pt", "Perp", "M", "E", "Energy", "Px", "Y", "P")),
    *(Drawn(f"p4.{name}()", bins=(FEW,)) for name in ("Eta", "Phi", "Rapidity", "Theta", "Et")),
    *(Drawn(f"p4.{name}()", bins=(FEW,)) for name in ("Beta", "Gamma", "CosTheta", "Mt")),
    Drawn("p4->Pt()", "p4.M() > 3", (PT,)),
    Drawn("clones.Pt()", "clones.Eta() > 0", (PT,)),
    Drawn("Sum$(clones.Pt() > 30)", bins=(WHOLE,)),
    Drawn("@clones.GetEntries()", bins=(WHOLE,)),
    # C++'s namespaces.
    Drawn("TVector2::Phi_mpi_pi(y - 30)", bins=(FEW,)),
    Drawn("TVector2::Phi_0_2pi(y - 30)", bins=(FEW,)),
    Drawn("std::abs(x)"),
    Drawn("std::abs(x):y", bins=(PT, X)),
    Drawn("TMath::Gaus(x, 40, 50) * 30"),
    Drawn("TMath::Gaus(y / 10) * 30"),
    Drawn("TMath::Nint(y)", bins=(WHOLE,)),
    Drawn("TMath::FloorNint(y) + TMath::CeilNint(f)", bins=(WHOLE,)),
    Drawn("TMath::Sign(3., x) * y"),
    Drawn("TMath::Odd(i) + 2 * TMath::Even(u)", bins=(WHOLE,)),
    Drawn("TMath::Range(0, 10, y) * TMath::Sqrt2() + TMath::Ln10()", bins=(FEW,)),
    # The tree's own numbers.
    Drawn("Entry$ / Entries$ * 10", bins=(FEW,)),
    Drawn("x", "Entry$ < Entries$ / 2"),
    # More dimensions: "y:x".
    Drawn("y:x", bins=(X, PT)),
    Drawn("Jet_eta:Jet_pt", "Jet_pt > 20", (PT, FEW)),
    Drawn("y:Jet_pt", bins=(PT, PT)),
    Drawn("i:y:x", bins=(X, PT, FEW)),
    Drawn("i > 0 ? y : f:x", bins=(X, PT)),
    # What treemill says to write instead.
    Drawn("Jet_pt", "Iteration$ < 2", (PT,), ours=("Jet_pt[:2]", None)),
    Drawn("Jet_pt", "Iteration$ == 1", (PT,), ours=("Jet_pt[1]", None)),
    Drawn("x", "Entry$ < 100"),
    Drawn("x", "LocalEntry$ % 7 == 3"),
    Drawn("Entry$"),
]
# These need comprehensions.
LOOPS = [
    Drawn(
        "Iteration$",
        "Jet_pt > 30",
        (FEW,),
        ours=("[i for i, j in enumerate(Jet) if j.pt > 30]", None),
    ),
    # Where the lengths differ, ROOT fills NaN besides: zip stops with the shorter list.
    Drawn(
        "Jet_pt - Muon_pt",
        "nJet == nMuon",
        ours=("[j.pt - m.pt for j, m in zip(Jet, Muon)]", "nJet == nMuon"),
    ),
]


def write(path, entries=4000):
    rng = np.random.default_rng(7)
    counts = {"Jet": rng.poisson(2.5, entries), "Muon": rng.integers(0, 4, entries)}

    def jagged(prefix, values):
        return ak.unflatten(values, counts[prefix])

    jets, muons = (int(counts[name].sum()) for name in ("Jet", "Muon"))
    x = rng.normal(40, 50, entries)
    x[5::1009], x[6::1009], x[7::1009] = np.nan, np.inf, -np.inf
    columns = {
        "x": x,
        "y": rng.exponential(30, entries),
        "f": rng.exponential(30, entries).astype(np.float32),
        "w": rng.normal(1, 0.5, entries),
        "i": rng.integers(-20, 20, entries).astype(np.int32),
        "u": rng.integers(0, 200, entries).astype(np.uint8),
        "big": np.arange(entries, dtype=np.int64) + 2**40,
        "flag": rng.random(entries) < 0.3,
        "fixed": rng.normal(2, 4, (entries, 3)),
        "Jet": ak.zip(
            {
                "pt": jagged("Jet", rng.exponential(40, jets)),
                "eta": jagged("Jet", rng.normal(0, 2, jets)),
            }
        ),
        "Muon": ak.zip({"pt": jagged("Muon", rng.exponential(20, muons))}),
        "l": rng.integers(0, 20, entries).astype(np.uint64),
        "wide": rng.integers(2**31, 2**32, entries).astype(np.uint32),
        "half": rng.integers(-9, 10, entries) / 2,
    }
    types = {
        name: np.dtype((c.dtype, c.shape[1:])) if isinstance(c, np.ndarray) else ak.type(c).content
        for name, c in columns.items()
    }
    with uproot.recreate(path) as file:
        tree = file.mktree("Events", types, counter_name=lambda name: f"n{name}")
        for start in range(0, entries, 1500):
            tree.extend({name: c[start : start + 1500] for name, c in columns.items()})


STRINGS = [
    Drawn("x", text) for text in ('name == "ee"', 'name != "mumu"', 'name == "emu" && x > 5')
]


def named(case):
    return f"{case.expr} if {case.where}" if case.where else case.expr


ALL = {named(case): case for case in [*CASES, *LOOPS]}


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("draw") / "data.root"
    write(path)
    return path


def drawn_by_root(root_program, path, named_cases):
    asked, output = path.with_suffix(".json"), path.with_suffix(".npz")
    cases = [
        {
            "name": name,
            "expr": case.expr,
            "where": case.where,
            "bins": case.bins,
            "profile": case.profile,
        }
        for name, case in named_cases.items()
    ]
    asked.write_text(json.dumps(cases))
    root_program("draw.py", path, asked, output)
    return np.load(output)


@pytest.fixture(scope="module")
def written_by_root(made_by_root):
    """What uproot does not write: arrays of arrays, lists of lists, vectors as objects."""
    return made_by_root("drawn") / "drawn.root"


@pytest.fixture(scope="module")
def root(root_program, path, written_by_root):
    mine = {name: case for name, case in ALL.items() if not of_root(case)}
    theirs = {name: case for name, case in ALL.items() if of_root(case)}
    drawn = dict(drawn_by_root(root_program, path, mine))
    return drawn | dict(drawn_by_root(root_program, written_by_root, theirs))


def of_root(case):
    return re.search(r"\b(mat|rows|vv|v|p4|clones)\b", case.expr) is not None


def test_profiles(root_program, path, capsys):
    cases = {
        "y:x": Drawn("y:x", bins=((20, 0.0, 100.0),), profile=True),
        "weighted": Drawn("y:x", "w * (i > 0)", ((20, 0.0, 100.0),), profile=True),
        "items": Drawn("Jet_eta:Jet_pt", "Jet_pt > 10", ((20, 0.0, 100.0),), profile=True),
    }
    root = drawn_by_root(root_program, path, cases)
    for name, case in cases.items():
        got = tm.dataset(path).draw(case.expr, where=case.where, bins=case.bins[0], profile=True)
        values = np.nan_to_num(got.values(flow=True))
        np.testing.assert_allclose(values, root[name], 1e-9, 1e-9)
        assert root[name].any()


def test_bins_behind_the_expression(path, capsys):
    events = tm.dataset(path)
    for text, bins in (("x>>h(64,-32,96)", X), ("y:x >> h (64,-32,96, 50,0,200)", [X, PT])):
        got = events.draw(text)
        expected = events.draw(text.split(">>")[0], bins=bins)
        np.testing.assert_array_equal(got.values(flow=True), expected.values(flow=True))
        assert got.name == "h"
    for text in ("x>>+h", "x>>h(a)", "x>>h(10,0)"):
        with raises(QueryError, said="symbols"):
            events.draw(text)
    with raises(QueryError, about="twice"):
        events.draw("x>>h(10,0,1)", bins=X)


def test_a_flag_selects_and_a_number_weights(path, capsys):
    events = tm.dataset(path)
    for where, storage in (("flag", "Double"), ("flag & (y > 3)", "Double"), ("u", "Weight")):
        assert type(events.draw("x", where=where, bins=X).storage_type()).__name__ == storage
    both = events.draw("x", where="w", weight="y", bins=X)
    assert both.sum(flow=True).value == pytest.approx(events.sum("w * y").value)


def test_there_are_enough():
    assert len(ALL) >= 30
    words = " ".join(ALL)
    wanted = "&& || ! abs sqrt pow ? : TMath:: Sum$ Length$ Max$ Min$ MaxIf$ MinIf$ Alt$ [0] & <<"
    assert all(word in words for word in [*wanted.split(), "Iteration$", "Entry$"])


@pytest.mark.parametrize("name", ALL)
def test_draws_as_root(name, root, path, written_by_root, capsys):
    case = ALL[name]
    expr, where = case.ours or (case.expr, case.where)
    bins = list(case.bins) if len(dimensions(expr)) > 1 else case.bins[0]
    events = tm.dataset(written_by_root if of_root(case) else path)
    drawn = events.draw(expr, where=where, bins=bins)
    got = drawn.values(flow=True)
    if not case.weighted:
        np.testing.assert_array_equal(got, root[name])
    else:
        np.testing.assert_allclose(got, root[name], 1e-12, 1e-12)
    assert root[name].any()


@pytest.mark.slow
def test_strings(root_program, tmp_path, capsys):
    path = tmp_path / "strings.root"
    root_program("strings.py", path)
    cases = {str(case.where): case for case in STRINGS}
    root = drawn_by_root(root_program, path, cases)
    for name, case in cases.items():
        got = tm.dataset(path, "Events").draw(case.expr, where=case.where, bins=X)
        np.testing.assert_array_equal(got.values(flow=True), root[name])
        assert 0 < root[name].sum() < 1000
