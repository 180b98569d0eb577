"""The analysis description benchmark in examples/adl/: the same bins as RDataFrame with C++, as
awkward with vector, and as the slow evaluator.
"""

import ast
import importlib
import json
import subprocess
import sys
from pathlib import Path

import boost_histogram as bh
import numpy as np
import pytest
import treemill as tm
import uproot
from treemill.facility.generate import write

from bench.adl.tasks import TASKS
from tests.reference import MISSING, Event, evaluate, flat

EXAMPLES = Path(__file__).parents[2] / "examples" / "adl"


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("adl") / "opendata.root"
    write(path, events=12_000, cluster=1_000, codec="zstd", schema="opendata")
    return path


def booked(task, events):
    made = importlib.import_module(f"examples.adl.{task}").analysis(events)
    return made if isinstance(made, tuple) else (made,)


@pytest.fixture(scope="module")
def ours(path):
    """All tasks' bins, from one pass."""
    events = tm.dataset(path, tree="Events")
    bookings = {task: booked(task, events) for task in TASKS}
    tm.run(*(b for each in bookings.values() for b in each), progress=False)
    return {
        task: [float(x) for b in each for x in b.value.values(flow=True)]
        for task, each in bookings.items()
    }


@pytest.mark.parametrize("task", TASKS)
def test_at_most_six_lines(task):
    tree = ast.parse((EXAMPLES / f"{task}.py").read_text())
    (function,) = (node for node in tree.body if isinstance(node, ast.FunctionDef))
    first, last = function.body[0].lineno, function.body[-1].end_lineno
    assert last - first < 6


@pytest.mark.parametrize("task", TASKS)
def test_something_is_there(task, ours):
    assert sum(ours[task]) > 100


@pytest.fixture(scope="module")
def root(root_program, path):
    output = path.with_suffix(".json")
    root_program("adl.py", path, output)
    return json.loads(output.read_text())


@pytest.mark.parametrize("task", TASKS)
def test_equals_rdataframe(task, ours, root):
    np.testing.assert_array_equal(ours[task], root[task])


@pytest.mark.parametrize("task", TASKS)
def test_equals_awkward_and_vector(task, ours, path):
    pytest.importorskip("vector", reason="vector is not installed (dependency group `dev`)")
    from bench.adl import awkward_

    np.testing.assert_array_equal(ours[task], awkward_.make(1, "").run(task, str(path)))


@pytest.fixture(scope="module")
def rows(path):
    """The first events, as the slow evaluator has them."""
    with uproot.open(path) as file:
        rows = file["Events"].arrays(entry_stop=ENTRIES).to_list()
    return [Event(row, ("Muon", "Electron", "Jet")) for row in rows]


ENTRIES = 1_500


def steps(node):
    """Filters and definitions from the dataset down to the node."""
    return [] if node.step is None else [*steps(node.parent), node.step]


def slowly(booking, rows):
    """The booking's histogram, by its description alone."""
    (expr,) = booking.wanted.exprs
    axis = booking.wanted.axes[0].spec
    histogram = bh.Histogram(bh.axis.Regular(axis["bins"], axis["start"], axis["stop"]))
    for row in rows:
        names = {}
        for step in steps(booking.node):
            value = evaluate(step.expr.text, row, **names)
            if hasattr(step, "name") and type(step).__name__ == "Define":
                names[step.name] = value
            elif value is MISSING or not value:
                break
        else:
            values = flat(evaluate(expr.text, row, **names))
            histogram.fill(np.array(values, dtype=float))
    return histogram.values(flow=True)


@pytest.mark.parametrize("task", TASKS)
def test_equals_the_slow_evaluator(task, path, rows):
    with uproot.open(path) as file:
        assert file["Events"].num_entries > ENTRIES
    few = tm.dataset(path, tree="Events").filter(f"event <= {ENTRIES}")
    for booking in booked(task, few):
        np.testing.assert_array_equal(booking.value.values(flow=True), slowly(booking, rows))


def test_the_readmes_commands(path):
    command = [sys.executable, str(EXAMPLES / "run.py"), str(path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("MET_pt") >= 3
