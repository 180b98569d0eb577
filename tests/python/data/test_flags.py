"""Bools are a byte each in files, in numpy and in queries, and a bit each in Arrow: they come right
in all of these."""

import awkward as ak
import numpy as np
import pyarrow as pa
import pytest
import treemill as tm

from tests.python.written import jagged, write

N = 2000
FLAGS = np.arange(N) % 7 < 3
LISTS = [[i % 2 == 0] * (i % 3) for i in range(N)]


@pytest.fixture
def path(core, tmp_path):
    return write(
        tmp_path / "f.root",
        b=FLAGS,
        i=np.arange(N, dtype="i4"),
        v=jagged(*LISTS, dtype=np.bool_),
    )


def test_as_arrays(path):
    events = tm.dataset(path)
    for start, stop in ((0, N), (3, 1001), (5, 5)):
        arrays = events.arrays(["b", "v"], start, stop)
        assert arrays.b.layout.form == ak.forms.NumpyForm("bool")
        assert arrays.b.to_list() == FLAGS[start:stop].tolist()
        assert arrays.v.to_list() == LISTS[start:stop]
        found = events.to_numpy("b", start, stop)["b"]
        assert found.dtype == np.bool_
        assert found.tolist() == FLAGS[start:stop].tolist()


def test_in_arrow_they_are_bits(path):
    table = tm.dataset(path).to_arrow(["b", "v"])
    assert table.schema.field("b").type == pa.bool_()
    assert table["b"].to_pylist() == FLAGS.tolist()


def test_columns_that_were_read_for_numpy_are_bits_in_arrow_too(path):
    columns = tm.dataset(path)._read("b", 0, 10, flags=True)
    assert columns.columns[0][0].flags
    assert columns.to_arrow()["b"].to_pylist() == FLAGS[:10].tolist()


def test_of_several_files(path, tmp_path):
    other = write(tmp_path / "g.root", b=~FLAGS[:5], i=np.zeros(5, "i4"))
    found = tm.dataset([path, other]).arrays("b").b
    assert found.layout.form == ak.forms.NumpyForm("bool")
    assert found.to_list() == [*FLAGS.tolist(), *(~FLAGS[:5]).tolist()]


def test_of_selected_entries(path):
    found = tm.dataset(path).select_entries([1, 2, 9]).arrays("b").b
    assert found.to_list() == FLAGS[[1, 2, 9]].tolist()


def test_in_queries(path):
    events = tm.dataset(path)
    number = np.arange(N)
    few = events.filter("i % 500 == 3")  # behind it only some entries of b are read
    some, total, late, taken, lists = tm.run(
        events.filter("b").count(),
        events.filter("!b").sum("i"),
        few.filter("b").sum("i"),
        few.take("b"),
        events.sum("sum(v)"),
    )
    assert some == FLAGS.sum()
    assert total == number[~FLAGS].sum()
    chosen = number % 500 == 3
    assert late == number[chosen & FLAGS].sum()
    assert taken.tolist() == FLAGS[chosen].tolist()
    assert taken.dtype == np.bool_
    assert lists == sum(map(sum, LISTS))


def test_a_byte_that_is_neither_0_nor_1_is_true(core, tmp_path):
    strange = np.array([0, 1, 2, 0, 255], dtype="u1").view(np.bool_)
    path = write(tmp_path / "s.root", b=strange)
    raw = open(path, "rb").read()  # noqa: SIM115
    assert b"\x00\x01\x02\x00\xff" in raw, "uproot writes them as they are"
    events = tm.dataset(path)
    found = np.asarray(events.arrays("b").b)
    assert found.view("u1").tolist() == [0, 1, 1, 0, 1]
    assert events.filter("b").count().value == 3
    assert events.to_arrow("b")["b"].to_pylist() == [False, True, True, False, True]
