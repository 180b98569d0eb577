"""Corrections beside correctionlib itself: random documents of the whole schema, random values.
Results are equal to the last bit, and where there is none, both say the same."""

import json
import math
import random
from pathlib import Path

import numpy as np
import pytest
import treemill as tm
from treemill.errors import FormatError, UnsupportedError

correctionlib = pytest.importorskip("correctionlib")
compare_corrections = pytest.importorskip("tools.compare_corrections")

INPUTS = [
    {"name": "x", "type": "real"},
    {"name": "y", "type": "real"},
    {"name": "n", "type": "int"},
    {"name": "s", "type": "string"},
]
WORDS = ["nominal", "up", "down", "µ"]
UNARY = ["log", "log10", "exp", "sqrt", "abs", "cos", "sin", "tan", "acos", "asin", "atan"]
UNARY += ["cosh", "sinh", "tanh", "acosh", "asinh", "atanh", "erf"]
BINARY = ["atan2", "pow", "max", "min"]
OPERATORS = ["||", "&&", "==", "!=", ">", "<", ">=", "<=", "-", "+", "/", "*", "^"]

KINDS = ["value", "binning", "binning", "multibinning", "category", "formula", "formularef"]
KINDS += ["transform", "hashprng"]


class Maker:
    """Makes random documents."""

    def __init__(self, seed):
        self.rng = random.Random(seed)

    def number(self):
        digits = self.rng.choice([1, 3, 8, 17, 20])
        return round(self.rng.uniform(-3, 3), digits) * self.rng.choice(
            [1, 1, 1, 1e-7, 1e12, 1e-300]
        )

    def formula_text(self, depth):
        rng = self.rng
        if depth <= 0 or rng.random() < 0.2:
            return rng.choice(
                ["x", "y", "x[0]", "x[1]", "[0]", "[1]", "2", "-1.5", "0.3e-1", "-x", "-(y)"]
            )
        kind = rng.randrange(4)
        inner = self.formula_text(depth - 1)
        if kind == 0:
            return f"{rng.choice(UNARY)}({inner})"
        if kind == 1:
            return f"{rng.choice(BINARY)}( {inner},{self.formula_text(depth - 1)})"
        if kind == 2:
            return f"({inner})"
        return (
            f"{inner}{rng.choice(['', ' '])}{rng.choice(OPERATORS)} {self.formula_text(depth - 1)}"
        )

    def formula(self):
        return {
            "nodetype": "formula",
            "expression": self.formula_text(4),
            "parser": "TFormula",
            "variables": self.rng.sample(["x", "y"], 2),
            "parameters": [self.number(), self.number()],
        }

    def edges(self):
        rng = self.rng
        if rng.random() < 0.4:
            low = self.rng.uniform(-3, 0)
            n = rng.randrange(1, 5)
            return {"n": n, "low": low, "high": low + rng.uniform(0.5, 4)}, n
        edges = sorted({rng.uniform(-3, 3) for _ in range(rng.randrange(2, 6))})
        return edges, len(edges) - 1

    def flow(self, depth, edges):
        flow = self.rng.choice(["clamp", "error", "wrap", "value"])
        return self.content(depth - 2) if flow == "value" else flow

    def content(self, depth):
        rng = self.rng
        if depth <= 0:
            return self.number()
        kind = rng.choice(KINDS)
        if kind == "value":
            return self.number()
        if kind == "binning":
            edges, n = self.edges()
            return {
                "nodetype": "binning",
                "input": rng.choice(["x", "y", "n"]),
                "edges": edges,
                "content": [self.content(depth - 1) for _ in range(n)],
                "flow": self.flow(depth, edges),
            }
        if kind == "multibinning":
            axes = [self.edges() for _ in range(rng.randrange(1, 4))]
            cells = math.prod(n for _, n in axes)
            return {
                "nodetype": "multibinning",
                "inputs": [rng.choice(["x", "y", "n"]) for _ in axes],
                "edges": [edges for edges, _ in axes],
                "content": [self.content(depth - 2) for _ in range(cells)],
                "flow": self.flow(depth, axes[0][0]),
            }
        if kind == "category":
            name = rng.choice(["n", "s"])
            keys = WORDS if name == "s" else [-1, 0, 1, 2]
            keys = rng.sample(keys, rng.randrange(1, 4))
            node = {
                "nodetype": "category",
                "input": name,
                "content": [{"key": key, "value": self.content(depth - 1)} for key in keys],
            }
            return {**node, "default": self.content(depth - 1)} if rng.random() < 0.5 else node
        if kind == "formula":
            return self.formula()
        if kind == "formularef":
            parameters = [self.number(), self.number()]
            return {"nodetype": "formularef", "index": rng.randrange(2), "parameters": parameters}
        if kind == "transform":
            # Its values must be finite: correctionlib has undefined behaviour for bins of NaN.
            rule = rng.choice(
                [
                    rng.uniform(-4, 4),
                    {
                        "nodetype": "formula",
                        "expression": "max(-1e3, min(1e3, x*0.7+y))",
                        "parser": "TFormula",
                        "variables": ["x", "y"],
                    },
                ]
            )
            name = rng.choice(["x", "y", "n"])
            return {
                "nodetype": kind,
                "input": name,
                "rule": rule,
                "content": self.content(depth - 1),
            }
        return {
            "nodetype": "hashprng",
            "inputs": rng.sample(["x", "y", "n"], rng.randrange(1, 4)),
            "distribution": rng.choice(["stdflat", "stdnormal", "normal"]),
        }

    def document(self):
        output = {"name": "w", "type": "real"}
        formulas = [self.formula(), self.formula()]
        corrections = [
            {
                "name": name,
                "version": 1,
                "inputs": INPUTS,
                "output": output,
                "generic_formulas": formulas,
                "data": self.content(3),
            }
            for name in "abc"
        ]
        compound = {
            "name": "all",
            "inputs": self.rng.sample(INPUTS, 4),
            "output": output,
            "inputs_update": self.rng.choice([[], ["x"]]),
            "input_op": self.rng.choice(["+", "*", "/"]),
            "output_op": self.rng.choice(["+", "*", "/", "last"]),
            "stack": ["c", "a", "b"],
        }
        finite = {
            "nodetype": "binning",
            "input": "x",
            "edges": ["-inf", 0.0, "inf"],
            "flow": "error",
        }
        if compound["inputs_update"]:
            # Numbers that stay finite, for the same reason.
            for each, value in zip(corrections, [1.25, 0.5, 2.0], strict=True):
                each["data"] = {**finite, "content": [value, self.number() % 2 + 0.1]}
        return {
            "schema_version": 2,
            "corrections": corrections,
            "compound_corrections": [compound],
        }


