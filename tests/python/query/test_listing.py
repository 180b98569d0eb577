"""`scan`, `head`, `describe`, `show` with globs: what is looked at in a dataset."""

import io
import sys

import awkward as ak
import numpy as np
import pytest
import treemill as tm
import uproot
from rich.cells import cell_len
from treemill import QueryError
from treemill.pictures.tables import print_branches

from tests.raising import raises


def lines(capsys):
    return [line.split() for line in capsys.readouterr().out.splitlines()]


def test_scan(events, truth, capsys):
    events.scan("MET_pt", "Muon.pt", where="nMuon >= 2", n=3)
    head, rule, *rows = lines(capsys)
    assert head == ["Row", "Instance", "MET_pt", "Muon.pt"]
    assert set("".join(rule)) == {"─"}
    wanted = np.flatnonzero(truth.nMuon >= 2)[:3]
    expected = []
    for number in wanted:
        for instance, pt in enumerate(truth.Muon_pt[number]):
            first = [str(number)] if instance == 0 else []
            met = [f"{truth.MET_pt[number]:.6g}"] if instance == 0 else []
            expected.append([*first, str(instance), *met, f"{pt:.6g}"])
    assert rows == expected


def test_scan_of_numbers_alone(events, truth, capsys):
    events.define("twice", "2 * nJet").scan("nJet:twice", n=2)
    head, _, *rows = lines(capsys)
    assert head == ["Row", "nJet", "twice"]
    assert rows == [[str(i), str(truth.nJet[i]), str(2 * truth.nJet[i])] for i in range(2)]
    events.scan(n=1)
    assert len(lines(capsys)[0]) == 10
    events.scan("Jet_*", n=0)
    assert len(lines(capsys)) == 2
    with raises(QueryError, about="MET_ptt"):
        events.scan("MET_ptt")


def test_head(events, truth):
    found = events.filter("nMuon >= 3").head(["MET_pt", "Muon_pt"], n=4)
    chosen = truth[truth.nMuon >= 3][:4]
    assert found.MET_pt.to_list() == chosen.MET_pt.to_list()
    assert found.Muon_pt.to_list() == chosen.Muon_pt.to_list()
    assert len(events.head()) == 5
    assert "MET_pt" in events.head().fields
    # As many as there are.
    few = events.filter("nMuon >= 3 and MET_pt > 150")
    assert len(few.head("MET_pt", n=10_000)) == few.count().value
    with raises(QueryError, said="0 or more"):
        events.head("MET_pt", n=-1)


def test_head_reads_no_more_than_it_needs(events, nothing_remembered):
    with tm.connect(workers=1) as session:
        session.run(events.hist("MET_pt", bins=(1, 0, 1)))
        whole = session.report.bytes_read
    from treemill.session import api as sessions

    events.head("MET_pt", n=3)
    assert sessions.default_session().report.bytes_read < whole / 2


def test_describe(events, truth):
    made = events.describe("MET_pt", "Jet_*", "Muon_pt[0]")
    assert made.entries == len(truth)
    assert list(made)[:2] == ["MET_pt", "Jet_pt"]
    met = made["MET_pt"]
    values = truth.MET_pt.to_numpy().astype(float)
    assert (met.values, met.not_finite, met.missing) == (len(values), 0, 0)
    assert (met.min, met.max) == (values.min(), values.max())
    assert met.mean == pytest.approx(values.mean())
    assert met.std == pytest.approx(values.std(ddof=1))
    quartiles = np.quantile(values, [0.25, 0.5, 0.75])
    assert (met.quartile, met.median, met.upper_quartile) == pytest.approx(quartiles, rel=1e-3)
    sizes = list(map(sizes_of, events.files))
    assert met.bytes_in_file == sum(sizes)
    assert made["Jet_pt"].values == ak.count(truth.Jet_pt)
    assert made["Muon_pt[0]"].missing == ak.sum(truth.nMuon == 0)
    assert made["Muon_pt[0]"].bytes is None
    told = str(made).splitlines()
    assert told[0].split()[:4] == ["column", "values", "not", "finite"]
    assert told[-1] == "12,322 entries"
    assert "<table>" in made._repr_html_()


def sizes_of(path):
    return tm.dataset(path, "Events").branches["MET_pt"].zip_bytes


def test_describe_everything(events):
    made = events.describe()
    assert "MET_pt" in made
    assert set(made) <= set(events.branches)


