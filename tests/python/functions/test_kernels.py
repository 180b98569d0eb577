"""`treemill.kernel`: numba's functions in expressions beside NumPy's formulas, their types and
errors, threads, processes, copies of them. Random lists are in tests/oracle."""

import math
import pickle
import sys
from collections import namedtuple

import awkward as ak
import numpy as np
import pytest
import treemill as tm
from treemill.errors import MissingPackageError, QueryError

from tests.raising import raises
from tests.tutorials import programs, write_demo

pytest.importorskip("numba")

Pair = namedtuple("Pair", ["total", "is_high"])


@tm.kernel
def transverse(pt, phi, met, met_phi):
    return math.sqrt(2 * pt * met * (1 - math.cos(phi - met_phi)))


@tm.kernel("float64(float64[:], float64)")
def scalar_sum(pt, least):
    found = 0.0
    for x in pt:
        if x > least:
            found += x
    return found


@tm.kernel
def hostile(x):
    if x > 60:
        raise ValueError("too high")
    return x


def test_of_numbers_it_is_called_item_by_item(events, truth):
    defined = events.define(
        "mt", "transverse(Muon.pt, Muon.phi, MET_pt, MET_phi)", {"transverse": transverse}
    )
    angle = np.cos(ak.values_astype(truth.Muon_phi, float) - ak.values_astype(truth.MET_phi, float))
    wide = ak.values_astype(truth.Muon_pt, float) * ak.values_astype(truth.MET_pt, float)
    expected = np.sqrt(2 * wide * (1 - angle))
    assert defined.sum("mt").value == pytest.approx(float(ak.sum(expected)), rel=1e-12)
    found = defined.arrays(["mt"]).mt
    assert ak.all(ak.num(found) == ak.num(expected))


def test_of_lists_it_is_called_with_whole_ones(events):
    found = events.define("ht", "f(Jet.pt, 30)", {"f": scalar_sum}).sum("ht").value
    assert found == pytest.approx(events.sum("sum(Jet.pt[Jet.pt > 30])").value, rel=1e-12)


@pytest.mark.slow
def test_a_list_is_whole_beside_each_item_of_another(events):
    @tm.kernel("int64(float64[:], float64)")
    def near(others, eta):
        n = 0
        for other in others:
            n += abs(other - eta) < 1
        return n

    found = events.define("near", "near(Jet.eta, Muon.eta)", {"near": near})
    beside = "sum(sum(abs(j.eta - m.eta) < 1 for j in Jet) for m in Muon)"
    assert found.sum("sum(near)").value == events.sum(beside).value > 0


def test_missing_values_stay_missing(events):
    first = events.define("first", "f(Jet.pt[0])", {"f": tm.kernel(abs_of)})
    assert first.count().value == events.num_entries
    assert (
        first.filter("is_missing(first)").count().value == events.filter("nJet == 0").count().value
    )
    assert first.sum("first").value == pytest.approx(events.sum("Jet.pt[0]").value)
    # Of lists, the items that are there.
    some = events.define("s", "f([j.pt for j in Jet if j.pt > 50], MET_pt)", {"f": scalar_sum})
    beside = "sum([j.pt for j in Jet if j.pt > 50 and j.pt > MET_pt])"
    assert some.sum("s").value == pytest.approx(events.sum(beside).value)


def test_the_documents_programs_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_demo(tmp_path)
    names = {}
    for program in programs("kernels"):
        exec(program, names)
    events = names["events"]
    assert names["total"].value == events.sum("sum(Jet.pt[Jet.pt > MET_pt])").value
    nearest = names["isolated"].define("x", "min([m.isolation for m in Muon])")
    beside = "min([min([j.deltaR(m) for j in Jet], default=10.0) for m in Muon])"
    expected = events.define("x", beside)
    assert nearest.mean("x").value == pytest.approx(expected.mean("x").value, rel=1e-6)
    assert names["node"].sum("len(central_pt) + len(forward_pt)").value == events.sum("nJet").value
    assert names["masses"].sum("sum(m)").value > 0
    assert names["best"].value == pytest.approx(events.sum("sum(Jet.pt)").value)


def abs_of(x):
    return abs(x)


@pytest.mark.slow
def test_types_are_those_of_the_columns(events):
    kinds = {"is_high": "MET_pt > 30", "n": "nJet", "x": "MET_pt"}
    same = tm.kernel(lambda x: x)
    for name, text in kinds.items():
        found = events.define(name, f"same({text})", {"same": same})
        expected = events.define(name, text)
        assert found.sum(name).value == expected.sum(name).value
        assert type(found.sum(name).value) is type(expected.sum(name).value)


def test_filters_and_records(events):
    good = tm.kernel(lambda x: x > 30)
    assert (
        events.filter(good, columns="MET_pt").count().value
        == events.filter("MET_pt > 30").count().value
    )

    @tm.kernel
    def both(x, y):
        return Pair(x + y, x > y)

    pairs = events.define("pair", "both(MET_pt, nJet)", {"both": both})
    assert pairs.sum("pair.total").value == pytest.approx(events.sum("MET_pt + nJet").value)
    kept = pairs.filter("pair.is_high").count().value
    assert kept == events.filter("MET_pt > nJet").count().value


def test_constants_and_infinities(events):
    divided = tm.kernel(lambda x, y: x / y)
    params = {"divided": divided}
    assert events.define("c", "divided(3.0, 2.0)", params).max("c").value == 1.5
    histogram = events.define("i", "divided(1.0, nMuon * 0.0)", params).hist("i", bins=(2, 0, 1))
    assert histogram.value.values(flow=True)[-1] == events.num_entries


