"""What is said of expressions and arguments that are not right, and numpy's scalars, which are."""

import pickle

import hist
import numpy as np
import pytest
import treemill as tm
from treemill.language.expression import parse

from tests.python.written import jagged, write
from tests.raising import raises


@pytest.fixture(scope="module")
def events(core, tmp_path_factory):
    columns = {"nMuon": np.arange(5), "x": np.linspace(0, 1, 5), "big": np.arange(5) + 2**32}
    lists = {
        "Muon_pt": jagged([1], [2, 3], [], [4], [5]),
        "Muon_eta": jagged([1], [2, 3], [], [4], [5]),
    }
    return tm.dataset(write(tmp_path_factory.mktemp("messages") / "m.root", **columns, **lists))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("nMuon => 2", "write >="),
        ("nMuon =< 2", "write <="),
        ("nMuon = 2", "to compare write =="),
        ("(int)x", r"casts are not in the language; write int\(…\)"),
        ("(bool)nMuon", r"write bool\(…\)"),
        ("1 + (const Double_t) x", r"write float\(…\)"),
        (
            "sum((unsigned int)x) > 2",
            r"write int\(…\), or .* wrap around \(int\(…\) & 0xffffffff\)",
        ),
        ("(int)x + (unsigned char)nMuon", r"write int\(…\)\n"),
        ("x + (unsigned char)nMuon", r"\(int\(…\) & 0xff\)"),
        ("(unsigned) x", "& 0xffffffff"),
        ("(short unsigned int)x", r"& 0xffff\)"),
        ("(UShort_t)x", r"& 0xffff\)"),
        ("(long long)x", r"write int\(…\)\n"),
        ("(std::size_t)x", r"write int\(…\)\n"),
        ("(ULong64_t)x", r"write int\(…\)\n"),
        ("(long double)x", r"write float\(…\)"),
        ("(Muon pt) + 1", "invalid syntax"),
        ("(x) y", "invalid syntax"),
        ("sum(pairs.0)", "backticks: `pairs.0`"),
        ("EventAux. > 3", "backticks: `EventAux.`"),
        ("`pairs.0` +", "invalid syntax"),
        ("prel._rem", "backticks: .`_rem`"),
        ("nMuon > 2 and", "ends where a value should follow"),
        ("1 < nMuon < ", "ends where a value should follow"),
        ("MET pt", "an operator or a comma is missing before pt"),
        ("j.pt for j in Jet", r"in brackets, as in \[j.pt for j in Jet\]"),
        ("nMuon;", "; cannot stand here"),
    ],
)
def test_what_c_writes(text, said):
    with pytest.raises(tm.QueryError, match=said):
        parse(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("(Muon[0] + Muon[1]).mas", "the vector has no mas; did you mean mass"),
        ("(Muon[0] + Muon[1]).colour", "the vector has no colour; it has pt, eta, phi, mass"),
        ("Sum$(1)", "this needs a list, and this is one value per event"),
        (
            "'a' + 1",
            "a string, which can be compared, looked for, chosen, sorted, joined and filled",
        ),
        ("Muon.ptt", "Muon has no ptt; did you mean pt?"),
        ("Muon_pt[:, 0]", r"leave out the part for the events, and write x\[0\]"),
        ("(x + 1)[0]", "this is one value per event, not a list"),
        ("len(combinations(Muon, 9))", r"combinations\(X, n\) takes a constant number n from 1"),
    ],
)
def test_what_the_core_says(events, text, said):
    with pytest.raises(tm.QueryError, match=said):
        tm.run(events.sum(text))


@pytest.mark.parametrize("entries", [None, (3, 5)])
def test_what_is_wrong_with_the_data_says_where(core, tmp_path, entries):
    lists = {"A_x": jagged([1], [2], [3], [4], [5]), "A_y": jagged([1], [2], [3], [4], [])}
    path = write(tmp_path / "wrong.root", **lists)
    with tm.connect(workers=1) as session, pytest.raises(tm.QueryError) as error:
        session.run(tm.dataset(path).sum("sum(A_x * A_y)"), entries=entries)
    wrong = error.value
    assert "in entry 4, the items counted by nA_y are 0" in wrong.message
    assert (wrong.file, wrong.entries) == (str(path), entries or (0, 5))


