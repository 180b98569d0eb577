"""Numbers at the ends of their types: functions near their poles, integers of 64 bits with and
without a sign, and constants, which are computed as columns are.
"""

import itertools
import math
from decimal import Decimal, localcontext

import awkward as ak
import hist
import numpy as np
import pytest
import treemill as tm
import uproot
from treemill.errors import QueryError

from tests.raising import raises

LARGEST = 2**64 - 1


def write(path, **columns):
    """One tree, of NumPy columns."""
    with uproot.recreate(path) as file:
        file.mktree("t", {name: value.dtype for name, value in columns.items()})
        file["t"].extend(columns)
    return tm.dataset(path, tree="t")


def exactly(function, x):
    """The value of an inverse hyperbolic function from 60 digits."""
    with localcontext() as context:
        context.prec, context.Emax, context.Emin = 60, 10**6, -(10**6)
        d = Decimal(x)
        if function == "asinh":
            size = abs(d)
            found = size if size < Decimal("1e-20") else (size + (size * size + 1).sqrt()).ln()
            return math.copysign(float(found), x)
        if function == "acosh":
            return float((d + (d * d - 1).sqrt()).ln())
        return float(d if abs(d) < Decimal("1e-20") else ((1 + d) / (1 - d)).ln() / 2)


POINTS = {
    "asinh": [0.0, 5e-324, 1e-9, 0.3, 1.9, 2.1, 1e5, 7e7, 1e200, 9.1e307, 1.7976931348623157e308],
    "acosh": [1.0, 1 + 2**-52, 1 + 2**-30, 1.0001, 1.99, 2.01, 1e5, 7e7, 9.1e307],
    "atanh": [0.0, 1e-300, 1e-9, 0.3, 0.49, 0.51, 0.999, 1 - 2**-30, 1 - 2**-53],
}


@pytest.mark.parametrize("function", POINTS)
def test_inverse_hyperbolic_functions_to_a_few_ulp(tmp_path, function):
    x = np.array(POINTS[function] + [-x for x in POINTS[function] if function != "acosh"])
    events = write(tmp_path / "x.root", x=x)
    found = events.filter("True").take(f"{function}(x)").value
    wanted = np.array([exactly(function, float(each)) for each in x])
    np.testing.assert_allclose(found, wanted, rtol=5e-16, atol=0)
    for value, expected in zip(x, wanted, strict=True):
        constant = events.filter("True").max(f"{function}({float(value)!r})").value
        assert constant == pytest.approx(expected, rel=5e-16)


def test_error_and_gamma_functions(tmp_path):
    x = np.array([-30.0, -2.5, -0.5, 0.0, 1e-12, 0.3, 1.0, 2.7, 5.9, 27.0, 171.5, 1e3])
    node = write(tmp_path / "x.root", x=x).filter("True")
    for name in ("erf", "erfc"):
        wanted = [getattr(math, name)(each) for each in x]
        np.testing.assert_allclose(node.take(f"{name}(x)").value, wanted, rtol=4e-15)
    positive = x[x > 0]
    for name in ("gamma", "lgamma"):
        wanted = [
            math.inf if name == "gamma" and v > 171.6 else getattr(math, name)(v) for v in positive
        ]
        found = node.filter("x > 0").take(f"{name}(x)").value
        np.testing.assert_allclose(found, wanted, rtol=4e-14, atol=1e-15)


def test_pseudorapidity_of_what_is_nearly_along_the_beam(tmp_path):
    one = np.array([1.0])
    events = write(tmp_path / "v.root", px=3 * one, py=4 * one, pz=4.9e308 * 0.3 * one, energy=one)
    found = events.max("vector(px=px, py=py, pz=pz, energy=energy).eta").value
    assert found == pytest.approx(exactly("asinh", 4.9e308 * 0.3 / 5.0), rel=1e-15)


def test_unsigned_integers_stay_what_they_are(tmp_path):
    u = np.array([LARGEST, LARGEST - 1, 9007199254740993, 5, 2**63], dtype=np.uint64)
    i = np.array([-3, 7, 9007199254740993, 5, 2**63 - 1], dtype=np.int64)
    node = write(tmp_path / "u.root", u=u, i=i).filter("True")
    unique = node.unique("u").value
    assert unique.dtype == np.uint64
    assert unique.tolist() == sorted(int(x) for x in u)
    assert node.unique("i").value.dtype == np.int64
    # Of both kinds no type holds all; the larger one is never negative, the smaller one never huge.
    pairs = list(zip(u.tolist(), i.tolist(), strict=True))
    assert node.take("max(u, i)").value.tolist() == [max(pair) for pair in pairs]
    assert node.take("min(u, i)").value.tolist() == [min(pair) for pair in pairs]
    assert node.take("clip(u, -1, 9223372036854775807)").value.tolist() == [
        min(int(a), 2**63 - 1) for a in u
    ]
    assert node.take("int(clip(u, i, 18446744073709551615))").value.tolist() == [
        max(pair) for pair in pairs
    ]
    zero = node.take("sign(u - u)").value
    assert (zero.dtype, zero.tolist()) == (np.uint64, [0] * 5)
    assert node.take("sign(u) * u").value.tolist() == u.tolist()
    assert node.take("sign(i)").value.tolist() == np.sign(i).tolist()
    # What a sign leaves no room for is missing.
    assert node.arrays({"m": "-u"})["m"].to_list() == [
        None,
        None,
        -9007199254740993,
        -5,
        -(2**63),
    ]


