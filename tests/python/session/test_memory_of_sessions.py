"""A result lives as long as the user holds it: the session keeps only the reports of queries."""

import gc
import subprocess
import sys
import threading
import weakref
from pathlib import Path

import hist
import numpy as np
import pytest
import treemill as tm

REPOSITORY = Path(__file__).parents[3]


class HistogramMethods(tm.Selector):
    def begin_worker(self, inputs):
        self.output["h"] = hist.Hist(hist.axis.Regular(10, 0, 100))
        self.output["pt"] = np.zeros(10)

    def process(self, events):
        self.output["h"].fill(events.MET_pt)
        self.output["pt"] += 1


# What is run, and which objects its value is made of.
KINDS = {
    "hist": (lambda e, at: [e.hist("MET_pt", bins=(50, 0, 100))], lambda v: [v]),
    "automatic": (lambda e, at: [e.hist("MET_pt")], lambda v: [v]),
    "profile": (lambda e, at: [e.profile("MET_pt", sample="nJet", bins=(9, 0, 9))], lambda v: [v]),
    "take": (lambda e, at: [e.take("MET_pt")], lambda v: [v]),
    "lists": (lambda e, at: [e.take("Jet_pt")], lambda v: [v]),
    "arrays": (lambda e, at: [e.filter("nJet > 1").take(["Jet_*", "MET_pt"])], lambda v: [v]),
    "unique": (lambda e, at: [e.unique("nJet")], lambda v: [v]),
    "quantiles": (lambda e, at: [e.approx_quantiles("MET_pt", [0.1, 0.5])], lambda v: [v]),
    "flow": (lambda e, at: [e.filter("nJet > 1", name="jets").report()], lambda v: [v]),
    "varied": (
        lambda e, at: [e.vary("MET_pt", {"up": "MET_pt*2"}).hist("MET_pt", bins=(5, 0, 9))],
        lambda v: [v["nominal"], v["MET_pt:up"]],
    ),
    "snapshot": (lambda e, at: [e.snapshot(str(at / "s.parquet"), ["MET_pt"])], lambda v: [v]),
    "several": (lambda e, at: [e.take("MET_pt"), e.hist("nJet")], list),
    "selector": (lambda e, at: [HistogramMethods(), e], lambda v: [v["h"], v["pt"]]),
    "function": (lambda e, at: [lambda c: {"a": c.Jet_pt + 1}, e], lambda v: [v["a"]]),
}


@pytest.fixture
def nothing_before_is_collected():
    """The collector does not go through what earlier tests have left, which takes seconds."""
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.mark.parametrize("mode", ["threads", "processes"])
def test_nobody_keeps_results(events, tmp_path, mode, nothing_before_is_collected):
    with tm.connect(workers=2, mode=mode) as session:
        for kind, (booked, parts) in KINDS.items():
            what = booked(events, tmp_path)
            value = session.run(*what, progress=False)
            gc.collect()
            gc.disable()  # nor is there a circle that waits for the collector
            try:
                ends = []
                for part in parts(value):
                    ends.append(threading.Event())
                    weakref.finalize(part, ends[-1].set)
                part = value = what = None
                # A thread may be just about to let go of it.
                assert all(end.wait(30) for end in ends), kind
            finally:
                gc.enable()
        assert len(session.queries) == len(KINDS)
        assert all(query.report.complete and query.done for query in session.queries)
        assert session.queries[0].title == "MET_pt"


def test_a_handle_keeps_its_result(events):
    with tm.connect(workers=2) as session:
        query = session.submit(events.take("MET_pt"))
        first = query.result(timeout=60)
        assert query.result()[0] is first[0]
        assert query.report == session.report
        gone = threading.Event()
        weakref.finalize(query, gone.set)
        del query
        assert gone.wait(30)


def test_a_query_that_failed_is_let_go_of(events):
    with tm.connect(workers=2) as session:
        query = session.submit(events.unique("MET_pt", limit=10))
        with pytest.raises(tm.QueryError):
            query.result(timeout=60)
        gone = threading.Event()
        weakref.finalize(query, gone.set)
        del query
        # The workers' threads may be in frames that know it a moment longer.
        for _ in range(600):
            gc.collect()
            if gone.wait(0.05):
                break
        assert gone.is_set()
        assert not session.report.complete


ROUNDS = """
import gc, re, sys
from pathlib import Path
import treemill as tm
events = tm.dataset(sys.argv[1:], "Events")
node = events.filter("nJet >= 0")
def used():
    gc.collect()
    return int(re.search(r"RssAnon:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) * 1024
def rounds(number):
    for i in range(number):
        size = node.arrays(["Jet_*", "MET_*"]).nbytes
        node.take("Jet_pt").value
        node.hist("MET_pt", bins=(50, 0, 100)).value
    return size
size = rounds(20)
before = used()
rounds(120)
after = []
for _ in range(3):
    rounds(20)
    after.append(used())
print((min(after) - before) / size)
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks at memory in /proc")
def test_memory_is_the_same_after_two_hundred_rounds(paths):
    command = [sys.executable, "-c", ROUNDS, *paths]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    # In results: a session that kept those of the last hundred queries would have thirty. The
    # allocator keeps some pages that were freed, now more and now fewer.
    assert float(done.stdout) < 15