def test_branches_that_are_not_there(events):
    with pytest.raises(KeyError, match=r"no branch Muon_ptt.*did you mean Muon_pt") as error:
        events.branches["Muon_ptt"]
    assert isinstance(error.value, tm.QueryError)
    assert str(pickle.loads(pickle.dumps(error.value))) == str(error.value)
    assert events.branches.get("Muon_ptt") is None
    assert "Muon_ptt" not in events.branches


def test_constants_of_numpy(events):
    for value in (np.int64(2), np.float32(2), np.uint8(2), np.array(2)):
        assert tm.run(events.filter("nMuon >= c", params={"c": value}).count()) == 3
    assert tm.run(events.filter("flag", params={"flag": np.bool_(False)}).count()) == 0
    with raises(tm.QueryError, said="a constant is"):
        events.filter("x > c", params={"c": np.float64("nan")})


def test_quantiles_of_no_probabilities(events):
    assert tm.run(events.approx_quantiles("x", [])).tolist() == []
    with raises(tm.QueryError, said="from 0 to 1, not 1 5"):
        events.approx_quantiles("x", [0.5, 1.5])


def test_categories_that_hist_cannot_hold(events):
    with raises(tm.QueryError, said="integers of 32 bits, and 4294967296 came"):
        tm.run(events.hist("big", bins=hist.axis.IntCategory([], growth=True)))
    assert (
        tm.run(events.hist("big - 4294967296", bins=hist.axis.IntCategory([], growth=True))).sum()
        == 5
    )


def test_growing_categories_are_those_that_fill(events):
    """As hist's, which are given what is left when missing values are taken out."""
    grown = hist.axis.IntCategory([], growth=True)
    regular = hist.axis.Regular(3, 0, 10)
    for made in (
        events.hist("nMuon", "Muon_pt[0]", bins=[grown, regular]),
        events.hist("nMuon", "Muon_pt", bins=[grown, regular]),
        events.hist("nMuon", bins=grown, weight="Muon_pt[0]"),
        events.profile("nMuon", sample="Muon_pt", bins=grown),
    ):
        assert list(tm.run(made).axes[0]) == [0, 1, 3, 4]
    assert list(tm.run(events.hist("nMuon", "x", bins=[grown, regular])).axes[0]) == [0, 1, 2, 3, 4]
    varied = events.vary("Muon_pt", {"up": "Muon_pt[Muon_pt > 1]"})
    found = tm.run(varied.hist("nMuon", "Muon_pt", bins=[grown, regular]))
    assert list(found["Muon_pt:up"].axes[0]) == [0, 1, 3, 4]


LARGE = [
    0,
    1,
    -1,
    2,
    2**31 - 1,
    -(2**31),
    2**31,
    2**31 + 1,
    2**32,
    2**32 + 1,
    -(2**32),
    2**62,
    -(2**62),
]


