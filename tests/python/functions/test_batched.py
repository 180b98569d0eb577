"""Python's callables over batches in expressions: what they get, what they may give, their errors,
threads and processes."""

import functools
import itertools
import pickle
import subprocess
import sys
import threading

import awkward as ak
import numpy as np
import pytest
import treemill as tm
from treemill.errors import QueryError
from treemill.language.function_registry import lasting

from tests.raising import raises


def hard(pt, met):
    return pt[pt > met]


def broken(x):
    middle = np.asarray(x) * 2
    raise KeyError("no such bin")
    return middle


def test_numbers_arrive_as_numpy_and_lists_as_awkward(events):
    seen = {}

    def look(n, pt, met, is_high, word, factor):
        seen.update(n=n, pt=pt, met=met, is_high=is_high, word=word, factor=factor)
        return met * factor

    given = ["nJet", "Jet.pt", "MET_pt", "MET_pt > 30", "'up'", "2.5"]
    found = events.define("x", look, columns=given).sum("x").value
    assert found == pytest.approx(2.5 * events.sum("MET_pt").value)
    assert [seen[name].dtype for name in ("n", "met", "is_high")] == [int, float, bool]
    assert isinstance(seen["pt"], ak.Array)
    assert str(seen["pt"].type).endswith("var * float64")
    assert (seen["word"], seen["factor"]) == ("up", 2.5)


def test_numpys_own_functions_are_callables(events):
    found = events.define("x", np.log1p, columns="MET_pt").sum("x").value
    assert found == pytest.approx(events.sum("log1p(MET_pt)").value)


def read_once(factor):
    @functools.cache
    def read():
        return factor

    return lambda x: x * read()


def of_numpy(factor):
    each = np.frompyfunc(lambda x: x * factor, 1, 1)
    return lambda x: each(x).astype(float)


def by_order(factor):
    found = {"first": 1, "second": 2} if factor == 1 else {"second": 2, "first": 1}
    return lambda x: x * next(iter(found.values()))


class Scaled:
    def __init__(self, factor):
        self.factor = factor
        self.lock = threading.Lock()

    def __getstate__(self):
        return {}

    def __call__(self, x):
        return x * self.factor


class Opaque:
    """Has no digest of what it gives: that is in an object which cannot be pickled."""

    def __init__(self, factor):
        self.values = (factor for _ in itertools.count())

    def __getstate__(self):
        return {}

    def __setstate__(self, state):
        self.values = itertools.repeat(1)

    def __call__(self, x):
        return x * next(self.values)


class Wrapping:
    """Looks like the function that it calls."""

    def __init__(self, factor):
        functools.update_wrapper(self, hard)
        self.factor = factor

    def __call__(self, x):
        return x * self.factor


class Private:
    __slots__ = ("__factor",)

    def __init__(self, factor):
        self.__factor = factor

    def __getstate__(self):
        return None

    def __call__(self, x):
        return x * self.__factor


class Numbers(set):
    pass


class WithFactor(functools.partial):
    def __call__(self, x):
        return self.func(x) * self.factor


def of_set(factor):
    numbers = Numbers()
    numbers.factor = factor
    return lambda x: x * numbers.factor


def of_partial(factor):
    made = WithFactor(np.abs)
    made.factor = factor
    return made


def of_bound(factor):
    return Wrapping(factor).__call__


MADE = [read_once, of_numpy, by_order, Scaled, Opaque, Wrapping, Private, of_set, of_partial]


@pytest.mark.parametrize("make", [*MADE, of_bound])
def test_functions_of_the_same_code_are_told_apart(events, make):
    """By all that they reach: one is not called in the other's place."""
    sums = [events.define("y", make(n), columns="nJet").sum("y") for n in (1, 2)]
    with tm.connect(workers=2) as session:
        one, two = session.run(*sums, progress=False)
    assert two == 2 * one
    given = make(3)
    assert tm.batched(given).identity == tm.batched(given).identity


