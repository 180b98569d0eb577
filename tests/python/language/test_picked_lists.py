"""Lists that are picked from lists of lists, beside other lists: item by item with a list of as
many items, or an error. An item never takes the value of the object that its list belongs to."""

import operator
from itertools import product

import awkward as ak
import numpy as np
import pytest
import treemill as tm
import uproot
from treemill import QueryError

OPERATORS = {"*": operator.mul, "-": operator.sub, ">": operator.gt}


def longest(lists):
    return max(lists, key=len, default=[])


def kept(lists, numbers):
    return [inner for inner, number in zip(lists, numbers, strict=True) if number > 2]


# What is written, and what it means of one event's values.
LISTS = {
    "y": lambda e: e["y"],
    "p": lambda e: e["p"],
    "y[:1]": lambda e: e["y"][:1],
    "y[y > 2]": lambda e: [v for v in e["y"] if v > 2],
    "x[0]": lambda e: [*e["x"][:1], []][0],
    "x[1]": lambda e: [*e["x"][1:2], []][0],
    "x[-1]": lambda e: [*e["x"][-1:], []][0],
    "x[n]": lambda e: [*e["x"][e["n"] :], []][0],
    "w[0]": lambda e: [*e["w"][:1], []][0],
    "m[0]": lambda e: [*e["m"][:1], []][0],
    "first(x)": lambda e: [*e["x"][:1], []][0],
    "last(m)": lambda e: [*e["m"][-1:], []][0],
    "max(x, key=lambda v: len(v))": lambda e: longest(e["x"]),
    "sorted(x, key=lambda v: len(v))[0]": lambda e: [*sorted(e["x"], key=len), []][0],
    "x[y > 2][0]": lambda e: [*kept(e["x"], e["y"]), []][0],
    "[v for v in x][0]": lambda e: [*e["x"][:1], []][0],
    "sum(x)": lambda e: [sum(v) for v in e["x"]],
    "flatten(x)": lambda e: [v for inner in e["x"] for v in inner],
}
NESTED = {
    "x": lambda e: e["x"],
    "w": lambda e: e["w"],
    "m": lambda e: e["m"],
    "x[:1]": lambda e: e["x"][:1],
    "x[[0]]": lambda e: e["x"][:1],
    "x[y > 2]": lambda e: kept(e["x"], e["y"]),
    "x[p > 2]": lambda e: kept(e["x"], e["p"]),
    "sorted(x, key=lambda v: len(v))": lambda e: sorted(e["x"], key=len),
    "[v * 2 for v in x]": lambda e: [[2 * v for v in inner] for inner in e["x"]],
}
ALL = LISTS | NESTED
# Others that pair the same two things.
FORMS = {
    "({a})[({b}) > 2]": lambda a, b: [v for v, m in paired(a, b, lambda v, m: (v, m > 2)) if m],
    "where(({a}) > 2, {a}, {b})": lambda a, b: paired(a, b, lambda v, w: v if v > 2 else w),
    "[v for v in ({a}) * ({b})]": lambda a, b: paired(a, b, operator.mul),
}
PAIRS = [(a, b) for a, b in product(ALL, ALL) if not {a, b} <= {"y", "p", "x", "w", "m"}]


def paired(a, b, of):
    """Item by item. Raises ValueError if the lists have different lengths."""
    if isinstance(a, list) and isinstance(b, list):
        return [paired(x, y, of) for x, y in zip(a, b, strict=True)]
    if isinstance(a, list):
        return [paired(x, b, of) for x in a]
    return [paired(a, y, of) for y in b] if isinstance(b, list) else of(a, b)


@pytest.fixture(scope="module")
def events(core, tmp_path_factory):
    """A collection: `y` has a number, `x` and `w` a list for each object, `m` one for each pair.
    `p` is as long as the collection, without being of it."""
    rng = np.random.default_rng(5)
    rows = []
    for entry in range(40):
        size = int(rng.integers(1, 4))
        inner = [int(n) for n in rng.integers(0, 4, size)]

        def values(n):
            return rng.integers(0, 5, n).astype(float).tolist()

        rows.append(
            {
                "n": entry % 2,
                "y": values(size),
                "p": values(size),
                "x": [values(n) for n in inner],
                "w": [values(n) for n in inner],
                "m": [values(size) for _ in range(size)],
            }
        )
    path = tmp_path_factory.mktemp("picked") / "events.root"
    all_of = ak.Array(rows)
    made = ak.zip({name: all_of[name] for name in "yxwm"}, depth_limit=2)
    with uproot.recreate(path) as file:
        file.mkrntuple("Events", ak.Array({"n": all_of.n, "p": all_of.p, "c": made}))
    dataset = tm.dataset(path)
    for name in "yxwm":
        dataset = dataset.define(name, f"c.{name}")
    return dataset, rows


def found(events, text):
    """What it is in each event, or None if it is refused."""
    try:
        return events.define("found", text).arrays(["found"]).found.to_list()
    except QueryError:
        return None


def check(events, text, meaning):
    dataset, rows = events
    got = found(dataset, text)
    if got is None:
        return False
    try:
        assert got == [meaning(row) for row in rows], text
    except ValueError:
        pytest.fail(f"{text}: lists of different lengths gave {got[:3]}")
    return True


@pytest.mark.parametrize("text", ALL)
def test_alone(events, text):
    assert check(events, f"({text}) * 1", ALL[text])


@pytest.mark.parametrize("a", ALL)
def test_pairs(events, a):
    for number, (first, b) in enumerate(PAIRS):
        if first != a:
            continue
        word = list(OPERATORS)[number % len(OPERATORS)]
        of = OPERATORS[word]
        check(events, f"({a}) {word} ({b})", lambda e, b=b, of=of: paired(ALL[a](e), ALL[b](e), of))


@pytest.mark.parametrize("form", FORMS)
def test_other_pairs(events, form):
    for a, b in product(LISTS, LISTS):
        text = form.format(a=a, b=b)
        check(events, text, lambda e, a=a, b=b: FORMS[form](LISTS[a](e), LISTS[b](e)))


def test_what_goes_together(events):
    """Lists that are the same, and what is selected in the same way."""
    both = [
        ("x[0]", "x[0]"),
        ("x[:1]", "y[:1]"),
        ("x[y > 2]", "y[y > 2]"),
        ("x[p > 2]", "x[p > 2]"),
        ("[v * 2 for v in x]", "x"),
        ("[v * 2 for v in x]", "y"),
        ("sum(x)", "y"),
        ("x", "y"),
    ]
    for a, b in both:
        assert check(
            events, f"({a}) * ({b})", lambda e, a=a, b=b: paired(ALL[a](e), ALL[b](e), operator.mul)
        )


def test_whole_lists_inside_of_loops(events):
    """In a loop a list is all of it, for each of the loop's values."""
    dataset, _ = events
    assert check(
        events,
        "[[a * sum(y) for a in v] for v in x]",
        lambda e: [[a * sum(e["y"]) for a in v] for v in e["x"]],
    )
    assert check(
        events,
        "[sum(v) * sum([b for b in y]) for v in x]",
        lambda e: [sum(v) * sum(e["y"]) for v in e["x"]],
    )
    for text in ("[v * y for v in x]", "[y[v > 1] for v in x]", "[v + x for v in x]"):
        with pytest.raises(QueryError):
            dataset.define("found", text).arrays(["found"])