def test_clip_of_constants_keeps_integers(tmp_path):
    node = write(tmp_path / "x.root", x=np.arange(2)).filter("True")
    for low, high in [(0, 10), (-1, 10), (-1, LARGEST), (0, LARGEST), (-5, 2**63 - 1)]:
        found = node.max(f"int(clip(9223372036854775808, {low}, {high}))").value
        assert found == max(low, min(2**63, high)), (low, high)


INTEGERS = [0, 1, -1, 2, -2, 3, 7, -7, 62, 63, 64, 2**31, 2**53 + 1, 2**63 - 1, -(2**63), 2**63]
INTEGERS += [2**63 + 1025, LARGEST, LARGEST - 1, -(2**62), 3037000500, 4294967296]
REALS = [0.0, -0.0, 1.5, -2.5, 1e19, -1e19, 9.3e18, 1e300, math.inf, -math.inf, math.nan]
BINARY = ["+", "-", "*", "//", "%", "<<", ">>", "&", "|", "^", "==", "<", ">="]
FORMS = [f"{{a}} {op} {{b}}" for op in BINARY] + ["min({a}, {b})", "max({a}, {b})"]
FORMS += ["clip({a}, {b}, 100)", "{a} if {a} > {b} else {b}", "where({b} < 3, {a}, {b})"]
UNARY = ["-{a}", "abs({a})", "int({a})", "~{a}", "sign({a})", "int(-{a})", "{a} ** 2", "{a} ** 5"]


def is_unsigned(value):
    return isinstance(value, int) and value >= 2**63


def kind(value):
    return "f" if isinstance(value, float) else "u" if is_unsigned(value) else "i"


def written(value):
    """A constant in the language; as an operand, a sign needs parentheses."""
    if isinstance(value, float) and not math.isfinite(value):
        name = "nan" if math.isnan(value) else "inf"
        return f"(-{name})" if value < 0 else name
    return f"({value!r})" if math.copysign(1, value) < 0 else repr(value)


def same(a, b, loose):
    if a is None or b is None:
        return a is b
    if isinstance(a, float) and math.isnan(a):
        return isinstance(b, float) and math.isnan(b)
    return (
        math.isclose(a, b, rel_tol=1e-15)
        if loose and float(a) != a
        else float(a) == float(b)
        if (isinstance(a, float) != isinstance(b, float))
        else a == b or (loose and math.isclose(a, b, rel_tol=1e-15))
    )


def exact(form, a, b):
    """Python's own integer, or None where there is none."""
    if any(isinstance(x, float) for x in (a, b)):
        return None
    names = {"clip": lambda x, lo, hi: min(max(x, lo), hi), "where": None, "sign": None}
    try:
        return eval(form.format(a="a", b="b"), {"a": a, "b": b, **names})
    except (ValueError, ZeroDivisionError, TypeError, OverflowError, MemoryError):
        return None


def test_constants_are_computed_as_columns_are(tmp_path):
    """Every form over every pair: the constant's value is the column's, or it is refused because it
    fits no integer of its type, where the column's wraps around."""
    groups = {}
    for a, b in itertools.product(INTEGERS + REALS, repeat=2):
        groups.setdefault(kind(a) + kind(b), []).append((a, b))
    types = {"i": np.int64, "u": np.uint64, "f": np.float64}
    rng = np.random.default_rng(20)
    compared = refused = 0
    for name, pairs in groups.items():
        picked = [pairs[k] for k in rng.choice(len(pairs), min(len(pairs), 25), replace=False)]
        columns = {
            which: np.array([pair[k] for pair in picked], dtype=types[name[k]])
            for k, which in enumerate("ab")
        }
        node = write(tmp_path / f"{name}.root", **columns).filter("True")
        one = write(tmp_path / f"{name}_one.root", n=np.zeros(1)).filter("True")
        for form in FORMS + UNARY:
            if name in ("iu", "ui") and ("%" in form or "//" in form):
                continue  # of columns these are floats', which cannot tell neighbours apart
            try:
                of_columns = node.arrays({"v": form.format(a="a", b="b")})["v"].to_list()
            except QueryError:
                # An operator that does not go with these types goes with no constants of them.
                a, b = picked[0]
                with pytest.raises(QueryError):
                    tm.run(one.take({"v": form.format(a=written(a), b=written(b))}))
                continue
            for (a, b), column in list(zip(picked, of_columns, strict=True))[
                :: 5 if "f" in name else 3
            ]:
                text = form.format(a=written(a), b=written(b))
                try:
                    (constant,) = tm.run(one.take({"v": text}))["v"].to_list()
                except QueryError as error:
                    refused += 1
                    if "division by zero" in str(error) and b == 0:
                        continue
                    assert "does not fit" in str(error), text  # noqa: PT017 - in a loop of many
                    integer = exact(form, a, b)
                    signed = name == "ii" or form.startswith("-")
                    least, most = (-(2**63), 2**63 - 1) if signed else (0, LARGEST)
                    assert integer is None or not least <= integer <= most, text
                    continue
                # A constant that is not negative goes with unsigned integers, a column as a float.
                mixed = "u" in name and "i" in name
                assert same(constant, column, mixed), (text, constant, column)
                compared += 1
    assert compared > 500
    assert refused > 10


