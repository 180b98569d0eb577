"""Products, tables of constants, random numbers: beside NumPy, whatever the workers are."""

import math

import awkward as ak
import numpy as np
import pytest
import treemill as tm
import uproot
from treemill.errors import QueryError
from treemill.session.api import connect

N = 4000
XS, YS = [-1.0, 0.5, 2.0, 3.5], [4.0, -1.0, 1e3, 2.0]
EDGES = [-2.0, 0.0, 0.0, 1.5]


@pytest.fixture(scope="module")
def truth():
    rng = np.random.default_rng(13)
    counts = rng.poisson(2.5, N)
    pt = ak.unflatten(rng.exponential(30, counts.sum()), counts)
    kind = ak.unflatten(rng.integers(-1, 5, counts.sum()), counts)
    x = np.where(rng.random(N) < 0.1, rng.choice([*XS, *EDGES, math.nan, math.inf], N), 0)
    x = np.where(x == 0, rng.normal(0, 2, N), x)
    return {"Jet": ak.zip({"pt": pt, "kind": kind}), "x": x, "i": rng.integers(-2, 6, N)}


@pytest.fixture(scope="module")
def path(truth, tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    for k, (start, stop) in enumerate([(0, 1500), (1500, 1501), (1501, N)]):
        with uproot.recreate(folder / f"{k}.root") as file:
            types = {"Jet": ak.type(truth["Jet"]).content, "x": "float64", "i": "int64"}
            file.mktree("t", types)
            for first in range(start, stop, 700):
                last = min(first + 700, stop)
                file["t"].extend({name: value[first:last] for name, value in truth.items()})
    return str(folder / "*.root")


@pytest.fixture(scope="module")
def node(path):
    return tm.dataset(path, tree="t").filter("True")


def values(node, text, **params):
    return tm.run(node.take({"v": text}, **params))["v"]


def test_products(node, truth):
    pt, kind = truth["Jet"].pt, truth["Jet"].kind
    assert ak.all(np.isclose(values(node, "prod(Jet.pt)"), ak.prod(pt, axis=1), rtol=1e-14))
    assert ak.all(values(node, "prod(Jet_kind)") == ak.prod(kind, axis=1))
    assert ak.all(values(node, "prod(Jet.pt > 10)") == ak.prod(pt > 10, axis=1))
    assert ak.all(
        values(node, "prod(1 + j.kind for j in Jet if j.pt > 20)")
        == ak.prod(1 + kind[pt > 20], axis=1)
    )
    assert values(node, "prod([2, 3, 7])").to_list() == [42] * N
    # What is missing counts as little as in a sum.
    found = values(node, "prod(only(j.pt, j.pt > 20) for j in Jet)")
    assert ak.all(np.isclose(found, ak.prod(pt[pt > 20], axis=1), rtol=1e-14))


def test_interpolation_is_numpys(node, truth):
    found = np.asarray(values(node, f"interp(x, {XS}, {YS})"))
    np.testing.assert_allclose(found, np.interp(truth["x"], XS, YS), rtol=1e-14)
    named = np.asarray(values(node, "interp(x, xs, ys)", params={"xs": XS, "ys": np.array(YS)}))
    np.testing.assert_array_equal(named, found)
    items = values(node, "interp(Jet.pt, [0, 10, 100], [1, 2.5, 0])")
    wanted = np.interp(ak.flatten(truth["Jet"].pt), [0, 10, 100], [1, 2.5, 0])
    np.testing.assert_allclose(ak.flatten(items), wanted, rtol=1e-14)
    for constant in (-3, 0.5, 1, 9, math.nan):
        text = "nan" if math.isnan(constant) else repr(constant)
        one = values(node, f"interp({text}, {XS}, {YS})")[0]
        np.testing.assert_allclose(one, np.interp(constant, XS, YS), rtol=1e-15)


@pytest.mark.parametrize("right", [False, True])
def test_bins_are_numpys(node, truth, right):
    found = values(node, f"digitize(x, {EDGES}, right={right})")
    assert found.to_list() == np.digitize(truth["x"], EDGES, right=right).tolist()
    found = values(
        node,
        f"digitize(j.pt, edges, right={right}) for j in Jet".join("[]"),
        params={"edges": (0, 10, 20)},
    )
    wanted = np.digitize(ak.flatten(truth["Jet"].pt), [0, 10, 20], right=right)
    assert ak.flatten(found).to_list() == wanted.tolist()
    assert values(node, f"digitize(10, [0, 10, 20], right={right})")[0] == (1 if right else 2)


def test_items_of_lists_of_constants(node, truth):
    table = [1.5, 2.5, 3.5, 4.5]
    wanted = [table[i] if 0 <= i < 4 else None for i in truth["i"]]
    for text in (f"{table}[i]", f"take({table}, i)"):
        assert values(node, text).to_list() == wanted
    assert values(node, "table[i]", params={"table": table}).to_list() == wanted
    items = values(node, "sf[Jet_kind]", params={"sf": [10, 20, 30, 40]})
    kinds = truth["Jet"].kind.to_list()
    assert items.to_list() == [[10 * k + 10 if 0 <= k < 4 else None for k in e] for e in kinds]
    in_loop = values(node, "sum(fill_missing([10, 20, 30, 40][j.kind], 0) for j in Jet)")
    assert in_loop.to_list() == [sum(10 * k + 10 for k in e if 0 <= k < 4) for e in kinds]
    assert values(node, "[1, 2, 3][-1] + [4, 5][0]").to_list() == [7] * N
    large = [2**64 - 1, 2**53 + 1, 0]
    found = values(node, f"{large}[clip(i, 0, 2)]").to_list()
    assert found == [large[k] for k in np.clip(truth["i"], 0, 2)]
    # A table's item decides as every number does.
    assert node.filter("[True, False, 1][clip(i, 0, 2)] == 1").count().value == int(
        (np.clip(truth["i"], 0, 2) != 1).sum()
    )


def test_lists_of_constants_by_name(node, truth):
    params = {"cuts": [10, 25.5, 40], "kinds": [0, 3], "places": [1, -1], "tags": ["a", "b"]}
    named = node.with_params(params)
    pt, kind = truth["Jet"].pt, truth["Jet"].kind
    assert ak.all(
        values(named, "sum(sum(Jet.pt > c) for c in cuts)")
        == sum(ak.sum(pt > c, axis=1) for c in params["cuts"])
    )
    assert values(named, "len(cuts) + max(cuts) + sum(kinds)").to_list() == [46.0] * N
    assert ak.all(values(named, "Jet_kind in kinds") == ((kind == 0) | (kind == 3)))
    assert ak.all(values(named, "Jet_kind not in kinds") == ((kind != 0) & (kind != 3)))
    assert values(named, "Jet_pt[places]").to_list() == values(named, "Jet_pt[[1, -1]]").to_list()
    assert values(named, "'a' in tags")[0]
    assert not values(named, "'c' in tags")[0]
    defined = node.define("edges", "[0, 10, 20]")
    assert ak.all(values(defined, "digitize(10, edges) + edges[1]") == 12)


def test_constants_of_numpy_are_params(node):
    params = {"a": np.int64(3), "b": np.float32(0.5), "c": np.array([1, 2]), "d": np.bool_(True)}
    assert values(node, "a + b + c[1] + d", params=params)[0] == 6.5


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("interp(x, [0, 1], [1, 2, 3])", "2 places and 3 values"),
        ("interp(x, [1, 0], [1, 2])", "numbers that ascend"),
        ("interp(x, [0, 0], [1, 2])", "numbers that ascend"),
        ("digitize(x, [0, nan])", "numbers that ascend"),
        ("digitize(x, Jet_pt)", "takes a list of constants"),
        ("digitize(x, [0, i])", "takes a list of constants"),
        ("digitize(x, [0, 1], right=i)", "right= is True or False"),
        ("take([1, 2], x)", "indexed by an integer, not a float"),
        ("[1, 2][5]", "outside of a list of 2"),
        ("random()", "random(seed=1) takes a seed"),
        ("random(3)", "takes keywords only, and gets 1"),
        ("normal(seed=i)", "a seed is a constant integer"),
        ("normal(sigma=3)", "takes no argument sigma="),
        ("prod(x)", "needs a list"),
    ],
)
def test_mistakes_say_what_to_write(node, text, words):
    with pytest.raises(QueryError) as error:
        tm.run(node.sum(text))
    assert words in str(error.value)