def outcome(function, given):
    try:
        return np.float64(function(*given)).tobytes()
    except Exception as error:
        return str(error)


def same(ours, theirs):
    if isinstance(ours, bytes) and isinstance(theirs, bytes):
        # NaN has many bit patterns.
        return np.array_equal(np.frombuffer(ours), np.frombuffer(theirs), equal_nan=True)
    return isinstance(ours, str) and isinstance(theirs, str) and theirs in ours


@pytest.mark.parametrize("seed", range(150))
def test_random_documents_have_correctionlibs_values(seed):
    maker = Maker(seed)
    text = json.dumps(maker.document())
    theirs = correctionlib.CorrectionSet.from_string(text)
    ours = tm.corrections(text.encode())
    assert list(ours) == list(theirs)
    assert list(ours.compound) == list(theirs.compound)
    values = {"x": np.array([maker.rng.uniform(-4, 4) for _ in range(12)])}
    values["y"] = np.array([maker.rng.uniform(-4, 4) for _ in range(12)])
    values["n"] = np.array([maker.rng.randrange(-2, 4) for _ in range(12)])
    pairs = [(ours[name], theirs[name]) for name in ours]
    pairs += [(ours.compound["all"], theirs.compound["all"])]
    for mine, their in pairs:
        compare(mine, their, values)


def compare(mine, their, values):
    names = [each.name for each in mine.inputs]
    assert names == [each.name for each in their.inputs]
    for row in range(12):
        for word in [*WORDS[:2], "else"]:
            here = {"s": word, **{name: array[row].item() for name, array in values.items()}}
            given = [here[name] for name in names]
            a, b = outcome(mine, given), outcome(their.evaluate, given)
            assert same(a, b), (mine, here, a, b)
    given = [{"s": "nominal", **values}[name] for name in names]
    # So many rows that constants are worked in first.
    many = [each if isinstance(each, str) else np.repeat(each, 100) for each in given]
    wanted = outcome(their.evaluate, many)
    assert same(outcome(mine, many), wanted), (mine, wanted)


def test_the_comparison_of_files(tmp_path, capsys, monkeypatch):
    names = []
    for seed in range(3):
        names.append(str(tmp_path / f"{seed}.json"))
        Path(names[-1]).write_text(json.dumps(Maker(seed).document()))
    assert compare_corrections.main([*names, "--rows", "50", "--words", "3"]) == 0
    assert "values" in capsys.readouterr().out

    real = tm.corrections
    other = json.dumps(Maker(3).document()).encode()
    monkeypatch.setattr(tm, "corrections", lambda _: real(other))
    assert compare_corrections.main([names[0], "--rows", "50", "--words", "3"]) == 1
    assert "correctionlib" in capsys.readouterr().out


def sweep(rng, count):
    """Numbers of all sizes and signs, many near 0 and 1, and the special ones."""
    sizes = 10.0 ** rng.uniform(-12, 3, count)
    near = 1 + rng.choice([-1, 1], count) * 10.0 ** rng.uniform(-16, 0, count)
    some = rng.uniform(-1, 1, count)
    special = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 5e-324, 1e308]
    return np.concatenate([sizes, -sizes, near, -near, some, 4 * some, 40 * some, special])


