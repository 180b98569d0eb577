"""Datasets whose files differ: types, branches and their order, compression, entries."""

import awkward as ak
import numpy as np
import pyarrow as pa
import pytest
import treemill as tm
import uproot
from hypothesis import given
from hypothesis import strategies as st
from treemill.data.columns import column_of, kind_of, made
from treemill.data.common_type import cast, fitted, widest
from treemill.data.from_core import layout
from treemill.data.kinds import number

from tests.python.written import jagged, write
from tests.raising import raises

MODES = ("threads", "processes")


class Sums(tm.Selector):
    """Sums of the branches of its inputs."""

    def begin_worker(self, inputs):
        self.output["entries"] = 0
        for name in inputs["names"]:
            self.output[name] = 0.0

    def process(self, events):
        self.output["entries"] += len(events)
        for name in self.inputs["names"]:
            self.output[name] += float(ak.sum(events[name], axis=None))


@pytest.fixture
def selected(shared_session):
    def run(events, *names, mode="threads"):
        return shared_session(2, mode).run(Sums(), events, inputs={"names": names})

    return run


# Types.


@pytest.mark.parametrize(
    ("one", "other", "wide"),
    [
        *(("i4", "i8", "int64"), ("i1", "u1", "int16"), ("u4", "i4", "int64")),
        *(("f4", "f8", "float64"), ("i2", "f4", "float32"), ("i4", "f4", "float64")),
    ],
)
def test_numbers_become_what_holds_both(core, tmp_path, one, other, wide, selected):
    a = np.array([0, 1, 100], one)
    b = np.array([7, 120], other)
    first = write(tmp_path / "a.root", x=a, v=jagged([1], [], [2, 3], dtype=one))
    second = write(tmp_path / "b.root", x=b, v=jagged([4], [5], dtype=other))
    events = tm.dataset([first, second])
    arrays = events.arrays(["x", "v"])
    assert str(arrays.type) == f"5 * {{x: {wide}, v: var * {wide}}}"
    assert arrays.x.to_list() == [0, 1, 100, 7, 120]
    assert arrays.v.to_list() == [[1], [], [2, 3], [4], [5]]
    assert events.sum("x").value == 228
    assert events.filter("x > 1").sum("v").value == 14
    assert selected(events, "x", "v") == {"entries": 5, "x": 228, "v": 15}


@pytest.mark.parametrize(("one", "other"), [("i8", "f8"), ("u8", "i8"), ("?", "i4")])
def test_what_no_type_holds_is_refused_with_both_files(core, tmp_path, one, other):
    a = write(tmp_path / "a.root", x=np.zeros(1, one))
    b = write(tmp_path / "b.root", x=np.zeros(1, other))
    with pytest.raises(tm.UnsupportedError) as caught:
        tm.dataset([a, b]).arrays("x")
    assert a in str(caught.value)
    assert b in str(caught.value)
    assert caught.value.branch == "x"


def test_lists_beside_numbers_are_refused(core, tmp_path):
    a = write(tmp_path / "a.root", x=np.zeros(2, "f4"))
    b = write(tmp_path / "b.root", x=jagged([1], [2]))
    with raises(tm.UnsupportedError, about="b.root"):
        tm.dataset([a, b]).arrays("x")


NUMBERS = [f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)]
NUMBERS += ["float32", "float64"]


@given(st.lists(st.sampled_from(NUMBERS), min_size=1, max_size=4), st.data())
def test_the_widest_type_holds_every_value_exactly(dtypes, data):
    kinds = [number(dtype) for dtype in dtypes]
    wide = widest(kinds)
    assert wide == widest(kinds[::-1])
    if wide is None:
        return
    for dtype in map(np.dtype, dtypes):
        limits = np.finfo(dtype) if dtype.kind == "f" else np.iinfo(dtype)
        values = [limits.min, limits.max, 1]
        if dtype.kind != "f":
            values.append(data.draw(st.integers(int(limits.min), int(limits.max))))
        array = np.array(values, dtype)
        made = cast(column_of(array), wide)
        assert kind_of(made) == wide
        assert values_of(made) == array.tolist()


def values_of(column):
    return ak.to_list(layout(column))


