"""`treemill show` and `draw` over files that differ, and what they say when something is wrong."""

import json

import numpy as np
import pytest

from tests.python.cli.test_cli import run, shell
from tests.python.written import jagged, write


@pytest.fixture
def files(core, tmp_path):
    a = write(
        tmp_path / "a.root",
        "dir/t",
        x=np.arange(6, dtype="i4"),
        only=np.ones(6, "i4"),
        more=[("dir/t", {"x": np.arange(4, dtype="i4"), "only": np.ones(4, "i4")})],
    )
    b = write(tmp_path / "b.root", "dir/t", x=np.array([0.5, 2.5]), v=jagged([1], [2]))
    return a, b


def drawn(tmp_path, *arguments):
    out = tmp_path / "out.json"
    done = shell("draw", *arguments, "-o", out)
    assert done.returncode == 0, done.stderr
    return json.loads(out.read_text())["storage"]["values"]


def test_draw_over_files_that_differ(files, tmp_path):
    bins = ("--bins", "6,0,6")
    places = [f"{path}:dir/t" for path in files]
    assert sum(drawn(tmp_path, *places, "x", *bins)) == 4 + 2
    assert sum(drawn(tmp_path, f"{files[0]}:dir/t;1", "x", *bins)) == 6
    assert sum(drawn(tmp_path, *places, "x")) == 6


def test_draw_takes_defaults_of_branches_that_files_lack(files, tmp_path):
    places = [f"{path}:dir/t" for path in files]
    bins = ("--bins", "4,0,4")  # with under- and overflow
    values = drawn(tmp_path, *places, "only", *bins, "--missing", "only=3")
    assert values == [0, 0, 4, 0, 2, 0]
    values = drawn(tmp_path, *places, "only", *bins, "--missing", "x=0", "--missing", "on*=None")
    assert values == [0, 0, 4, 0, 0, 0]
    values = drawn(tmp_path, *places, "count(v)", *bins, "--missing", "v=[]")
    assert values == [0, 4, 2, 0, 0, 0]


@pytest.mark.parametrize("said", ["only", "only=", "=1", "only=rm -rf"])
def test_a_default_that_is_none_is_refused(files, said):
    done = run("draw", f"{files[0]}:dir/t", "x", "--missing", said)
    assert done.exit_code == 2
    assert "NAME=VALUE" in done.output


def test_show_takes_cycles_and_says_who_reads(files):
    for cycle, entries in (("", 4), (";1", 6), (";2", 4)):
        done = run("show", f"{files[0]}:dir/t{cycle}")
        assert done.exit_code == 0
        assert f"{entries} entries" in done.output
        assert "how" in done.output
        assert "core" in done.output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["draw", "{a}:dir/t", "{b}:dir/t", "only"], "only"),
        (["draw", "{a}:dir/t;7", "x"], "dir/t;7"),
        (["show", "{a}:dir/u"], "dir/t"),
    ],
)
def test_one_line_says_what_is_wrong_and_where(files, arguments, said):
    places = dict(zip("ab", files, strict=True))
    done = shell(*(argument.format(**places) for argument in arguments))
    assert done.returncode == 1
    first = done.stderr.splitlines()[0]
    assert first.startswith("treemill: ")
    assert said in first
    assert files[len(arguments) == 4] in done.stderr
    assert "Traceback" not in done.stderr