def test_what_is_not_pickled_is_of_one_process():
    """Two objects with a lock are told apart, and another process has none of the locks."""
    one, other = tm.batched(Scaled(3)).identity, tm.batched(Scaled(3)).identity
    assert one != other
    assert lasting(one) == lasting(other)
    assert lasting(one) != lasting(tm.batched(Wrapping(3)).identity)
    table, another = Answering(lock=threading.Lock()), Answering(lock=threading.Lock())
    assert tm.batched(table.times).identity == tm.batched(table.times).identity
    assert tm.batched(table.times).identity != tm.batched(another.times).identity


class Answering:
    """Has any attribute that its table has; asked for others it raises what the table raises."""

    def __init__(self, **table):
        self.__dict__["table"] = table

    def __getattr__(self, name):
        return self.__dict__["table"][name]

    def times(self, x):
        return x * self.factor


def test_objects_that_answer_with_any_exception_are_used(events):
    table = Answering(factor=2)
    found = events.define("y", lambda x: x * table.factor, columns="nJet").sum("y").value
    assert found == 2 * events.sum("nJet").value


def test_lists_come_back(events):
    defined = events.define("hard", hard, columns=["Jet.pt", "MET_pt"])
    assert defined.sum("sum(hard)").value == events.sum("sum(Jet.pt[Jet.pt > MET_pt])").value
    same = "len(hard) == len(Jet.pt[Jet.pt > MET_pt])"
    assert defined.filter(same).count().value == events.num_entries
    # Beside a list as long, and cut together with it.
    twice = events.define("twice", lambda pt: 2 * pt, columns="Jet.pt")
    assert twice.sum("sum(twice * Jet.pt)").value == pytest.approx(
        events.sum("sum(2 * Jet.pt * Jet.pt)").value
    )
    with raises(QueryError, about="hard"):
        defined.sum("sum(hard * Jet.pt)").value  # noqa: B018


def test_lists_come_back_for_the_entries_that_pass(events, truth):
    defined = events.filter("MET_pt > 40").define("hard", hard, columns=["Jet.pt", "MET_pt"])
    kept = truth[truth.MET_pt > 40]
    expected = kept.Jet_pt[kept.Jet_pt > kept.MET_pt]
    found = defined.arrays(["hard"]).hard
    assert len(found) == len(expected)
    assert ak.all(found == expected)


def test_several_at_once(events):
    def both(pt, eta):
        return 2 * pt, ak.sum(eta, axis=1)

    defined = events.define(["twice", "total"], both, columns=["Jet.pt", "Jet.eta"])
    assert defined.sum("sum(twice)").value == pytest.approx(2 * events.sum("sum(Jet.pt)").value)
    assert defined.sum("total").value == pytest.approx(events.sum("sum(Jet.eta)").value)
    assert not [name for name in defined._names() if "," in name]


@pytest.mark.parametrize(
    "function",
    [
        lambda pt, eta: {"x": pt, "y": eta},
        lambda pt, eta: ak.zip({"x": pt, "y": eta}),
        lambda pt, eta: ak.Array({"x": pt, "y": eta}),
    ],
)
def test_records_have_members(events, function):
    defined = events.define("r", "f(Jet.pt, Jet.eta)", {"f": function})
    expected = events.sum("sum(Jet.pt * Jet.eta)").value
    assert defined.sum("sum(r.x * r.y)").value == pytest.approx(expected)


def test_a_collection_that_is_given_is_one(events):
    def zipped(pt, eta, phi, mass):
        return ak.zip({"pt": pt, "eta": eta, "phi": phi, "mass": mass})

    given = ["Muon.pt", "Muon.eta", "Muon.phi", "Muon.mass"]
    defined = events.define("lepton", zipped, columns=given)
    text = "sum((a + b).mass for a, b in combinations({}, 2))"
    found, expected = defined.sum(text.format("lepton")), events.sum(text.format("Muon"))
    assert found.value == pytest.approx(expected.value)
    assert found.value > 0


def test_records_arrive(events):
    seen = {}

    def look(jets, met, event):
        seen.update(jets=jets, met=met, event=event)
        return ak.sum(jets.pt * jets.eta, axis=1) + met

    given = [{"pt": "Jet.pt", "eta": "Jet.eta"}, "MET_pt", {"phi": "MET_phi", "n": "nJet"}]
    found = events.define("x", look, columns=given).sum("x").value
    assert found == pytest.approx(events.sum("sum(Jet.pt * Jet.eta) + MET_pt").value)
    assert str(seen["jets"].type).endswith("var * {pt: float64, eta: float64}")
    assert str(seen["event"].type).endswith("{phi: float64, n: int64}")


