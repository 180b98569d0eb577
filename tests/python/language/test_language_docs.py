"""docs/language.md: every expression in it is run."""

import math
import re
from pathlib import Path

import numpy as np
import pytest
import treemill as tm
import uproot
from treemill.language import function_registry as registry

from tests.tutorials import programs, write_demo

TEXT = (Path(__file__).parents[3] / "docs" / "language.md").read_text()
BLOCKS = re.findall(r"^```(python)?\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
EXPRESSIONS = [line for kind, block in BLOCKS if not kind for line in block.strip().splitlines()]
MISSING_VALUES = re.findall(
    r"^\| `(.*?)` \| (.*?) \|",
    TEXT.split("## Missing values")[1].split("\n## ")[0],
    re.MULTILINE,
)
WORDS = {"missing": None, "true": True, "false": False, "infinite": math.inf, "NaN": math.nan}


@pytest.fixture(scope="module")
def events(tmp_path_factory):
    import awkward as ak

    rng = np.random.default_rng(3)
    n = 300
    data = {"MET_pt": rng.exponential(30, n), "MET_phi": rng.uniform(-3, 3, n)}
    for name in ("Muon", "Electron", "Jet"):
        counts = rng.poisson(2.5, n)
        total = counts.sum()
        columns = {
            "pt": rng.exponential(30, total),
            "eta": rng.normal(0, 2, total),
            "phi": rng.uniform(-3, 3, total),
            "mass": rng.exponential(1, total),
            "charge": rng.choice([-1, 1], total),
            "btag": rng.random(total),
            "jetIdx": rng.integers(-1, 3, total),
        }
        data[name] = ak.zip({key: ak.unflatten(v, counts) for key, v in columns.items()})
    path = tmp_path_factory.mktemp("docs") / "events.root"
    with uproot.recreate(path) as file:
        types = {
            k: v.dtype if isinstance(v, np.ndarray) else ak.type(v).content for k, v in data.items()
        }
        file.mktree("Events", types)
        file["Events"].extend(data)
    return tm.dataset(path, tree="Events")


def test_there_are_expressions():
    assert len(EXPRESSIONS) > 15
    assert len(programs("language")) == 2


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_expression(events, text):
    assert np.isfinite(events.sum(f"({text}) * 1.0" if "[m.pt for" not in text else text).value)


CORE = Path(__file__).parents[3] / "crates" / "treemill-query" / "src" / "compile"
WORDS_IN_CODE = set(re.findall(r"\w+", " ".join(re.findall(r"`+([^`]+)`+", TEXT))))


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("nodes/builtins.rs", r'^    (?:f|real1|real2|rounding|reduce|test)\("(\w+)"'),
        ("nodes/coordinates.rs", r"const ATTRIBUTES: [^;]*;"),
        ("expressions/two_vectors.rs", r"const METHODS: [^;]*;"),
    ],
)
def test_every_function_and_method_is_named(path, names):
    found = re.findall(names, (CORE / path).read_text(), re.MULTILINE)
    if len(found) == 1:
        found = re.findall(r'"(\w+)"', found[0])
    assert len(found) > 10
    assert not set(found) - WORDS_IN_CODE


def test_there_are_rows():
    assert len(MISSING_VALUES) > 20


@pytest.mark.parametrize(("text", "word"), MISSING_VALUES)
def test_missing_value(events, text, word):
    """In all events that the table is of, the expression is what the table says."""
    node = events.filter("nMuon == 0 and MET_pt > 0").define("found", text)
    found = node.arrays(["found"]).found.to_list()
    expected = WORDS[word] if word in WORDS else float(word)
    assert found
    for value in found:
        if expected is None or isinstance(expected, bool):
            assert value is expected
        else:
            assert value == pytest.approx(expected, nan_ok=True)
    passed = node.filter(text).count().value
    assert passed == (len(found) if expected else 0)


def test_the_programs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_demo(tmp_path)
    names = {}
    try:
        for program in programs("language"):
            exec(program, names)
            assert all(result.sum(flow=True) > 0 for result in names.pop("results"))
    finally:
        registry.remove("mt")
