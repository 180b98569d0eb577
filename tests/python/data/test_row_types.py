"""Rows of files that differ: values that only some may lack, types that are not the same."""

import awkward as ak
import numpy as np
import pyarrow.feather
import pyarrow.parquet
import pytest
import treemill as tm
import uproot

from tests.python.written import jagged, settled, write

FORMATS = {"parquet": pyarrow.parquet.read_table, "feather": pyarrow.feather.read_table}


@pytest.fixture(scope="module")
def folder(core, tmp_path_factory):
    return tmp_path_factory.mktemp("row_types")


@pytest.fixture(scope="module")
def differing(folder):
    """One file without z, s, i and k, one with them."""
    x = np.arange(2.0)
    more = {"z": x + 10, "i": np.array([7, -8], "i4"), "s": ak.Array(["a", "bc"])}
    lists = jagged([1, 2], [3])
    return [
        write(folder / "without.root", x=x, A=lists),
        write(folder / "with.root", x=x + 2, A=lists, **more),
    ]


def lists(found):
    return found.tolist() if isinstance(found, np.ndarray) else found.to_list()


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("mode", ["threads", "processes"])
def test_what_some_files_lack_is_missing_whichever_comes_first(
    differing, folder, order, mode, shared_session
):
    files = differing[::order]
    events = tm.dataset(files, missing={"z": None, "i": None, "s": None})
    columns = ["x", "z", "i", "s"]
    kept = events.filter("x != 1").define("twice", "z * 2").define("beside", "A + z")
    bookings = {
        "arrays": kept.take([*columns, "twice", "beside"]),
        "z": kept.take("z"),
        "s": kept.take("s"),
        **{k: kept.snapshot(folder / f"{mode}{order}.{k}", [*columns, "beside"]) for k in FORMATS},
    }
    session = shared_session(2, mode)
    query = session.submit(*bookings.values())
    found = dict(zip(bookings, query.result(), strict=True))

    wanted = events.arrays(columns)
    wanted = {
        name: [v for v, x in zip(wanted[name].to_list(), wanted["x"], strict=True) if x != 1]
        for name in columns
    }
    wanted["twice"] = [None if z is None else 2 * z for z in wanted["z"]]
    items = [[1, 2], [1, 2], [3]] if order == 1 else [[1, 2], [3], [1, 2]]
    wanted["beside"] = [
        [None if z is None else a + z for a in each]
        for each, z in zip(items, wanted["z"], strict=True)
    ]
    assert {name: found["arrays"][name].to_list() for name in wanted} == wanted
    assert lists(found["z"]) == wanted["z"]
    assert lists(found["s"]) == wanted["s"]
    for kind, read in FORMATS.items():
        table = read(found[kind].path)
        assert table.to_pydict() == {name: wanted[name] for name in table.column_names}


def test_types_do_not_go_by_what_passes(differing):
    """The file that lacks z, of which nothing passes, counts like any other."""
    events = tm.dataset(differing, missing={"z": None})
    assert lists(events.filter("x >= 2").take("z").value) == [10.0, 11.0]
    assert str(events.filter("x >= 2").arrays(["z"]).type) == "2 * {z: ?float64}"


@pytest.mark.parametrize("order", [1, -1])
def test_types_that_differ_are_one_where_the_values_fit(folder, order):
    one = write(
        folder / "ints.root",
        x=np.array([1, 2], "i4"),
        big=np.array([1, 2**53]),
        j=jagged([1], [2, 3], dtype=np.int32),
    )
    two = write(
        folder / "floats.root",
        x=np.array([0.5, -1.0]),
        big=np.array([0.5, 1.5]),
        j=jagged([0.5], []),
    )
    events = tm.dataset([one, two][::order])
    halves = [[2.0, 4.0], [1.0, -2.0]][::order]
    twice = [*halves[0], *halves[1]]
    parts = [[[2.0], [4.0, 6.0]], [[1.0], []]][::order]
    path = folder / f"both{order}.root"
    skim = events.snapshot(path, {"twice": "x*2", "x": "x"})
    found = tm.run(events.take("x*2"), events.take("j*2"), skim)
    assert lists(found[0]) == twice
    assert lists(found[1]) == [*parts[0], *parts[1]]
    with uproot.open(path) as file:
        assert next(iter(file.values()))["twice"].array().to_list() == twice
    message = r"big\*2.* does not hold a value of it exactly.*write float\("
    with pytest.raises(tm.UnsupportedError, match=message):
        tm.run(events.take("big*2 + 1"))


def test_lists_of_one_counter_in_one_file_and_of_two_in_another(folder):
    """What has the same lists in some files only gets no counter in common."""
    shared = ak.zip({"a": jagged([1], [2, 3]), "b": jagged([4], [5, 6])})
    with uproot.recreate(folder / "shared.root") as file:
        file.mktree("t", {"J": shared.type.content}).extend({"J": shared})
    own = write(folder / "own.root", J_a=jagged([1], []), J_b=jagged([1], [2]))
    for files in ([folder / "shared.root", own], [own, folder / "shared.root"]):
        path = (
            tm.dataset(files, tree="t").snapshot(folder / "joined.root", ["J_a", "J_b"]).value.path
        )
        with uproot.open(path) as file:
            tree = next(iter(file.values()))
            assert ak.num(tree["J_a"].array()).to_list() != ak.num(tree["J_b"].array()).to_list()


@pytest.mark.parametrize("mode", ["threads", "processes"])
def test_types_of_files_without_entries_do_not_count(folder, mode, shared_session):
    """However many files of several samples a worker takes at once."""
    large = np.array([2**53 + 1, 3])
    integers = write(folder / "integers.root", x=large)
    empty = write(folder / "empty.root", x=np.zeros(0), A=jagged())
    floats = write(folder / "floats.root", x=np.array([0.5]))
    settled(integers, empty, floats)
    files = {"a": [floats], "b": [empty, integers, empty], "c": [empty, floats], "d": [empty]}
    fs = tm.fileset(files, tree="t")
    session = shared_session(1, mode)
    taken = session.run(fs.take("x"))
    session.run(fs.snapshot(f"{folder}/{mode}_{{dataset}}.root", ["x"]))
    wanted = {"a": np.array([0.5]), "b": large, "c": np.array([0.5]), "d": np.zeros(0)}
    for sample, values in wanted.items():
        assert (taken[sample].dtype, taken[sample].tolist()) == (values.dtype, values.tolist())
        with uproot.open(f"{folder}/{mode}_{sample}.root") as file:
            stored = file["t/x"].array(library="np")
        assert (stored.dtype, stored.tolist()) == (values.dtype, values.tolist())