@pytest.mark.slow
def test_columns_of_its_parameters_names(events):
    both = tm.kernel(lambda MET_pt, nJet: MET_pt * nJet)  # noqa: N803
    assert events.define("x", both).sum("x").value == events.sum("MET_pt * nJet").value


def test_variations_reach_it(events):
    varied = events.vary("Jet_pt", {"up": "Jet_pt * 1.1"})
    found = varied.define("ht", "f(Jet.pt, 30)", {"f": scalar_sum}).sum("ht").value
    expected = varied.sum("sum(Jet.pt[Jet.pt > 30])").value
    assert found["Jet_pt:up"] == pytest.approx(expected["Jet_pt:up"])
    assert found["Jet_pt:up"] > found["nominal"]


def test_exceptions_name_the_line_and_the_values(events):
    with pytest.raises(QueryError) as raised:
        events.define("x", hostile, columns="MET_pt").sum("x").value  # noqa: B018
    said = str(raised.value)
    assert "hostile: ValueError: too high (test_kernels.py, line" in said
    assert 'raise ValueError("too high")' in said
    assert "for x = " in said


def test_what_cannot_be_compiled_is_shown(events):
    @tm.kernel
    def wrong(x):
        return x.pt + undefined  # noqa: F821

    with raises(QueryError, said="numba cannot compile it") as raised:
        events.define("x", wrong, columns="MET_pt").sum("x").value  # noqa: B018
    assert "test_kernels.py" in str(raised.value)
    assert "whole lists" not in str(raised.value)
    with raises(QueryError, said="For whole lists name the types float64"):
        events.define("x", tm.kernel(lambda x: x.sum()), columns="Jet.pt").sum("x").value  # noqa: B018


@pytest.mark.parametrize(
    ("given", "column", "said"),
    [
        (scalar_sum, ["MET_pt", "30"], "takes a list as pt"),
        (tm.kernel("float64(int64)")(lambda x: x), "MET_pt", "takes an integer as x"),
        (tm.kernel("int64(float64)")(lambda x: x * 1.5), "MET_pt", "says that it returns int64"),
        (tm.kernel(lambda x: [x]), "MET_pt", "returns a list"),
        (tm.kernel(lambda x: None if x > 3 else x), "MET_pt", "returns None"),
        (tm.kernel(lambda x, y: x), "MET_pt", "takes 2, and gets 1"),
        (tm.kernel("float64(float64, float64)")(lambda x: x), "MET_pt", "its signature has 2"),
        (tm.kernel(lambda x: x + 1j), "MET_pt", "not complex128"),
        (tm.kernel(lambda x: np.uint64(x)), "nJet", r"returns uint64: convert it, np\.int64"),
        (tm.kernel(lambda x: 1.0), "'word'", "no strings"),
    ],
)
def test_what_does_not_fit_is_said(events, given, column, said):
    with pytest.raises(QueryError, match=said):
        events.define("x", given, columns=column).sum("x").value  # noqa: B018


@pytest.mark.parametrize("value", [1, 2.5, True])
def test_a_kernel_may_give_what_is_written_in_it(events, value):
    constant = tm.kernel(lambda x: value)
    assert events.define("k", constant, columns="MET_pt").mean("k").value == value


def test_columns_are_not_for_writing(events):
    @tm.kernel("float64(float64[:])")
    def writes(x):
        x[0] = 1
        return x[0]

    with raises(QueryError, said="Cannot modify readonly array"):
        events.define("x", writes, columns="Jet.pt").sum("x").value  # noqa: B018


def test_there_is_nothing_beyond_the_end_of_a_list(events):
    first = tm.kernel("float64(float64[:])")(lambda x: x[0])
    with raises(QueryError, said="IndexError: out of bounds"):
        events.define("x", first, columns="Muon.pt").sum("x").value  # noqa: B018
    some = events.filter("nMuon > 0").define("x", first, columns="Muon.pt")
    assert some.sum("x").value == pytest.approx(events.sum("Muon.pt[0]").value)


def test_signatures_are_checked_at_once():
    with raises(QueryError, said="no signature"):
        tm.kernel("a number to a number")
    with raises(QueryError, said="a kernel is a function"):
        tm.kernel(3)


def test_without_numba_the_extra_is_named(monkeypatch):
    from treemill.functions import numba_code

    monkeypatch.setitem(sys.modules, "numba", None)
    numba_code._numba.cache_clear()
    try:
        with raises(MissingPackageError, said="treemill kernels"):
            tm.kernel(lambda x: x)
        with raises(MissingPackageError, said="treemill kernels"):
            tm.kernel("float64(float64)")
    finally:
        numba_code._numba.cache_clear()


def test_copies_are_equal():
    import cloudpickle

    copy = pickle.loads(cloudpickle.dumps(scalar_sum))
    assert copy.identity == scalar_sum.identity
    assert copy([1.0, 40.0], 30) == 40.0
    assert tm.kernel(lambda x: x + 1).identity != tm.kernel(lambda x: x + 2).identity


def test_threads_and_processes_agree(events):
    factor = 1.5
    scaled = tm.kernel(lambda x: x * factor)
    booked = events.define("x", scaled, columns="MET_pt").sum("x")
    expected = factor * events.sum("MET_pt").value
    for mode in ("threads", "processes"):
        with tm.connect(workers=2, mode=mode) as session:
            assert session.run(booked) == pytest.approx(expected)


@pytest.mark.slow
def test_processes_tell_of_exceptions(events):
    booked = events.define("x", hostile, columns="MET_pt").sum("x")
    with (
        tm.connect(workers=2, mode="processes") as session,
        raises(QueryError, said="too high"),
    ):
        session.run(booked)