def test_describe_of_nothing_and_of_what_is_no_number(tmp_path):
    with uproot.recreate(tmp_path / "x.root") as file:
        file["T"] = {"x": np.array([1.0, np.nan, np.inf, 3.0]), "s": ["a", "b", "c", "d"]}
    odd = tm.dataset(tmp_path / "x.root", "T")
    assert (odd.describe()["x"].values, odd.describe()["x"].not_finite) == (2, 2)
    none = odd.filter("x > 100 and x < 200").describe("x")
    assert (none.entries, none["x"].values, none["x"].max) == (0, 0, None)
    assert "entries" in str(none)
    with pytest.raises(QueryError):
        odd.describe("s")


def test_show_with_a_glob_and_titles(events, capsys, tmp_path):
    events.show("Muon_*", "MET_pt")
    told = capsys.readouterr().out
    assert "Muon_eta" in told
    assert "MET_pt" in told
    assert "Jet_pt" not in told
    assert "title" not in told  # ROOT's own lists of leaves say nothing
    with raises(QueryError, about="Muon"):
        events.show("Muons_*")
    with uproot.recreate(tmp_path / "t.root") as file:
        file.mktree("T", {"x": "f4"})
    tm.dataset(tmp_path / "t.root", "T").show("x")


def test_titles_that_say_more_are_shown(capsys, events):
    branches = [b._replace(title="transverse momentum") for b in events.branches.values()]
    print_branches("t", branches[:2])
    told = capsys.readouterr().out
    assert "title" in told
    assert told.count("transverse momentum") == 2


def _printed(branches, width=None):
    """What a terminal of this width gets, or a pipe; and how many functions that called."""
    calls = 0

    def count(frame, event, argument):
        nonlocal calls
        calls += event == "call"

    with pytest.MonkeyPatch.context() as patch, io.StringIO() as told:
        patch.setattr("sys.stdout", told)
        patch.setenv("COLUMNS", str(width or 80))
        patch.setenv("LINES", "25")  # else rich takes a terminal that is dumb for 80 columns
        if width is not None:
            told.isatty = lambda: True
            patch.setenv("TERM", "dumb")
        sys.setprofile(count)
        try:
            print_branches("t", branches)
        finally:
            sys.setprofile(None)
        return told.getvalue(), calls


def test_each_branch_of_a_wide_tree_is_laid_out_once(events):
    one = events.branches["Muon_pt"]
    wide = [one._replace(name=f"b{i:04}") for i in range(2000)]
    for width in (None, 120, 40):
        _printed(wide[:2], width)  # imports
        few, many = (_printed(wide[:count], width)[1] for count in (200, 2000))
        assert (many - few) / 1800 < 160, width  # two lines for each branch where it is narrow


@pytest.mark.parametrize("width", [80, 100, 160])
def test_a_narrow_terminal_folds_texts_and_loses_none(events, width):
    odd = events.branches["Muon_pt"]._replace(
        title="of the\nmuon that is \x1b[31mnearest to the beam 宇宙の粒子の運動量",
        cpp_type="std::vector<ROOT::Math::LorentzVector<ROOT::Math::PtEtaPhiM4D<float>>>",
    )
    told, _ = _printed([odd, odd._replace(name="x")], width)
    lines = told.splitlines()
    assert max(map(cell_len, lines)) <= width
    assert "\x1b" not in told
    for text in (odd.cpp_type, "Muon_pt", "nearest", "運動量"):
        assert set(text) <= set(told)
    whole, _ = _printed([odd, odd._replace(name="x")])
    assert len(whole.splitlines()) == 4  # a pipe gets one line per branch
    assert odd.cpp_type in whole


def test_below_variations_the_nominal_values_are_shown(events, capsys):
    varied = events.filter("nMuon > 0").vary("MET_pt", {"up": "2 * MET_pt"})
    varied = varied.define("half", "MET_pt / 2").filter("half > 10")
    plain = events.filter("nMuon > 0").define("half", "MET_pt / 2").filter("half > 10")
    drawn = [each.draw("half", "nJet > 1", "goff", bins=(9, 0, 90)) for each in (varied, plain)]
    assert drawn[0] == drawn[1]
    assert varied.head(["half"], n=3).to_list() == plain.head(["half"], n=3).to_list()
    assert str(varied.describe("half")) == str(plain.describe("half"))
    varied.scan("half", n=4)
    shown = capsys.readouterr().out
    plain.scan("half", n=4)
    assert shown == capsys.readouterr().out


def test_arguments_of_other_kinds_are_told(events):
    with raises(QueryError, said="write head n 2"):
        events.head(2)
    with raises(QueryError, said="scan takes expressions as texts"):
        events.scan({"w": "MET_pt"})
