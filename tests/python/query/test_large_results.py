"""Large histograms: the numbers of small ones, in little memory, and nothing of what failed."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import treemill as tm
from treemill.query.planning import plan

BINS = [(1500, 0, 1), (1600, 0, 1)]  # 19 MB of doubles, with two of them a large result
ENTRIES = 60_000


@pytest.fixture(scope="module")
def columns():
    chance = np.random.default_rng(5)
    names = ("x", "y", "w")
    return {name: chance.random(ENTRIES) for name in names}


@pytest.fixture(scope="module")
def paths(tmp_path_factory, columns):
    import uproot

    folder, paths = tmp_path_factory.mktemp("large"), []
    for number, part in enumerate(np.array_split(np.arange(ENTRIES), 3)):
        paths.append(str(folder / f"{number}.root"))
        with uproot.recreate(paths[-1]) as file:
            tree = file.mktree("t", dict.fromkeys(columns, "f8"))
            for piece in np.array_split(part, 4):
                tree.extend({name: values[piece] for name, values in columns.items()})
    return paths


def booked(events):
    flat = events.define("z", "x * 0.999")
    return [
        flat.hist("x", "y", bins=BINS, storage="Int64"),
        flat.hist("x", "y", bins=BINS, weight="w"),
        flat.hist("x", "y", bins=BINS, weight="w", storage="Double"),
        flat.hist("z", "y", bins=BINS, storage="Weight"),
        flat.profile("x", "y", sample="w", bins=BINS),
        flat.hist("x", bins=(10, 0, 1), storage="Int64"),
    ]


@pytest.mark.parametrize("mode", ["threads", "processes"])
def test_numbers_are_those_of_small_ones(core, paths, columns, mode):
    events = tm.dataset(paths, tree="t")
    x, y, w = columns.values()
    with tm.connect(workers=3, mode=mode) as session:
        found = session.run(*booked(events), progress=False)
    edges = [np.linspace(0, 1, n + 1) for n, *_ in BINS]
    counts = np.histogram2d(x, y, edges)[0]
    sums = np.histogram2d(x, y, edges, weights=w)[0]
    squares = np.histogram2d(x, y, edges, weights=w**2)[0]
    np.testing.assert_array_equal(found[0].values(), counts)
    np.testing.assert_allclose(found[1].values(), sums, 1e-12)
    np.testing.assert_allclose(found[1].variances(), squares, 1e-12)
    np.testing.assert_allclose(found[2].values(), sums, 1e-12)
    z = np.histogram2d(x * 0.999, y, edges)[0]
    np.testing.assert_array_equal(found[3].values(), z)
    np.testing.assert_array_equal(found[3].variances(), z)
    np.testing.assert_array_equal(found[4].view()["count"], counts)
    means = np.divide(sums, counts, out=np.zeros(counts.shape), where=counts > 0)
    np.testing.assert_allclose(found[4].view()["value"], means, 1e-12)
    np.testing.assert_array_equal(found[5].values(), np.histogram(x, 10, (0, 1))[0])


def test_a_full_partial_is_committed_in_between(core, tmp_path):
    import uproot

    values = np.random.default_rng(6).random(100_000)  # several batches
    with uproot.recreate(tmp_path / "one.root") as file:
        file["t"] = {"x": values, "y": values[::-1], "w": values}
    events = tm.dataset(str(tmp_path / "one.root"), tree="t")
    # Each entry is filled 20 times: all of them have no room in a worker's lists.
    weights = range(1, 21)
    many = [events.hist("x", "y", bins=BINS, weight=f"w * {n}", storage="Double") for n in weights]
    bound = core.Query(plan(many).specification.text).bind(events.chain.trees[0].core)
    partial = bound.partial()
    assert bound.run(0, len(values), partial, core.Control()) < len(values)
    assert partial.is_full
    with tm.connect(workers=1, mode="threads") as session:
        found = session.run(*many, progress=False)
        assert not session.report.missing
    for n, made in zip(weights, found, strict=True):
        assert made.sum(flow=True) == pytest.approx(n * values.sum(), rel=1e-9)


def test_a_packet_that_fails_leaves_nothing(core, paths, tmp_path):
    """A file's last basket is damaged: what its packet filled before that is not there."""
    import uproot

    content = bytearray(Path(paths[1]).read_bytes())
    with uproot.open(paths[1]) as file:
        basket = file["t"]["w"].member("fBasketSeek")[3]
    content[basket + 100 : basket + 400] = bytes(300)
    damaged = tmp_path / "damaged.root"
    damaged.write_bytes(content)
    events = tm.dataset([paths[0], str(damaged), paths[2]], tree="t")
    with tm.connect(workers=2, mode="threads") as session:
        made, _, n = session.run(
            events.hist("x", "y", bins=BINS, storage="Int64"),
            events.hist("x", "y", bins=BINS, weight="w"),
            events.count(),
            progress=False,
            on_error="skip",
        )
        missing = sum(each.stop - each.start for each in session.report.missing)
    assert 0 < missing < ENTRIES
    assert made.sum(flow=True) == n == ENTRIES - missing


PEAK = """
import json, sys
import treemill as tm

def status(line):
    return int(open("/proc/self/status").read().split(line)[1].split()[0]) * 1024

events = tm.dataset(json.loads(sys.argv[1]), tree="t")
workers, storage = int(sys.argv[2]), sys.argv[3]
weight = {"weight": "w"} if storage == "Weight" else {}
number = 8 if storage == "Weight" else 16
large = [events.hist("x", "y", bins=[(1500, 0, 1), (1600, 0, 1 + n)], storage=storage, **weight)
         for n in range(number)]
with tm.connect(workers=workers, mode="threads") as session:
    session.run(events.hist("x", bins=(10, 0, 1), weight="w"), progress=False)
    before = status("VmRSS:")
    made = session.run(*large, progress=False)
print(json.dumps([status("VmHWM:") - before, sum(each.view(flow=True).nbytes for each in made)]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the peak of memory is read from /proc")
@pytest.mark.parametrize(("workers", "storage"), [(1, "Double"), (16, "Double"), (16, "Weight")])
def test_memory_is_hardly_more_than_the_result(core, paths, workers, storage):
    command = [sys.executable, "-c", PEAK, json.dumps(paths), str(workers), storage]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    peak, result = json.loads(done.stdout)
    assert peak < 1.5 * result
