"""`events.draw`: what its words mean, which of them an error is about, ranges without far tails."""

import awkward as ak
import numpy as np
import pytest
import treemill as tm
from treemill import QueryError
from treemill.pictures.text_histogram import text

from tests.python.written import write
from tests.raising import raises


def same(one, other):
    assert one.ndim == other.ndim
    for mine, theirs in zip(one.axes, other.axes, strict=True):
        np.testing.assert_array_equal(mine.edges, theirs.edges)
    np.testing.assert_array_equal(one.values(flow=True), other.values(flow=True))


PT = (50, 0, 200)


def test_the_second_word_is_the_selection(events, truth, capsys):
    drawn = events.draw("Jet_pt", "Jet_pt > 30", bins=PT)
    assert drawn.ndim == 1
    assert drawn.sum(flow=True) == ak.sum(truth.Jet_pt > 30)
    assert capsys.readouterr().out.startswith("Jet_pt  where Jet_pt > 30\n")
    same(drawn, events.draw("Jet_pt", where="Jet_pt > 30", bins=PT))
    # A number is a weight, and the title says so.
    weighted = events.draw("MET_pt", "genWeight", bins=PT)
    assert "weighted by genWeight" in capsys.readouterr().out
    assert weighted.sum(flow=True).value == pytest.approx(ak.sum(truth.genWeight))
    events.draw("MET_pt", "genWeight", bins=PT, weight="nJet")
    assert "weighted by (genWeight) * (nJet)" in capsys.readouterr().out
    same(events.draw("MET_pt", "", bins=PT), events.draw("MET_pt", bins=PT))


def test_a_value_on_an_edge_fills_the_bin_that_hist_gives_it(events):
    """docs/language.md says so to users of TTree::Draw, where it is the bin above the edge."""
    drawn = events.draw("entry_number * 0 + 58>>h(50,0,100)", "", "goff")
    assert drawn[28] == events.num_entries
    assert drawn.axes[0].index(58) == 28
    listed = events.draw("entry_number * 0 + 58", "", "goff", bins=[0, 56, 58, 60])
    assert listed.values().tolist() == [0, 0, events.num_entries]


def test_several_axes(events, capsys):
    bins = [PT, (10, -5, 5)]
    first = events.draw("Jet_eta:Jet_pt", "Jet_pt > 30", bins=bins)
    assert capsys.readouterr().out.startswith("Jet_eta : Jet_pt  where Jet_pt > 30\n")
    assert [axis.label for axis in first.axes] == ["Jet_pt", "Jet_eta"]
    for list_of_axes in (["Jet_pt", "Jet_eta"], ("Jet_pt", "Jet_eta")):
        same(first, events.draw(list_of_axes, "Jet_pt > 30", bins=bins))
    with raises(QueryError, said="several axes are"):
        events.draw("MET_pt", ["nJet"])
    with raises(QueryError, said="several axes are"):
        events.draw("MET_pt", "nJet", "nMuon")
    with raises(QueryError, said="takes an expression"):
        events.draw([])


def test_options(events, capsys):
    assert events.draw("nJet", "nJet > 1", "goff").sum() > 0
    assert events.draw("Jet_pt:nJet", "", "PROF,goff").kind == "MEAN"
    assert capsys.readouterr().out == ""
    events.draw("nJet", "", "colz e1")
    assert "nJet" in capsys.readouterr().out
    for option, words in (("same", "tm.plot"), ("norm", r"h\.sum"), ("golf", "no option 'golf'")):
        with pytest.raises(QueryError, match=words):
            events.draw("nJet", "", option)


BLAMED = [
    # expression, selection, weight: the wrong words, and where among them
    ("Jet_ptt", "Jet_pt > 30", None, "Jet_ptt", "Jet_ptt"),
    ("Jet_pt", "Jet_ptt > 30", None, "Jet_ptt > 30", "Jet_ptt"),
    ("Jet_pt", "Jet_pt > 30", "genWeightt", "genWeightt", "genWeightt"),
    ("sqqrt(Jet_pt)", "Jet_pt > 30", None, "sqqrt(Jet_pt)", "sqqrt"),
    ("Jet_pt + Muon_pt", "Jet_pt > 30", None, "Jet_pt + Muon_pt", "Jet_pt + Muon_pt"),
    ("Jet_pt", "Muon_pt > 30", None, "Muon_pt > 30", None),
    ("Jet_pt", "Jet_pt + sqqrt(3)", None, "Jet_pt + sqqrt(3)", "sqqrt"),
    ("Jet_pt", "Jet_pt", "nJets", "nJets", "nJets"),
    ("Jet_pt", "nJet", "nJets", "nJets", "nJets"),
    ("Jet_ptt", "Jet_pt", None, "Jet_ptt", "Jet_ptt"),
    ("Jet_ptt", "nJet > 1", None, "Jet_ptt", "Jet_ptt"),
    ("Jet_pt", "nJets > 1", None, "nJets > 1", "nJets"),
]