def test_filters(events):
    found = events.filter(lambda met: met > 30, columns="MET_pt").count().value
    assert found == events.filter("MET_pt > 30").count().value
    found = events.filter("f(Jet.pt)", params={"f": lambda pt: ak.num(pt) > 2}).count().value
    assert found == events.filter("nJet > 2").count().value


def test_variations_reach_them(events):
    varied = events.vary("Jet_pt", {"up": "Jet_pt * 1.1"})
    found = varied.define("hard", hard, columns=["Jet.pt", "MET_pt"]).sum("sum(hard)").value
    expected = varied.sum("sum(Jet.pt[Jet.pt > MET_pt])").value
    assert found["nominal"] == pytest.approx(expected["nominal"])
    assert found["Jet_pt:up"] == pytest.approx(expected["Jet_pt:up"])
    assert found["Jet_pt:up"] > found["nominal"]
    # One may be what varies a column, too.
    varied = events.with_params({"f": lambda pt: pt * 1.1}).vary("Jet_pt", {"up": "f(Jet_pt)"})
    assert varied.sum("sum(Jet_pt)").value["Jet_pt:up"] == pytest.approx(
        1.1 * events.sum("sum(Jet_pt)").value
    )


def test_missing_values_are_left_out(events):
    seen = []

    def note(x):
        seen.extend(x.min(initial=1, keepdims=True))
        return x + 1

    defined = events.define("x", "f(Jet.pt[0])", {"f": tm.batched(note, returns="float64")})
    n = events.filter("nJet > 0").count().value
    assert defined.sum("x").value == pytest.approx(events.sum("Jet.pt[0]").value + n)
    assert min(seen) > 0


def test_they_are_not_called_for_nothing(events):
    def least(pt, eta):
        assert pt.min() > 0
        return pt * eta

    given = tm.batched(least, returns="float64")
    none = events.define("x", "f(Jet.pt[99], 1.5)", {"f": given})
    assert none.sum("x").value == 0
    assert none.filter("not is_missing(x)").count().value == 0


def test_errors_have_the_users_line(events):
    given = tm.batched(broken, returns="float64")
    with pytest.raises(QueryError) as raised:
        events.define("x", given, columns="MET_pt").sum("x").value  # noqa: B018
    said = str(raised.value)
    assert "broken: KeyError: 'no such bin' (test_batched.py, line" in said
    assert 'raise KeyError("no such bin")' in said


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (lambda x: x[:2] if len(x) else x, "2 values for"),
        (lambda x: (x, x), "it gives a tuple"),
        (lambda x: x.astype(str), "is not known"),
        (lambda x: x[0], "a call without entries raised IndexError"),
        (lambda x: x if len(x) else x.astype(int), "has floats, but its type says integers"),
        (lambda x: ak.mask(x, x > 30), "missing values: fill them"),
        (lambda x: np.ma.masked_less(x, 30), r"missing values: fill them, numpy\.ma"),
        (lambda x: ak.mask(x[:, np.newaxis], x > 30), "missing values: fill them"),
        (
            lambda x: np.stack([x, x], 1) if len(x) else x,
            "a list for each entry, but its type says one",
        ),
        (lambda x: np.zeros((len(x), 2, 2)), "3 dimensions"),
        (lambda x: {}, "it gives nothing"),
        (lambda x: x + 1j, "is not known"),
    ],
)
def test_results_that_do_not_fit_are_refused(events, function, said):
    with pytest.raises(QueryError, match=said):
        events.define("x", function, columns="MET_pt").sum("x").value  # noqa: B018


