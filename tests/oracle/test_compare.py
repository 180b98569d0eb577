"""The comparer itself: it must see every kind of difference."""

import awkward as ak
import numpy as np
import pyarrow as pa
import pytest

from tests.corpus_files import corpus
from tools import compare_readers
from tools.readers.compare import difference

EQUAL = [
    (pa.array([1, 2, 3], pa.int32()), np.array([1, 2, 3], np.int32)),
    (pa.array([1.0, float("nan")]), np.array([1.0, np.nan])),
    (pa.array([True, False]), np.array([True, False])),
    (pa.array([[1], [], [2, 3]], pa.list_(pa.int64())), [[1], [], [2, 3]]),
    (pa.array([b"ab", b""], pa.large_binary()), ["ab", ""]),
    (pa.array([[1, 2], [3, 4]], pa.list_(pa.int32(), 2)), np.array([[1, 2], [3, 4]], np.int32)),
    (pa.array([{"x": 1, "y": 2.0}]), [{"x": 1, "y": 2.0}]),
    (pa.array([["a", "bc"], []]), [["a", "bc"], []]),
    (pa.array([[1, None], [], [2]]), [[1, None], [], [2]]),
    (pa.array([[2, 3], [1]]), ak.Array([[1], [9], [2, 3]])[[2, 0]]),
    (pa.array([{"x": [1]}, {"x": []}]), ak.Array([{"x": [9]}, {"x": [1]}, {"x": []}])[1:]),
]


@pytest.mark.parametrize(("arrow", "other"), EQUAL, ids=[str(a.type) for a, _ in EQUAL])
def test_equal(arrow, other):
    assert difference(ak.from_arrow(arrow), ak.Array(other)) is None


DIFFERENT = [
    (pa.array([1, 2, 3]), np.array([1, 2, 4]), "1 of 3 differ"),
    (pa.array([1, 2, 3]), np.array([1, 2]), "3 entries"),
    (pa.array([1, 2, 3]), np.array([1, 2, 3], np.int32), "int64, not int32"),
    (pa.array([0.0]), np.array([-0.0]), "differ"),
    (pa.array([[1], [2, 3]]), [[1, 2], [3]], "lengths differ"),
    (pa.array([[1, 2], [3, 4]]), np.array([[1, 2], [3, 4]]), "var"),
    (pa.array([b"ab"]), ["ac"], "differ"),
    (pa.array([{"x": 1}]), [{"y": 1}], "fields"),
    (pa.array([{"x": 1}]), [{"x": 2}], ".x"),
    (pa.array([1, None]), np.array([1, 0]), "?int64"),
    (pa.array([[1, None], [2]]), [[None, 1], [2]], "missing in 1 places"),
    (pa.array([[1, None], [2]]), [[1, None], [3]], "1 of 2 differ"),
    (pa.array([[2, 3], [1]]), ak.Array([[1], [9], [2, 4]])[[2, 0]], "1 of 3 differ"),
]


@pytest.mark.parametrize(("arrow", "other", "said"), DIFFERENT, ids=range(len(DIFFERENT)))
def test_different(arrow, other, said):
    assert said in difference(ak.from_arrow(arrow), ak.Array(other))


def test_the_command_goes_through_a_folder(tmp_path, monkeypatch, capsys):
    (tmp_path / "whole.root").symlink_to(corpus("uproot-Zmumu-zstd.root"))
    monkeypatch.setattr("sys.argv", ["compare_readers", str(tmp_path), "--jobs", "1"])
    assert compare_readers.main() == 0
    out = capsys.readouterr().out
    assert "equal; of all that it reads: " in out
    assert "(100.00 %)" in out


def test_a_file_that_cannot_be_compared_is_wrong(tmp_path, monkeypatch, capsys):
    (tmp_path / "torn.root").write_bytes(b"root" + bytes(60))
    monkeypatch.setattr("sys.argv", ["compare_readers", str(tmp_path)])
    assert compare_readers.main() == 1
    assert "crashed" in capsys.readouterr().out
