"""Columns whose names are no words: in expressions, globs and loops; names that mean two things."""

import awkward as ak
import numpy as np
import pytest
import treemill as tm
import uproot
from treemill.errors import QueryError
from treemill.language import function_registry as registry

from tests.corpus_files import corpus
from tests.raising import raises

ENTRIES = 7


@pytest.fixture(scope="module")
def odd(core, tmp_path_factory):
    path = tmp_path_factory.mktemp("odd") / "odd.root"
    values = np.arange(1.0, ENTRIES + 1)
    numbers = {"a": 1, "a#0": 10, "x": 100, "y": 30, "x-y": 7, "µ_pt": 3, "for": 5, "x[2]": 11}
    counts = np.arange(ENTRIES) % 3
    items = ak.unflatten(np.arange(counts.sum()) * 1.0, counts)
    columns = {name: values * factor for name, factor in numbers.items()}
    with uproot.recreate(path) as file:
        types = {name: column.dtype for name, column in columns.items()}
        types["R"] = ak.type(ak.zip({"p.x": items, "p.y": items, "q#0": items})).content
        tree = file.mktree("Events", types, field_name=lambda outer, inner: f"{outer}.{inner}")
        records = ak.zip({"p.x": items, "p.y": items * 2, "q#0": items + 1})
        tree.extend({**columns, "R": records})
    return tm.dataset(path), columns, items


def test_columns_in_backticks(odd, tmp_path):
    dataset, columns, _ = odd
    for name, values in columns.items():
        assert dataset.sum(f"`{name}`").value == sum(values), name
        assert dataset.filter(f"`{name}` > 20").count().value == np.sum(values > 20)
        node = dataset.define(f"`{name}`", f"`{name}` * 2")
        assert node.sum(f"`{name}` + 0").value == 2 * sum(values)
        varied = dataset.vary(name, {"up": f"`{name}` * 3"}).sum(f"`{name}`").value
        assert varied[f"{name}:up"] == 3 * varied["nominal"] == 3 * sum(values)
    assert dataset.sum("µ_pt").value == sum(columns["µ_pt"])
    assert dataset.hist("`x-y`", bins=(5, 0, 50)).value.sum(flow=True) == ENTRIES
    rows = dataset.filter("a > 0").arrays(["`a#0`", "`x-y`", "x - y"])
    assert rows.fields == ["a#0", "x-y", "x - y"]
    np.testing.assert_array_equal(rows["x-y"], columns["x-y"])
    assert dataset.arrays(["`x-y`", "x - y"]).fields == ["x-y", "x - y"]
    renamed = dataset.arrays({"one": "`x-y`", "other": "`a#0`"})
    np.testing.assert_array_equal(renamed["one"], columns["x-y"])
    np.testing.assert_array_equal(renamed["other"], columns["a#0"])


def test_members_with_names_of_statements(tmp_path):
    records = ak.Array([[{"from": 1.0, "class": 2.0}], [], [{"from": 3.0, "class": 4.0}]])
    with uproot.recreate(tmp_path / "links.root") as file:
        file.mkrntuple("Events", {"links": records})
    dataset = tm.dataset(tmp_path / "links.root")
    assert ak.to_list(dataset.arrays({"x": "links.from + links.class"})["x"]) == [[3.0], [], [7.0]]
    assert dataset.sum("sum(l.from for l in links if l.class > 2)").value == 3.0


def test_globs_read_the_columns_that_they_find(odd, tmp_path):
    dataset, columns, items = odd
    node = dataset.filter("a > 0")
    rows = node.arrays("*")
    for name, values in columns.items():
        np.testing.assert_array_equal(rows[name], values, err_msg=name)
    assert ak.all(rows["R.q#0"] == items + 1)
    path = str(tmp_path / "all.parquet")
    node.snapshot(path, ["*"]).value  # noqa: B018
    written = ak.from_parquet(path)
    for name, values in columns.items():
        np.testing.assert_array_equal(written[name], values, err_msg=name)
    # Once, where it is listed by itself, too.
    assert node.arrays(["x*", "`x-y`", "a*"]).fields == ["x", "x[2]", "x-y", "a", "a#0"]
    assert node.arrays(["y", "*y"]).fields == ["y", "x-y", "R.p.y"]