@pytest.mark.parametrize(("expr", "where", "weight", "text", "words"), BLAMED)
def test_errors_are_about_the_wrong_part(events, expr, where, weight, text, words):
    with pytest.raises(QueryError) as caught:
        events.draw(expr, where, weight=weight, bins=PT)
    error = caught.value
    assert error.text == text
    assert (error.span and error.text[slice(*error.span)]) == words
    assert "filter" not in str(error)


@pytest.mark.parametrize(
    ("expr", "where", "words"),
    [
        ("MET_pt", "nMuon => 2", "=> is not in the language; write >="),
        ("MET_pt", "nMuon =< 2", "=< is not in the language; write <="),
        ("MET_pt", "nMuon = 2", "to compare write =="),
        ("(int)MET_pt", None, r"C's casts are not in the language; write int\("),
        ("1 + (double) MET_pt", None, r"write float\("),
        ("(long)MET_pt", None, r"write int\("),
        (3, None, "takes an expression"),
    ],
)
def test_what_c_and_haste_write(events, expr, where, words):
    with pytest.raises(QueryError, match=words):
        events.draw(expr, where)


def test_ranges_without_far_tails(tmp_path, capsys):
    import uproot

    rng = np.random.default_rng(1)
    bulk = rng.exponential(20, 20_000)
    with uproot.recreate(tmp_path / "tail.root") as file:
        file["T"] = {"pt": np.append(bulk, [4000.0, 9000.0]), "eta": rng.normal(size=20_002)}
    tail = tm.dataset(tmp_path / "tail.root", "T")
    drawn = tail.draw("pt")
    low, high = drawn.axes[0].edges[[0, -1]]
    assert (low, drawn.axes[0].size) == (0, 100)
    assert 100 < high < 250
    assert drawn.sum() >= 0.999 * 20_002
    assert drawn.sum(flow=True) == 20_002
    assert f"{20_002 - int(drawn.sum())} above" in capsys.readouterr().out
    # Who wants all of them has them; a booking has them by itself.
    everything = tail.draw("pt", range="all")
    assert everything.axes[0].edges[-1] > 9000
    same(everything, tail.hist("pt").value)
    same(drawn, tail.hist("pt", range="most").value)
    both = tail.draw("pt:eta", option="goff")
    assert both.axes[1].edges[-1] == high
    # Whichever worker does the work.
    for workers in (1, 3):
        with tm.connect(workers=workers) as session:
            same(drawn, session.run(tail.hist("pt", range="most")))


def test_any_span_of_values_has_a_range(tmp_path, capsys):
    import uproot

    powers = 10.0 ** np.arange(-300, 300, dtype="f8")
    with uproot.recreate(tmp_path / "wide.root") as file:
        file["T"] = {"x": np.concatenate([powers, -powers, [np.inf, np.nan]])}
    drawn = tm.dataset(tmp_path / "wide.root", "T").draw("x")
    assert drawn.sum(flow=True) == 1202


def test_logarithms(events, capsys):
    drawn = events.draw("MET_pt", bins=(20, 0, 100), log=True)
    told = capsys.readouterr().out
    assert told == text(drawn, "MET_pt", log=True) + "\n"
    assert told != text(drawn, "MET_pt") + "\n"


def test_strings_are_counted_by_an_axis_of_categories(events):
    with raises(QueryError, said="they are strings StrCategory counts each"):
        events.define("kind", "'signal'").draw("kind")


def test_integers_are_computed_in_doubles(tmp_path, capsys):
    """As TTree::Draw has them: nothing wraps around. What fits 64 bits for certain stays an
    integer, and its axis one of integers."""
    columns = {
        "l": np.array([3, 20], np.uint64),
        "u": np.array([4_000_000_000, 7], np.uint32),
        "k": np.array([2**62, -5], np.int64),
        "i": np.array([-2, 3], np.int32),
        "half": np.array([0.5, -2.5]),
    }
    events = tm.dataset(write(tmp_path / "data.root", **columns))
    expected = {
        "l - 10": [-7, 10],
        "-l": [-3, -20],
        "u^2": [1.6e19, 49],
        "u*u": [1.6e19, 49],
        "pow(u, 2)": [1.6e19, 49],
        "k*4 + k - k": [2.0**64, -20],
        "2^70": [2.0**70, 2.0**70],
        "i*i - u": [4 - 4e9, 2],
        "round(half)": [1, -3],
        "TMath::Nint(half)": [0, -2],
        "sign(i)": [-1, 1],
        "sign(i + 2)": [1, 1],
        "sign(half * 0)": [1, 1],
    }
    for expr, values in expected.items():
        drawn = events.draw(expr, bins=[-1e99, *sorted({v - 0.25 for v in values}), 1e99])
        assert drawn.values()[0] == 0, expr
        assert drawn.sum() == 2, expr
        for value in values:
            assert drawn[drawn.axes[0].index(value)] == values.count(value), expr
    selected = events.draw("i", "l - 10 > 0", bins=(2, -10, 10))
    assert selected.sum() == 1
    for expr in ("i + 1", "i * i - i", "-i", "round(i)", "sign(i)"):
        assert events.draw(expr).axes[0].size < 50, expr