@pytest.mark.parametrize(
    "text",
    [
        "-18446744073709551615",
        "18446744073709551615 + 1",
        "2**63",
        "1 << 64",
        "1 << 63",
        "1 >> -1",
        "abs(-9223372036854775807 - 1)",
        "5 - 18446744073709551615",
    ],
)
def test_a_constant_that_does_not_fit_is_refused(tmp_path, text):
    events = write(tmp_path / "x.root", x=np.arange(3))
    with raises(QueryError, said="does not fit"):
        tm.run(events.sum(text))


@pytest.mark.parametrize("text", ["int(nan)", "int(1e19)", "int(-inf)", "x + int(nan)"])
def test_what_is_no_integer_is_missing(tmp_path, text):
    node = write(tmp_path / "x.root", x=np.arange(3)).filter("True")
    assert node.arrays({"v": text})["v"].to_list() == [None] * 3
    assert node.sum(f"fill_missing({text}, 7)").value == 21
    assert node.sum(f"is_missing({text})").value == 3
    assert node.hist(text, bins=(3, 0, 3)).value.sum(flow=True) == 0
    assert node.filter(f"{text} > 0").count().value == 0


def test_what_fits_is_a_constant(tmp_path):
    events = write(tmp_path / "x.root", x=np.arange(3))
    cases = {
        "-9223372036854775808": -(2**63),
        "2**62": 2**62,
        "(-2)**63": -(2**63),
        "1 << 62": 2**62,
        "18446744073709551615 - 1": LARGEST - 1,
        "18446744073709551614 // 2": LARGEST // 2,
        "9223372036854775808": 2**63,
        "int(9.2e18)": int(9.2e18),
        "18446744073709551615 & 255": 255,
        "0 << 64": 0,
    }
    for text, wanted in cases.items():
        assert events.max(text).value == wanted, text


def test_a_constant_that_may_be_missing_in_a_batch_of_one_event(tmp_path):
    path = tmp_path / "one.root"
    with uproot.recreate(path) as file:
        file.mktree("t", {"x": "float64", "Jet": "var * float64"})
        file["t"].extend({"x": np.array([-1.0]), "Jet": ak.Array([[1.0, 2.0, 4.0]])})
    node = tm.dataset(path, tree="t").filter("True")
    assert node.sum("sum(Jet * only(7, x > 0))").value == 0
    assert node.sum("sum(Jet * only(7, x < 0))").value == 49
    assert node.sum("sum(Jet * fill_missing(only(7, x > 0), 2))").value == 14
    assert node.sum("count(Jet * (3 if only(True, x > 0) else 4))").value == 0


def test_integer_axes_place_what_32_bits_do_not_hold(tmp_path):
    """hist refuses such values; here they are where they belong, in or beside the bins."""
    edge = [2**31 - 1, 2**31, 2**31 + 3, 2**32 - 1]
    values = {
        "u4": np.array([0, 3, 5, 7, *edge], dtype=np.uint32),
        "i8": np.array([2**32 + 3, -(2**31) - 1, 2**63 - 1, -(2**63), *edge], dtype=np.int64),
        "u8": np.array([2**32 + 3, 2**63, LARGEST, 4, *edge], dtype=np.uint64),
    }
    node = write(tmp_path / "x.root", **values).filter("True")
    for name, numbers in values.items():
        exactly_these = [int(x) for x in numbers]
        found = node.hist(name, bins=hist.axis.Integer(0, 6)).value.values(flow=True).tolist()
        assert found[1:-1] == [exactly_these.count(k) for k in range(6)]
        assert found[0] == sum(x < 0 for x in exactly_these)
        assert found[-1] == sum(x >= 6 for x in exactly_these)
        found = node.hist(name, bins=hist.axis.Integer(0, 6, circular=True)).value.values()
        assert found.tolist() == [sum(x % 6 == k for x in exactly_these) for k in range(6)]
        found = node.hist(name, bins=hist.axis.IntCategory([3, 5])).value.values()
        assert found.tolist() == [exactly_these.count(3), exactly_these.count(5)]