def test_what_means_two_things_is_refused(odd):
    dataset, _, _ = odd
    for text, message in {
        "x-y": r"x-y is an expression and a column's name: write `x-y` for the column",
        "a#0": "in backticks: `a#0`",
        "x[2]": r"write `x\[2\]`",
    }.items():
        with pytest.raises(QueryError, match=message):
            dataset.filter("a > 0").arrays([text])
        with pytest.raises(QueryError, match=message):
            dataset.sum(text).value  # noqa: B018
    assert dataset.sum("(x-y)").value == dataset.sum("x - y").value
    with raises(QueryError, said="did you mean a#0"):
        dataset.sum("`a#1`").value  # noqa: B018


def test_members_with_dots(odd):
    dataset, _, items = odd
    for text in ("R.p.y", "[r.p.y for r in R]", "[r.`p.y` for r in R]", "R[:9].p.y"):
        assert dataset.sum(text).value == ak.sum(items * 2), text
    assert dataset.sum("[r.`q#0` for r in R]").value == ak.sum(items + 1)
    assert dataset.sum("R[0].p.y").value == ak.sum(ak.firsts(items) * 2)
    assert dataset.sum("max(R, key=lambda r: r.p.x).p.y").value == ak.sum(ak.max(items, axis=1) * 2)
    node = dataset.define("R.p.y", "R.p.y * 10")
    for text in ("R.p.y", "[r.p.y for r in R]", "[r.`p.y` for r in R]"):
        assert node.sum(text).value == ak.sum(items * 20), text
    with raises(QueryError, said="R p has no w"):
        dataset.sum("[r.p.w for r in R]").value  # noqa: B018


def test_names_that_nothing_can_be_called(odd):
    dataset, _, _ = odd
    for name in ("for", "true", "x y", "", "`a`b`", "x-y", 3):
        with raises(QueryError, said="or in backticks"):
            dataset.define(name, "1")
    assert dataset.define("`for`", "2.0").sum("`for`").value == 2 * ENTRIES


def test_names_that_would_hide_others_are_refused(odd):
    dataset, columns, _ = odd
    for booked in (dataset.sum("x", params={"x": 1}), dataset.with_params({"`x-y`": 1}).sum("x")):
        with raises(QueryError, said="the constant x hides the branch"):
            booked.value  # noqa: B018
    assert dataset.with_params({"cut": 2.0}).with_params({"cut": 3.0}).sum("cut").value == 21.0
    assert dataset.define("x", "2.0").sum("x").value == 2 * ENTRIES
    tm.function("hypot(a, b)", "a + b")
    try:
        booked = dataset.sum("hypot(x, y)")
        with raises(QueryError, said="hypot … is a function of the language"):
            booked.value  # noqa: B018
    finally:
        registry.remove("hypot")
    assert dataset.sum("hypot(x, y)").value == pytest.approx(
        np.sum(np.hypot(columns["x"], columns["y"]))
    )


@pytest.mark.parametrize("name", ["x" * 90_000, "Muon" + ".x" * 95, "`" + "#" * 90_000 + "`"])
def test_huge_names_are_refused_at_once(odd, name):
    with pytest.raises(QueryError):
        odd[0].sum(name).value  # noqa: B018
    with pytest.raises(QueryError):
        odd[0].vary(name, {"up": "1"}).sum("x").value  # noqa: B018


@pytest.mark.parametrize(
    ("file", "tree"),
    [
        ("uproot-issue431b.root", "E"),
        ("uproot-issue187.root", None),
        ("test_nested_structs_rntuple_v1-0-0-0.root", None),
    ],
)
def test_a_glob_takes_what_it_can(core, file, tree):
    """Groups, containers and records are left to their members."""
    dataset = tm.dataset(corpus(file), tree=tree)
    rows = dataset.filter("1 > 0").arrays("*")
    assert len(rows) == dataset.num_entries
    assert len(rows.fields) >= 4


class Record(tm.Selector):
    """A split collection as the chunks have it."""

    def process(self, chunk):
        return {"rows": ak.to_list(chunk[self.inputs["name"]]), "fields": [chunk.fields]}


def test_a_split_collection_is_a_record_in_selectors_as_in_arrays(core):
    dataset = tm.dataset(corpus("uproot-issue431b.root"), tree="E")
    for name in ("hits", "mc_hits"):
        expected = dataset.arrays([name], stop=10)[name]
        with tm.connect(workers=1, mode="threads") as session:
            found = session.run(
                Record(), dataset.select_entries(range(10)), inputs={"name": name}, progress=False
            )
        assert found["rows"] == ak.to_list(expected)
        assert f"{name}.id" in found["fields"][0]
