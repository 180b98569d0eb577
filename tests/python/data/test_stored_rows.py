"""Tables in files of parts: a large one is written and read in slices, which are together what it
was."""

import awkward as ak
import numpy as np
import pytest
from treemill.data import rows
from treemill.data.columns import Table, column_of
from treemill.data.from_core import layout
from treemill.data.rows import Store

N = 1000
COUNTS = np.arange(N) % 7
COLUMNS = {
    "numbers": np.arange(N, dtype="i4"),
    "lists": ak.unflatten(np.arange(COUNTS.sum(), dtype="f8"), COUNTS),
    "texts": ak.Array(["x" * n for n in COUNTS]),
    "some": ak.Array([None if n == 3 else [float(n)] * n for n in COUNTS]),
    "arrays": np.arange(6 * N, dtype="f4").reshape(N, 3, 2),
    "flags": COUNTS > 2,
}


def values(table):
    return {name: ak.to_list(layout(column)) for name, column in table.columns.items()}


@pytest.fixture
def table(core):
    return Table({name: column_of(array) for name, array in COLUMNS.items()})


@pytest.mark.parametrize("part", [1, 0.3, 0.001])
def test_a_large_table_is_written_and_read_in_slices(table, tmp_path, monkeypatch, part):
    monkeypatch.setattr(rows, "_SLICE_BYTES", int(part * table.nbytes))
    store = Store(str(tmp_path), "target")
    first, second = store.add(table), store.add(table)
    store.close()
    for each in (second, first):
        tables = list(each.tables())
        assert len(tables) == max(int(1 / part), 1) == each.slices
        assert max(map(len, tables)) - min(map(len, tables)) <= 1
        assert values(Table.joined(tables)) == values(table)
        assert sum(map(len, tables)) == each.rows == N
        assert all(each.kinds == table.kinds for each in tables)


def test_a_slice_has_a_row_at_least_and_no_rows_are_one_slice(table):
    (row, *others) = table.slices(1)
    assert len(row) == 1
    assert len(others) == N - 1
    none = Table({name: column.slice(0, 0) for name, column in table.columns.items()})
    assert [len(each) for each in none.slices(1)] == [0]