@pytest.mark.parametrize("name", [*UNARY, *BINARY])
def test_each_function_of_formulas_is_correctionlibs_to_the_last_bit(name):
    rng = np.random.default_rng(19)
    x = sweep(rng, 1_000)
    y = rng.permutation(x)
    arguments = "x, y" if name in BINARY else "x"
    node = {"nodetype": "formula", "expression": f"{name}({arguments})", "parser": "TFormula"}
    text = json.dumps(document({**node, "variables": ["x", "y"]}))
    wanted = correctionlib.CorrectionSet.from_string(text)["one"].evaluate(x, y, 0, "")
    found = tm.corrections(text.encode())["one"](x, y, 0, "")
    # NaN has many bit patterns; -0 and 0 are not the same.
    number = ~np.isnan(wanted)
    assert np.array_equal(number, ~np.isnan(found))
    assert found[number].tobytes() == wanted[number].tobytes()
    assert len(np.unique(wanted[number])) > 500


def document(data, inputs=INPUTS):
    output = {"name": "w", "type": "real"}
    one = {"name": "one", "version": 1, "inputs": inputs, "output": output, "data": data}
    return {"schema_version": 2, "corrections": [one]}


def test_numbers_are_read_as_by_correctionlib():
    # Its parser is inexact in the last digits of some.
    rng = random.Random(7)
    texts = [repr(rng.uniform(-1, 1) * 10.0 ** rng.randrange(-300, 300)) for _ in range(2000)]
    texts += [f"{rng.uniform(0, 2):.{rng.randrange(1, 30)}f}" for _ in range(2000)]
    texts += [
        "5e-324",
        "1.7976931348623157e308",
        "0.0",
        "-0.0",
        "1E5",
        "123456789012345678901234",
        "7",
    ]
    edges = [float(i) for i in range(len(texts) + 1)]
    node = {"nodetype": "binning", "input": "x", "edges": edges, "content": [], "flow": "error"}
    text = json.dumps(document(node)).replace('"content": []', f'"content": [{", ".join(texts)}]')
    x = np.arange(len(texts)) + 0.5
    wanted = correctionlib.CorrectionSet.from_string(text)["one"].evaluate(x, x, 0, "")
    found = tm.corrections(text.encode())["one"](x, x, 0, "")
    assert found.tobytes() == wanted.tobytes()


BROKEN = [
    {"nodetype": "binning", "input": "x", "edges": [0.0, 1.0], "content": [1, 2], "flow": "clamp"},
    {"nodetype": "binning", "input": "z", "edges": [0.0, 1.0], "content": [1], "flow": "clamp"},
    {"nodetype": "binning", "input": "s", "edges": [0.0, 1.0], "content": [1], "flow": "clamp"},
    {"nodetype": "binning", "input": "x", "edges": [0, 1], "content": [1], "flow": "clamp"},
    {"nodetype": "binning", "input": "x", "edges": [1.0, 1.0], "content": [1], "flow": "clamp"},
    {"nodetype": "binning", "input": "x", "edges": [0.0, 1.0], "content": [1]},
    {"nodetype": "category", "input": "x", "content": [{"key": 1, "value": 1}]},
    {"nodetype": "category", "input": "n", "content": [{"key": "a", "value": 1}]},
    {"nodetype": "category", "input": "n", "content": [{"key": 1.5, "value": 1}]},
    {"nodetype": "transform", "input": "s", "rule": 1, "content": 1},
    {"nodetype": "hashprng", "inputs": ["s"], "distribution": "normal"},
    {"nodetype": "hashprng", "inputs": ["x"], "distribution": "flat"},
    {"nodetype": "formula", "expression": "x)", "parser": "TFormula", "variables": ["x"]},
    {"nodetype": "formula", "expression": "y", "parser": "TFormula", "variables": ["x"]},
    {"nodetype": "formula", "expression": "[0]", "parser": "TFormula", "variables": ["x"]},
    {"nodetype": "formula", "expression": "x", "parser": "numexpr", "variables": ["x"]},
    {"nodetype": "formula", "expression": "x", "parser": "TFormula", "variables": ["n"]},
    {"nodetype": "switch"},
    {"no": 1},
    "text",
]


@pytest.mark.parametrize("node", BROKEN, ids=str)
def test_what_correctionlib_refuses_is_refused_in_its_words(node):
    text = json.dumps(document(node))
    with pytest.raises(RuntimeError) as theirs:
        correctionlib.CorrectionSet.from_string(text)
    with pytest.raises((FormatError, UnsupportedError)) as ours:
        tm.corrections(text.encode())
    first = str(theirs.value).split(" at position")[0].split("\n")[0]
    assert first in str(ours.value)
