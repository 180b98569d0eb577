"""Corners of the language: what is known when a query is compiled and is of a list all the same,
missing values beside lists, orders of NaN and missing keys, rows of thousands of operators.
"""

import math
import sys

import numpy as np
import pytest
import treemill as tm

from tests.python.written import jagged, write
from tests.raising import raises
from tests.reference import MISSING, evaluate

IDX = [[0, 1], [], [2, 7, 0], [0]]
J = [[3.0, 1.0], [], [2.0, -1.0, 5.0], [4.0]]
COLUMNS = {
    "x": np.array([0.5, 1e16, -2.0, 3.0]),
    "i": np.array([0, 1, 2, 3]),
    "mat": np.arange(24.0).reshape(4, 3, 2),
}


@pytest.fixture(scope="module")
def events(core, tmp_path_factory):
    columns = {**COLUMNS, "j": jagged(*J), "idx": jagged(*IDX, dtype=np.int32)}
    path = write(tmp_path_factory.mktemp("corners") / "corners.root", **columns)
    return tm.dataset(path)


def plain(value):
    if isinstance(value, list):
        return [plain(item) for item in value]
    return None if value is MISSING else value


def wanted(text):
    rows = [{name: value[i].tolist() for name, value in COLUMNS.items()} for i in range(4)]
    return [
        plain(evaluate(text, {**row, "j": j, "idx": k}))
        for row, j, k in zip(rows, J, IDX, strict=True)
    ]


def found(events, text):
    values = tm.run(events.take(text))
    return values.tolist() if isinstance(values, np.ndarray) else values.to_list()


@pytest.mark.parametrize(
    "text",
    [
        "is_missing(j)",
        "sum(is_missing(j))",
        "j[~is_missing(j)]",
        "is_missing(j[idx])",
        "sum([is_missing(v) for v in j])",
        # Missing in, missing out, whatever 'in' looks in.
        "j[0] in j",
        "j[2] not in j",
        "j[2] in j[:1]",
        "j[0] not in [3, 4]",
        "[v not in j[1:] for v in j]",
        "not (j[1] in idx)",
        # One type, whether a value is ever missing or not.
        "fill_missing(i, 0.5) / 2",
        "max(idx, default=0.5)",
    ],
)
def test_as_the_slow_evaluator(events, text):
    assert found(events, text) == wanted(text)


def test_lengths_of_arrays_are_one_for_each_list(events):
    assert found(events, "len(mat)") == [[2, 2, 2]] * 4
    assert tm.run(events.sum("sum(len(mat))")) == 24
    assert found(events, "[len(m) for m in mat]") == [[2, 2, 2]] * 4
    assert found(events, "[len(mat) for v in j][:1]") == [[[2, 2, 2]][: len(j)] for j in J]
    assert tm.run(events.hist("len(mat)", bins=(4, 0, 4))).sum() == 12
    assert found(events, "len(j)") == [2, 0, 3, 1]


def test_constants_of_made_records_are_one_for_each(events):
    made = "[vector(pt=v, eta=0.5, phi=0, mass=1) for v in j]"
    assert found(events, f"({made}).eta") == [[0.5] * len(j) for j in J]
    assert tm.run(events.sum(f"sum(({made}).mass)")) == 6
    # Of nothing, a constant is missing too.
    assert found(events, f"({made})[0].eta") == [0.5, None, 0.5, 0.5]
    assert found(events, f"max({made}, key=lambda v: v.pt).mass") == [1, None, 1, 1]
    assert found(events, "[(2, v) for v in j][1][0]") == [2, None, 2, None]
    assert found(events, "is_missing(last([(2, v) for v in j]))") == [not j for j in J]


def test_missing_among_a_lists_items_passes_no_filter(events):
    kept = [j for j in J if len(j) > 2 and j[2] not in j[:1]]
    assert tm.run(events.filter("j[2] not in j[:1]").count()) == len(kept)
    assert tm.run(events.filter("not (j[2] in j[:1])").count()) == len(kept)
    assert tm.run(events.filter("j[2] in j").count()) == 1


@pytest.mark.parametrize("reverse", [False, True])
def test_nan_comes_after_numbers_and_missing_after_nan(events, reverse):
    # The order in which they come: NaN, missing, number, missing, NaN, number.
    keys = "sqrt(-1.0) if k in [0, 4] else (j[9] if k in [1, 3] else 10.0 - k)"
    listed = "[k for k, v in enumerate([1, 2, 3, 4, 5, 6])]"
    text = f"sorted({listed}, key=lambda k: {keys}, reverse={reverse})"
    numbers = [2, 5] if reverse else [5, 2]
    assert found(events, text) == [[*numbers, 0, 4, 1, 3]] * 4


def test_fill_missing_is_of_both_types(events):
    assert found(events, "fill_missing(i, 0.5) // 0") == [
        math.inf if i else pytest.approx(math.nan, nan_ok=True) for i in range(4)
    ]
    assert tm.run(events.take("fill_missing(i, 1)")).dtype.kind == "i"


@pytest.mark.parametrize("terms", [9, 101, 2500])
@pytest.mark.parametrize("sign", [" + ", " - ", "*"])
def test_rows_of_operators_are_done_from_left_to_right(events, terms, sign):
    each = (f"(x + {k * 0.37!r})" if sign == "*" else f"{k * 0.1!r}*x" for k in range(terms))
    text = sign.join(each)
    with np.errstate(over="ignore", invalid="ignore"):
        expected = [eval(text, {"x": x}) for x in COLUMNS["x"]]
    np.testing.assert_array_equal(found(events, text), expected)
    assert (
        tm.run(events.define("w", text).filter("w == w").count())
        == np.isfinite(expected).sum() + np.isinf(expected).sum()
    )


def test_rows_of_other_operators(events):
    """As deep as one, also in loops, of integers, of vectors, in drawings."""
    bits = " ^ ".join(f"(i << {k % 7})" for k in range(300))
    assert found(events, bits) == [eval(bits, {"i": i}) for i in range(4)]
    row = " + ".join(["v"] * 150)
    assert found(events, f"[{row} for v in j]") == [[150 * v for v in j] for j in J]
    vectors = " + ".join(["vector(px=x, py=0, pz=0, mass=0)"] * 150)
    assert tm.run(events.sum(f"({vectors}).px")) == pytest.approx(150 * COLUMNS["x"].sum())
    assert events.draw(" + ".join(["i"] * 150), where=" || ".join(["i>1"] * 150)).sum() == 2
    mixed = "i%2 + " + " + ".join(["i"] * 150)
    assert events.draw(mixed, bins=(600, 0, 600)).values().nonzero()[0].tolist() == [
        0,
        151,
        300,
        451,
    ]


def test_what_is_too_much_in_a_row_is_said(events):
    with raises(tm.QueryError, said="more than 200 vectors in a sum: sum …"):
        tm.run(events.sum("(" + " + ".join(["vector(px=x, py=0, pz=0, mass=0)"] * 300) + ").px"))
    row = "+".join(["x"] * 30_000)
    if sys.version_info >= (3, 14):  # its parser takes rows of any length
        assert tm.run(events.sum(row)) == pytest.approx(30_000 * COLUMNS["x"].sum())
    else:
        with raises(tm.QueryError, said="too many operators in a row define"):
            tm.run(events.sum(row))
    with raises(tm.QueryError, said="did you mean x") as error:
        tm.run(events.sum(" + ".join(["x"] * 300) + " + xx"))
    assert error.value.span == (1200, 1202)
