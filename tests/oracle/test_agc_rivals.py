"""examples/agc: treemill, coffea and RDataFrame fill the same bins; what their comparison says."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

AGC = Path(__file__).parents[2] / "examples" / "agc"


@pytest.fixture(scope="module")
def compare():
    path = AGC.parent / "side_by_side.py"
    spec = importlib.util.spec_from_file_location("side_by_side", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("theirs", "found"),
    [
        ([5, 3, 2, 8], (0, 0)),
        ([5 + 1e-12, 3, 2, 8], (0, 0)),
        ([4, 4, 2, 8], (2, 2)),
        ([5, 2, 3, 8], (2, 2)),
        ([4, 3, 3, 8], (2, 0)),
        ([5, 3, 2, 9], (1, 0)),
        ([4, 4, 2, 9], (3, 2)),
        ([4, 4, 1, 9], (4, 4)),
    ],
)
def test_what_is_explained(compare, theirs, found):
    assert compare.differences([5, 3, 2, 8], theirs) == found


def test_words(compare):
    ours = {"a": [5, 3], "b": [1, 1]}
    assert compare.compared(ours, ours) == ("2 histograms, 4 bins: all equal", True)
    assert compare.compared(ours, {"a": [4, 4], "b": [1, 1]}) == (
        "2 histograms, 4 bins: differ in a: 2 bins",
        True,
    )
    assert compare.compared(ours, {"a": [4, 3], "b": [1, 1]}) == (
        "2 histograms, 4 bins: differ in a: 1 bins, 1 unexplained",
        False,
    )
    assert compare.compared(ours, {"a": [5, 3]}) == ("only one has b", False)


def test_lines_of_code(compare, tmp_path):
    (tmp_path / "x.py").write_text('"""Two\nlines."""\n\nx = 1  # one\n# none\ny = """no\ndoc"""\n')
    (tmp_path / "x.cpp").write_text("// none\n\nint x;\n")
    assert compare.lines_of_code(tmp_path / "x.py") == 3
    assert compare.lines_of_code(tmp_path / "x.cpp") == 1


@pytest.mark.slow
def test_the_same_bins(tmp_path):
    for package in ("ROOT", "coffea", "correctionlib", "xgboost"):
        pytest.importorskip(package, reason=f"{package} is not installed")
    for program, *more in (
        ["generate.py", "--events", "5000"],
        ["treemill_bdt.py", "train"],
        ["compare.py"],
    ):
        command = [sys.executable, str(AGC / program), str(tmp_path), *more]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("122 histograms, 3294 bins: all equal") == 3
    coffea = ("coffea, XGBoost, as its reference", "coffea, XGBoost, for speed")
    for title in (*coffea, "RDataFrame, C++"):
        assert f"{title}: 1220 histograms, 32940 bins: all equal" in done.stdout
