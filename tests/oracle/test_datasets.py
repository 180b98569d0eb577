"""Datasets of files that real ROOT wrote: aliases, trees that grow while they are read."""

import importlib.util
import json
import subprocess
import sys

import awkward as ak
import pytest
import treemill as tm
from treemill.session import results_folder

from tests.raising import raises

from .archives import PROGRAMS


@pytest.fixture(scope="module")
def aliased(made_by_root):
    return sorted(made_by_root("aliases").glob("*.root"))


def sums(path):
    return json.loads(path.with_suffix(".json").read_text())


def test_aliases_are_what_root_draws(aliased):
    for path in aliased:
        events = tm.dataset(path)
        for name, (_, expected) in sums(path).items():
            assert events.sum(name).value == pytest.approx(expected, rel=1e-12), name


@pytest.mark.parametrize("mode", ["threads", "processes"])
def test_each_file_has_its_own_aliases(aliased, mode):
    events = tm.dataset(aliased)
    names = list(sums(aliased[0]))
    with tm.connect(workers=2, mode=mode) as session:
        found = session.run(*(events.sum(name) for name in names), events.filter("z > 103").count())
    for name, value in zip(names, found, strict=False):
        expected = sum(sums(path)[name][1] for path in aliased)
        assert value == pytest.approx(expected, rel=1e-12), name
    x, y = (ak.to_numpy(events.arrays(name)[name]) for name in ("x", "y"))
    assert found[-1] == ((x + y) > 103).sum()


def test_definitions_win_over_aliases(aliased):
    events = tm.dataset(aliased[0])
    assert events.define("z", "1").sum("z").value == 6
    assert events.define("z", "1").sum("zz").value == events.sum("zz").value


def test_what_aliases_make_of_constants_is_not_remembered(aliased, tmp_path, monkeypatch):
    """Nothing of the query says that the constant counts."""
    monkeypatch.setattr(results_folder, "_given", [])
    tm.remember(tmp_path / "results")
    with tm.connect(workers=2) as session:
        for number in (1.0, 2.0):
            events = tm.dataset(aliased, metadata={"no_such_branch": number})
            wanted = 12 * (number + 1)
            assert session.run(events.sum("unused"), progress=False) == wanted
            booked = events.sum("x"), events.sum("unused")
            assert session.run(*booked, progress=False)[1] == wanted
            named = events.sum("no_such_branch"), events.sum("unused")
            assert session.run(*named, progress=False)[1] == wanted
        events = tm.dataset(aliased)
        for _ in range(2):
            session.run(events.sum("z"), events.sum("x"), progress=False)
        assert session.report.remembered.parts == 0, "these mean the file's own columns"


def test_aliases_that_cannot_be(aliased):
    events = tm.dataset(aliased)
    assert events.aliases["z"] == "x+y"
    with raises(tm.QueryError, said="a → b → a"):
        _ = events.sum("a").value
    with raises(tm.QueryError, about="no_such_branch"):
        _ = events.sum("unused").value
    one = tm.dataset(aliased[0])
    assert ak.to_list(one.arrays("z")["z"]) == one.take("z").value.tolist()


def test_a_tree_that_another_process_is_writing(tmp_path):
    if importlib.util.find_spec("ROOT") is None:
        pytest.skip("ROOT is not installed (dependency group `oracle`)")
    path = tmp_path / "f.root"
    command = [sys.executable, "-W", "ignore", str(PROGRAMS / "grow.py"), str(path)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as writer:

        def step():
            writer.stdin.write("\n")
            writer.stdin.flush()
            return int(writer.stdout.readline())

        assert step() == 1000
        events = tm.dataset(path)
        assert events.num_entries == 1000
        for entries in (2000, 3000):
            assert step() == entries
            assert events.num_entries == entries
            assert events.arrays("x").x.to_list() == list(range(entries))
            assert events.sum("x").value == sum(range(entries))
        writer.stdin.close()
        assert writer.wait() == 0
    assert events.num_entries == 3000
    assert events.hist("x", bins=(3, 0, 3000)).value.values().tolist() == [1000] * 3