def test_types_that_are_said(events):
    first = tm.batched(lambda pt: ak.fill_none(ak.firsts(pt), -1), returns="float64")
    found = events.define("x", first, columns="Jet.pt").sum("x").value
    assert found == pytest.approx(events.sum("Jet.pt[0] if nJet > 0 else -1.0").value)
    several = tm.batched(
        lambda pt: {"n": ak.num(pt), "high": pt[pt > 50]},
        returns={"n": "int64", "high": "float64[:]"},
    )
    defined = events.define("r", several, columns="Jet.pt")
    assert defined.sum("r.n").value == events.sum("nJet").value
    assert defined.sum("len(r.high)").value == events.sum("sum(Jet.pt > 50)").value
    for wrong in ("a number", {"x": "list"}, {}):
        with raises(QueryError, about="returns"):
            tm.batched(np.sqrt, returns=wrong)


def test_definitions_that_make_no_sense(events):
    with raises(QueryError, about="columns"):
        events.define("x", max)
    with raises(QueryError, said="two or more columns"):
        events.define(["x"], hard)
    with raises(QueryError, said="several names"):
        events.define(["x", "y"], "MET_pt")
    with raises(QueryError, said="it gave one where 2 are wanted"):
        events.define(["x", "y"], np.sqrt, columns="MET_pt").sum("x").value  # noqa: B018


def test_copies_are_equal():
    import cloudpickle

    given = tm.batched(hard, returns="float64[:]")
    copy = pickle.loads(cloudpickle.dumps(given))
    assert copy.identity == given.identity
    assert copy(np.array([1.0, 3.0]), 2).tolist() == [3.0]


def test_many_data_sets(paths):
    each = tm.fileset({"a": f"{paths[0]}:Events", "b": f"{paths[2]}:Events"})
    found = each.define("hard", hard, columns=["Jet.pt", "MET_pt"]).sum("len(hard)").value
    assert dict(found) == dict(each.sum("sum(Jet.pt > MET_pt)").value)


def test_checkpoints_know_the_code(events, tmp_path):
    def booked(factor):
        return events.define("x", lambda met: met * factor, columns="MET_pt").sum("x")

    with tm.connect(workers=1) as session:
        first = session.run(booked(2), checkpoint=tmp_path / "kept")
        assert session.run(booked(2), checkpoint=tmp_path / "kept") == first
        with raises(QueryError, said="it is of another run"):
            session.run(booked(3), checkpoint=tmp_path / "kept")


LOCKED = """
import sys, threading
import treemill as tm

class Lookup:
    def __init__(self):
        self.table, self.lock = {{"a": 2}}, threading.Lock()

    def __getstate__(self):
        return {{"table": self.table}}

    def __setstate__(self, state):
        self.__init__()

    def __call__(self, x):
        with self.lock:
            return x * self.table["a"]

events = tm.dataset({path!r}, tree="Events")
with tm.connect(workers=1) as session:
    booked = events.define("y", Lookup(), columns="nJet").sum("y")
    print(session.run(booked, checkpoint={kept!r}, progress=False))
"""


def test_checkpoints_of_functions_with_locks_go_on(paths, tmp_path):
    """Of another process, which has another lock."""
    program = LOCKED.format(path=str(paths[0]), kept=str(tmp_path / "kept"))
    command = [sys.executable, "-c", program]
    found = [subprocess.run(command, capture_output=True, text=True, check=True) for _ in range(2)]
    assert found[0].stdout == found[1].stdout


def test_snapshots(events, tmp_path):
    defined = events.define("hard", hard, columns=["Jet.pt", "MET_pt"])
    written = defined.snapshot(str(tmp_path / "skim.root"), ["hard"]).value
    read = tm.dataset(written.path, tree=written.tree).arrays(["hard"]).hard
    assert ak.all(read == defined.arrays(["hard"]).hard)


def test_processes(events):
    least = 25.0
    defined = events.define("hard", lambda pt: pt[pt > least], columns="Jet.pt")
    given = tm.batched(broken, returns="float64")
    failing = events.define("x", given, columns="MET_pt").sum("x")
    with tm.connect(workers=2, mode="processes") as session:
        found = session.run(defined.sum("sum(hard)"), defined.sum("len(hard)"))
        with raises(QueryError, said="no such bin"):
            session.run(failing)
    expected = tm.run(events.sum("sum(Jet.pt[Jet.pt > 25])"), events.sum("sum(Jet.pt > 25)"))
    assert found == pytest.approx(expected)