@pytest.mark.parametrize("dtype", ["u4", "i8", "u8"])
@pytest.mark.parametrize(
    "axis",
    [
        hist.axis.Integer(-2, 3),
        hist.axis.Integer(-2, 3, overflow=False),
        hist.axis.Integer(2**31 - 3, 2**31 - 1),
        hist.axis.Integer(0, 4, circular=True),
        hist.axis.IntCategory([0, 1, -1, 2**31 - 1, -(2**31)]),
    ],
    ids=repr,
)
def test_integers_of_32_bits_and_more(core, tmp_path, dtype, axis):
    """What boost-histogram takes fills as there, to the bit; it refuses more bits, which are
    above or below all, as is what boost-histogram turns around: its distance from the first bin."""
    limits = np.iinfo(dtype)
    values = np.array([v for v in LARGE if limits.min <= v <= limits.max], dtype)
    # ROOT has no unsigned 64-bit branches by uproot's mktree in lists; numbers it has.
    events = tm.dataset(write(tmp_path / "large.root", v=values))
    start = 0 if isinstance(axis, hist.axis.IntCategory) else int(axis.edges[0])
    inside = [
        v for v in values.tolist() if -(2**31) <= min(v, v - start) < 2**31 > max(v, v - start)
    ]
    wanted = hist.Hist(axis)
    wanted.fill(np.array(inside, np.int64))
    kept = " or ".join(f"v == {v}" for v in inside)
    small = tm.run(events.filter(kept).hist("v", bins=axis))
    np.testing.assert_array_equal(small.values(flow=True), wanted.values(flow=True))
    whole = tm.run(events.hist("v", bins=axis)).values(flow=True)
    expected = wanted.values(flow=True).copy()
    traits = axis.traits
    for value in values.tolist():
        if value in inside:
            continue
        if traits.circular:
            expected[value % 4] += 1
        elif value < 0 and traits.underflow:
            expected[0] += 1
        elif (value > 0 or not traits.ordered) and traits.overflow:
            expected[-1] += 1
    np.testing.assert_array_equal(whole, expected)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"bins": (10, 0)}, r"a tuple of three: \(n, lo, hi\)"),
        ({"bins": [(10, 0, 1), (10, 0, 1)]}, "2 axes, and there is one expression"),
        ({"bins": [hist.axis.Regular(5, 0, 1)] * 2}, "2 axes, and there is one expression"),
        ({"range": 5}, r"range= is \(lo, hi\); got 5"),
        ({"bin": 5}, r"^hist\(\) has no option bin; did you mean bins"),
    ],
)
def test_what_is_said_of_axes(events, arguments, said):
    with pytest.raises(tm.QueryError, match=said):
        events.hist("x", **arguments)


def test_numbers_are_no_categories_of_strings(events):
    axis = hist.axis.StrCategory([], growth=True)
    with pytest.raises(tm.QueryError, match="takes strings, and these are numbers"):
        _ = events.hist("x", bins=axis).value


def test_what_is_said_of_columns(events):
    with pytest.raises(tm.QueryError, match=r"a glob, which stands in a list: take\(\['Mu\*'\]\)"):
        events.take("Mu*")
    with pytest.raises(tm.QueryError, match="a list of expressions and globs"):
        events.take(3)
    assert events.take(["Muon_*"]).value.fields == ["Muon_pt", "Muon_eta"]
    assert events.take("nMuon*2").value.tolist() == [0, 2, 4, 6, 8]


def test_a_picture_has_a_form_that_can_be_drawn(events, tmp_path):
    with pytest.raises(tm.UnsupportedError, match=r"\.png \.pdf \.svg"):
        tm.plot(events.hist("x", bins=5), tmp_path / "x.txt")


def test_strings_get_an_axis(events):
    with pytest.raises(tm.QueryError, match=r"bins=hist.axis.StrCategory\(\[\], growth=True\)"):
        _ = events.hist("'a'", bins=(5, 0, 1)).value


@pytest.mark.parametrize("scheme", ["root", "roots", "http", "https", "nfs", "dcap"])
def test_a_port_at_which_nothing_listens(core, scheme):
    url = f"{scheme}://127.0.0.1:1//a.root"
    with pytest.raises(tm.SourceError, match="No program listens at this port: check the host"):
        _ = tm.dataset(url, tree="Events").num_entries


def test_addresses_with_slips(core):
    with pytest.raises(tm.SourceError, match=r"name cannot be resolved \(.*\): check the address"):
        _ = tm.dataset("root://no-host.invalid//a.root", tree="Events").num_entries
    with pytest.raises(tm.SourceError, match="the address names no bucket: write s3://bucket/key"):
        _ = tm.dataset("s3:///a.root", tree="Events").num_entries
    with pytest.raises(tm.UnsupportedError, match=r"did you mean root\?"):
        _ = tm.dataset("rooot://server//a.root", tree="Events").num_entries