def test_params_that_are_no_constants(node):
    for wrong in ([], [1, [2]], [math.nan], [None], list(range(10_001))):
        with pytest.raises(QueryError):
            node.with_params({"p": wrong})


# Random numbers.


def splitmix(state, counter):
    """The state after a counter, as the core has it."""
    mask = (1 << 64) - 1
    x = (state + (counter + 1) * 0x9E3779B97F4A7C15) & mask
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & mask
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & mask
    return x ^ (x >> 31)


def uniform(seed, *counters):
    state = splitmix(0, seed)
    for counter in counters:
        state = splitmix(state, counter)
    return (state >> 11) * 2.0**-53


def test_random_numbers_are_those_of_their_counters(node, truth):
    found = np.asarray(values(node, "random(seed=5)"))
    assert found.tolist() == [uniform(5, entry) for entry in range(N)]
    items = values(node, "[random(seed=5) for j in Jet]").to_list()
    counts = ak.num(truth["Jet"]).to_list()
    assert items == [[uniform(5, e, k) for k in range(n)] for e, n in enumerate(counts)]
    # The places are those in the list after `in`, whatever conditions leave out.
    kept = values(node, "[random(seed=5) for j in Jet if j.pt > 30]").to_list()
    mask = (truth["Jet"].pt > 30).to_list()
    assert kept == [
        [v for v, k in zip(a, b, strict=True) if k] for a, b in zip(items, mask, strict=True)
    ]
    pairs = values(node, "[random(seed=-1) for a in Jet for b in Jet if a.pt > 30]").to_list()
    wanted = [
        [uniform((1 << 64) - 1, e, k, m) for k in range(n) if mask[e][k] for m in range(n)]
        for e, n in enumerate(counts)
    ]
    assert pairs == wanted
    # A condition draws for each pair, however early it could be decided.
    found = values(node, "[random(seed=9) for a in Jet for b in Jet if random(seed=9) < 0.3]")
    drawn = [
        [uniform(9, e, k, m) for k in range(n) for m in range(n)] for e, n in enumerate(counts)
    ]
    assert found.to_list() == [[v for v in event if v < 0.3] for event in drawn]


