"""Arrays in memory as columns of a dataset: by `define`, and as friends."""

import awkward as ak
import numpy as np
import pytest
import treemill as tm
import uproot
from treemill.errors import QueryError, UnsupportedError
from treemill.session.api import connect

from tests.python.written import write
from tests.raising import raises

KINDS = {
    "big-endian": (np.arange(3).astype(">i4"), [0, 1, 2]),
    "big-endian lists": (np.arange(6).reshape(3, 2).astype(">f8"), [[0, 1], [2, 3], [4, 5]]),
    "masked": (np.ma.array([1, 2, 3], mask=[0, 1, 0]), [1, None, 3]),
    "objects": (
        np.array([np.array([1.5]), np.array([]), np.array([2.5, 3])], object),
        [[1.5], [], [2.5, 3]],
    ),
    "texts": (np.array(["a", "", "bc"], object), ["a", "", "bc"]),
    "lists": ([[1.5], [], [2.5, 3]], [[1.5], [], [2.5, 3]]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_numpys_arrays_of_any_kind(kind, tmp_path):
    """As uproot takes and gives them."""
    given, expected = KINDS[kind]
    events = tm.dataset(write(tmp_path / "t.root", x=np.arange(3)))
    assert events.define("w", given).arrays("w").w.to_list() == expected
    assert events.add_friend({"w": given}, alias="f").arrays("f.w")["f.w"].to_list() == expected


@pytest.mark.parametrize("dtype", ["c8", "g"])
def test_numbers_that_no_column_has(dtype, tmp_path):
    events = tm.dataset(write(tmp_path / "t.root", x=np.arange(3)))
    with raises(UnsupportedError, said="w holds which no column can hold"):
        events.define("w", np.zeros(3, dtype))


SIZES = (300, 1, 0, 700)
N = sum(SIZES)


@pytest.fixture(scope="module")
def truth():
    rng = np.random.default_rng(17)
    counts = rng.poisson(2, N)
    pt = ak.unflatten(rng.exponential(30, counts.sum()), counts)
    return {
        "Jet": ak.zip({"pt": pt}),
        "x": rng.normal(0, 1, N),
        "w": rng.normal(1, 0.2, N),
        "score": ak.unflatten(rng.random(counts.sum()), counts),
        "free": ak.unflatten(rng.random(3 * N), rng.multinomial(3 * N, [1 / N] * N)),
    }


@pytest.fixture(scope="module")
def dataset(truth, tmp_path_factory):
    folder = tmp_path_factory.mktemp("arrays")
    start = 0
    for k, size in enumerate(SIZES):
        part = slice(start, start + size)
        with uproot.recreate(folder / f"{k}.root") as file:
            file.mktree("t", {"Jet": ak.type(truth["Jet"]).content, "x": "float64"})
            if size:
                file["t"].extend({"Jet": truth["Jet"][part], "x": truth["x"][part]})
        start += size
    return tm.dataset(str(folder / "*.root"), tree="t")


@pytest.mark.parametrize("make", [np.asarray, list, ak.Array])
def test_an_array_is_a_column(dataset, truth, make):
    events = dataset.define("w", make(truth["w"]))
    w, x = truth["w"], truth["x"]
    assert events.sum("w * x").value == pytest.approx((w * x).sum(), rel=1e-12)
    assert events.filter("w > 1").count().value == (w > 1).sum()
    values = events.filter("x > 0").hist("x", bins=(10, 0, 3), weight="w").value.values()
    np.testing.assert_allclose(values, np.histogram(x, 10, (0, 3), weights=w)[0])
    np.testing.assert_array_equal(events.arrays(["w"])["w"], w)
    np.testing.assert_array_equal(events.filter("x > 0").take("w").value, w[x > 0])
    with raises(QueryError, said="there is no column w") as error:
        tm.run(dataset.sum("w"))
    assert error.value.column == "w"


def test_lists_go_with_the_datasets_own(dataset, truth):
    events = dataset.define("Jet_score", truth["score"]).define("free", truth["free"])
    assert events.sum("sum(Jet_score)").value == pytest.approx(ak.sum(truth["score"]))
    good = truth["Jet"].pt[truth["score"] > 0.5]
    assert events.sum("sum(Jet_pt[Jet_score > 0.5])").value == pytest.approx(ak.sum(good))
    assert events.sum("len(free)").value == 3 * N
    assert events.sum("max(free)").value == pytest.approx(ak.sum(ak.max(truth["free"], axis=1)))


def test_a_friend_of_arrays(dataset, truth):
    columns = {
        "w": truth["w"],
        "x": -truth["x"],
        "free_a": truth["free"],
        "free_b": truth["free"] * 2,
    }
    events = dataset.add_friend(columns, alias="nn")
    assert events.sum("nn.w + w").value == pytest.approx(2 * truth["w"].sum())
    assert events.sum("nn.x + x").value == pytest.approx(0, abs=1e-9)
    assert events.sum("sum(nn.free_b[nn.free_a > 0.5])").value == pytest.approx(
        2 * ak.sum(truth["free"][truth["free"] > 0.5])
    )
    with raises(QueryError, said="there is a friend nn already"):
        events.add_friend(columns, alias="nn")
    both = events.add_friend({"w": np.ones(N)}, alias="other")
    assert both.sum("nn.w + other.w").value == pytest.approx(truth["w"].sum() + N)
    with pytest.raises(QueryError):
        tm.run(both.sum("w"))


@pytest.mark.parametrize("kind", ["threads", "processes"])
def test_whatever_the_workers(dataset, truth, kind):
    events = dataset.define("w", truth["w"]).add_friend({"s": truth["score"]}, alias="nn")
    with connect(workers=2, mode=kind) as session:
        w, s, n = session.run(
            events.take("w"),
            events.sum("sum(nn.s)"),
            events.filter("w > 1").count(),
            progress=False,
        )
    np.testing.assert_array_equal(w, truth["w"])
    assert s == pytest.approx(ak.sum(truth["score"]))
    assert n == (truth["w"] > 1).sum()


def test_selected_entries_keep_their_values(dataset, truth):
    numbers = np.array([5, 299, 300, 301, 900])
    for events in (
        dataset.define("w", truth["w"]).select_entries(numbers),
        dataset.select_entries(numbers).define("w", truth["w"]),
    ):
        np.testing.assert_array_equal(events.take("w").value, truth["w"][numbers])


def test_a_later_array_counts(dataset, truth):
    events = dataset.define("x", truth["w"])
    assert events.sum("x").value == pytest.approx(truth["w"].sum())
    assert events.define("x", np.ones(N)).sum("x").value == N


def test_values_that_are_missing(dataset):
    array = ak.Array([None if i % 3 == 0 else i for i in range(N)])
    events = dataset.define("m", array)
    assert events.filter("m >= 0").count().value == N - len(range(0, N, 3))
    assert events.sum("fill_missing(m, 0)").value == sum(i for i in range(N) if i % 3)


def test_what_does_not_fit(dataset, truth):
    with raises(QueryError, said="1001 entries and the array w has 7 all"):
        tm.run(dataset.define("w", np.ones(7)).count())
    with raises(QueryError, said="one length, and these differ: a 3, b 4"):
        dataset.add_friend({"a": np.ones(3), "b": np.ones(4)}, alias="nn")
    with raises(QueryError, about="alias"):
        dataset.add_friend({"a": np.ones(N)})
    with raises(QueryError, said="by entry number"):
        dataset.add_friend({"a": np.ones(N)}, alias="nn", index="x")
    with raises(QueryError, about="not a name for a column"):
        dataset.define("a-b", np.ones(N))
    with raises(QueryError, said="before filters"):
        dataset.filter("x > 0").define("w", truth["w"])
    for wrong in (
        np.ones(N, dtype=complex),
        [object()] * N,
        {"a": 1},
        np.ones(N, dtype="float16"),
    ):
        with pytest.raises((UnsupportedError, QueryError)):
            dataset.define("w", wrong)


def test_a_number_is_the_same_one_for_all_entries(dataset):
    assert dataset.define("w", 3).arrays("w").w.to_list() == [3] * N