def test_a_type_that_values_mostly_fit_refuses_the_others():
    both = fitted([number("int64"), number("float64")])
    assert both == number("float64")
    fits, not_quite = np.array([2**53, -(2**53)]), np.array([2**53 + 1])
    assert values_of(cast(column_of(fits), both)) == fits.tolist()
    with pytest.raises(ValueError, match="9007199254740993 is not in the range"):
        cast(column_of(not_quite), both)
    with pytest.raises(ValueError, match="18446744073709551615"):
        cast(column_of(np.array([2**64 - 1], "u8")), number("int64"))


def test_what_is_missing_need_not_fit():
    values = made(("option", ("bits", np.array([1], "u1"), 0, 2), np.array([3, 2**60]), 2))
    assert values_of(cast(values, number("float64").given(True))) == [3.0, None]
    with pytest.raises(ValueError, match="missing"):
        cast(values, number("float64"))


@pytest.mark.parametrize("dtypes", [("int8", None), (None, "uint16", "int8"), (None, "int8", "f4")])
def test_arrays_that_files_lack_are_missing(core, tmp_path, dtypes):
    wanted = []
    for place, dtype in enumerate(dtypes):
        with uproot.recreate(tmp_path / f"{place}.root") as file:
            values = {} if dtype is None else {"v": np.array([[1, 2], [3, 4]], dtype)}
            tree = file.mktree("t", {"e": "int64", **dict.fromkeys(values, (dtype, (2,)))})
            tree.extend({"e": np.arange(2), **values})
        wanted += [None, None] if dtype is None else [[1, 2], [3, 4]]
    events = tm.dataset(str(tmp_path / "*.root"), missing={"v": None})
    assert events.arrays("v")["v"].to_list() == wanted
    assert events.to_arrow("v")["v"].to_pylist() == wanted


def test_records_are_widened_member_by_member():
    a = column_of(
        pa.array(
            [[{"x": 1, "y": 2.0}], []],
            pa.list_(pa.struct([("x", pa.int32()), ("y", pa.float32())])),
        )
    )
    b = column_of(
        pa.array(
            [[{"y": 3.0, "x": 4}], [None]],
            pa.list_(pa.struct([("y", pa.float64()), ("x", pa.int64())])),
        )
    )
    wide = widest([kind_of(a), kind_of(b)])
    assert values_of(cast(a, wide)) == values_of(a)
    assert values_of(cast(b, wide)) == values_of(b) == [[{"y": 3.0, "x": 4}], [None]]
    other = column_of(ak.Array([{"x": 1}]))
    assert widest([kind_of(a).item, kind_of(other)]) is None


def test_automatic_axes_over_integers_and_floats(core, tmp_path):
    a = write(tmp_path / "a.root", x=np.arange(5, dtype="i4"))
    b = write(tmp_path / "b.root", x=np.array([0.5, 2.5]))
    for files in ([a, b], [b, a]):
        hist = tm.dataset(files).hist("x").value
        assert hist.sum() == 7
        assert hist.axes[0].traits.continuous


# Branches, order, compression, entries.


@pytest.fixture
def differing(core, tmp_path):
    """Three files: other order and number of branches, other compression, one without entries."""
    n = 40
    a = write(
        tmp_path / "a.root",
        "dir/sub/tree",
        compression=uproot.LZMA(3),
        x=np.arange(n, dtype="f4"),
        only_a=np.ones(n, "i4"),
        v=jagged(*([i] * (i % 3) for i in range(n))),
    )
    b = write(
        tmp_path / "b.root",
        "dir/sub/tree",
        v=jagged([1.0]),
        x=np.array([5], "f4"),
        compression=uproot.ZSTD(3),
    )
    empty = write(tmp_path / "c.root", "dir/sub/tree", x=np.zeros(0, "f4"), y=np.zeros(0, "f4"))
    return a, b, empty


def test_order_and_number_of_branches_may_differ(differing, selected):
    a, b, _ = differing
    events = tm.dataset([a, b], "dir/sub/tree")
    assert list(events.branches) == ["x", "only_a", "nv", "v"]
    assert events.arrays(["x", "v"])[-1].to_list() == {"x": 5.0, "v": [1.0]}
    assert events.sum("x").value == sum(range(40)) + 5
    for mode in MODES:
        assert selected(events, "x", mode=mode) == {"entries": 41, "x": sum(range(40)) + 5}