def test_random_numbers_are_the_same_whatever_the_workers(path):
    texts = ["random(seed=1)", "normal(seed=2)", "sum(j.pt * normal(seed=3) for j in Jet)"]
    dataset = tm.dataset(path, tree="t")
    booked = [dataset.filter("i > 0").take(text) for text in texts]
    found = []
    for workers, mode in [(1, "threads"), (3, "threads"), (2, "processes")]:
        with connect(workers=workers, mode=mode) as session:
            found.append(session.run(*booked, progress=False))
    one, three, processes = found
    np.testing.assert_array_equal(np.stack(one), np.stack(processes))
    for a, b in zip(one, three, strict=True):
        np.testing.assert_array_equal(a, b)
    some = dataset.select_entries(np.arange(1490, 1510))
    found = some.filter("i > 0").take(texts[0]).value
    numbers = dataset.filter("i > 0").take("entry_number").value
    inside = (numbers >= 1490) & (numbers < 1510)
    np.testing.assert_array_equal(found, np.asarray(one[0])[inside])
    assert set(dataset.arrays().fields) == {"Jet_pt", "Jet_kind", "x", "i", "nJet"}


def test_random_numbers_are_spread_as_they_should(node):
    u, v, z = (
        np.asarray(values(node, text))
        for text in ("random(seed=1)", "random(seed=2)", "normal(seed=1)")
    )
    assert abs(u.mean() - 0.5) < 5 / math.sqrt(12 * N)
    assert abs(np.corrcoef(u, v)[0, 1]) < 5 / math.sqrt(N)
    assert abs(z.mean()) < 5 / math.sqrt(N)
    assert abs(z.std() - 1) < 5 / math.sqrt(2 * N)
    # One seed, one number.
    assert values(node, "random(seed=1) - random(seed=1)").to_list() == [0.0] * N