def test_a_branch_that_a_file_lacks_is_an_error_that_names_both(differing, selected):
    a, b, _ = differing
    events = tm.dataset([a, b], "dir/sub/tree")
    for ask in (
        lambda: events.arrays("only_a"),
        lambda: events.sum("only_a").value,
        lambda: selected(events, "only_a"),
        lambda: selected(events, "only_a", mode="processes"),
        lambda: tm.dataset([b, a], "dir/sub/tree").arrays("only_a"),
    ):
        with raises(tm.TreemillError, about="only_a") as caught:
            ask()
        assert b in str(caught.value)
        assert a not in str(caught.value)
    for ask in (lambda: events.arrays("only_a"), lambda: events.sum("only_a").value):
        with raises(tm.QueryError, said="other files have it: missing gives it"):
            ask()


@pytest.mark.parametrize("place", range(3))
def test_empty_trees_count_for_nothing_wherever_they_are(differing, place, selected):
    a, b, empty = differing
    files = [a, b]
    files.insert(place, empty)
    events = tm.dataset(files, "dir/sub/tree")
    assert events.num_entries == 41
    assert events.arrays("x").x[-1] == 5
    assert events.count().value == 41
    assert events.hist("x").value.sum() == 41
    for mode in MODES:
        assert selected(events, "x", mode=mode)["entries"] == 41


def test_nothing_but_empty_trees(differing, selected):
    events = tm.dataset([differing[2]] * 2, "dir/sub/tree")
    assert str(events.arrays().type) == "0 * {x: float32, y: float32}"
    assert events.count().value == 0
    assert events.hist("x", bins=(2, 0, 1)).value.sum() == 0
    assert events.mean("x").value is None
    assert selected(events, "x", mode="processes") == {"entries": 0, "x": 0}


# Defaults for branches that a file lacks.


@pytest.fixture
def lacking(core, tmp_path):
    """Two files: the second lacks `flag`, `x`, `v`, and `Jet_tag` beside `Jet_pt`."""
    a = write(
        tmp_path / "a.root",
        x=np.array([1, 2], "f4"),
        flag=np.array([True, False]),
        v=jagged([1, 2], [3]),
        Jet=ak.zip({"pt": jagged([30], [40, 50]), "tag": jagged([1], [2, 3], dtype="i4")}),
    )
    b = write(tmp_path / "b.root", Jet=ak.zip({"pt": jagged([60, 70], [])}), k=np.zeros(2, "i8"))
    return a, b


DEFAULTS = [
    ("x", -99.9, "float32", [np.float32(-99.9)] * 2),
    ("x", None, "?float32", [None, None]),
    ("x", float("nan"), "float32", None),
    ("flag", True, "bool", [True, True]),
    ("v", [], "var * float32", [[], []]),
    ("v", [1, 2.5], "var * float32", [[1, 2.5], [1, 2.5]]),
    ("v", None, "option[var * float32]", [None, None]),
    ("Jet_tag", 7, "var * int32", [[7, 7], []]),
    ("Jet_tag", [], "var * int32", [[], []]),
]


@pytest.mark.parametrize(("name", "default", "kind", "expected"), DEFAULTS)
def test_defaults_have_the_types_of_files_that_have_the_branch(
    lacking, name, default, kind, expected
):
    a, b = lacking
    own = tm.dataset(a, missing={name: default}).arrays(name)[name].to_list()
    for files, where in (([a, b], slice(2, 4)), ([b, a], slice(0, 2))):
        arrays = tm.dataset(files, missing={name: default}).arrays(name)
        assert str(arrays[name].type) == f"4 * {kind}"
        found = arrays[name][where].to_list()
        assert found == expected if expected is not None else np.isnan(found).all()
        assert [v for v in arrays[name].to_list() if v in own or v != v][: len(own)]


def test_defaults_by_glob_and_of_branches_that_no_file_has(lacking):
    events = tm.dataset(lacking[::-1], missing={"nowhere": 3, "f*": False, "J*": 0, "*": None})
    arrays = events.arrays(["flag", "nowhere", "Jet_tag", "x"])
    assert str(arrays.type) == (
        "4 * {flag: bool, nowhere: int64, Jet_tag: var * int32, x: ?float32}"
    )
    with raises(tm.QueryError, about="ever"):
        events.arrays("ever")


@pytest.mark.parametrize(
    ("name", "default"),
    [("x", "a"), ("x", 1e300), ("x", True), ("flag", 0), ("v", 1.0), ("Jet_tag", 0.5), ("v", "a")],
)
def test_defaults_that_are_no_values_of_the_type_are_refused(lacking, name, default):
    with pytest.raises(tm.QueryError, match=f"default.*{name}|{name}.*default"):
        tm.dataset(lacking, missing={name: default}).arrays(name)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("order", [1, -1])
def test_selectors_see_defaults(lacking, mode, order, selected):
    missing = {"x": None, "Jet_tag": 7, "fl*": True}
    events = tm.dataset(lacking[::order], missing=missing)
    names = ["x", "Jet_tag"] + ["flag"] * (order > 0)  # a glob: of the first file's branches
    found = selected(events, *names, mode=mode)
    expected = {"entries": 4, "x": 3, "Jet_tag": 1 + 2 + 3 + 7 + 7}
    if order > 0:
        expected["flag"] = 1 + 2
    assert found == expected


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("order", [1, -1])
def test_queries_see_defaults(lacking, mode, order, shared_session):
    missing = {"x": None, "Jet_tag": 7, "fl*": True, "v": [5, 6], "nowhere": 2}
    events = tm.dataset(lacking[::order], missing=missing)
    session = shared_session(2, mode)
    found = session.run(
        events.count(),
        events.filter("flag").count(),
        events.filter("x < 2").count(),  # a missing value passes no filter
        events.hist("x", bins=(3, 0, 3)),
        events.sum("Jet_tag[Jet_pt > 35]"),
        events.sum("sum(j.pt for j in Jet if j.tag == 7)"),
        events.sum("v"),
        events.sum("nowhere * len(v)"),
    )
    assert found[3].sum(flow=True) == 2
    assert [*found[:3], *found[4:]] == [4, 3, 1, 2 + 3 + 7 + 7, 130, 1 + 2 + 3 + 2 * 11, 2 * 7]


def test_queries_say_what_is_wrong_with_a_default(lacking):
    with raises(tm.QueryError, said="default of x b root b root default of x"):
        _ = tm.dataset(lacking, missing={"x": "a"}).sum("x").value
    with raises(tm.QueryError, about="ever"):
        _ = tm.dataset(lacking, missing={"*": 0}).sum("ever").value


def test_missing_is_checked(core, tmp_path):
    path = write(tmp_path / "a.root", x=np.zeros(1))
    for bad in ("ignore", ["x"], {1: 2}, {"x": object()}, {"x": ["a"]}):
        with raises(tm.QueryError, said="missing default"):
            tm.dataset(path, missing=bad)


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("mode", MODES)
def test_rows_of_files_with_other_types(core, tmp_path, mode, order, shared_session):
    files = [
        write(
            tmp_path / "a.root", x=np.arange(5, dtype="i4"), y=np.array([1, 2], "i4").repeat(3)[:5]
        ),
        write(tmp_path / "b.root", y=np.array([3, 4], "i8"), x=np.array([0.5, 2.5])),
    ]
    values = [[0, 1, 2, 3, 4], [0.5, 2.5]]
    events = tm.dataset(files[::order])
    session = shared_session(1, mode)
    arrays = session.run(events.filter("x >= 0").take(["x", "y"]))
    assert str(arrays.type) == "7 * {x: float64, y: int64}"
    assert arrays.x.to_list() == [x for each in values[::order] for x in each]


def test_snapshots_have_one_type(core, tmp_path):
    a = write(tmp_path / "a.root", x=np.arange(5, dtype="i4"), y=np.zeros(5))
    b = write(tmp_path / "b.root", x=np.array([0.5, 2.5]), y=np.zeros(2, bool))
    events = tm.dataset([a, b])
    with raises(tm.UnsupportedError, said="y has different types bool and float64; write float y"):
        tm.run(events.snapshot(tmp_path / "out.parquet", ["x", "y"]))
    assert not (tmp_path / "out.parquet").exists()
    made = tm.dataset(tm.run(events.snapshot(tmp_path / "out.root", ["x"])).path)
    assert made.arrays(["x"]).x.to_list() == [0, 1, 2, 3, 4, 0.5, 2.5]
