"""Workers that are started as programs of their own, as on macOS: all but shared memory."""

import os
import signal
import sys
from pathlib import Path

import numpy as np
import pytest
import treemill as tm

from tests.raising import raises


@pytest.fixture(scope="module")
def session():
    with tm.connect(workers=2, mode="processes", start="spawn") as made:
        yield made


class Table(tm.Selector):
    def begin_worker(self, inputs):
        self.output["n"] = 0
        self.output["pids"] = set()
        self.output["parents"] = set()
        self.output["found"] = set()

    def process(self, events):
        self.output["n"] += len(events)
        self.output["pids"].add(os.getpid())
        self.output["parents"].add(os.getppid())
        self.output["found"].add(float(self.inputs["table"].sum()))


def test_workers_are_programs_of_their_own(session, events):
    output = session.run(lambda chunk: {"modules": {sys.orig_argv[3]}}, events)
    assert output["modules"] == {"treemill.backends.processes.spawn"}


def test_selectors_and_inputs(session, events, truth):
    for size in (1000, 2000):
        output = session.run(Table(), events, inputs={"table": np.ones(size)})
        assert output["n"] == len(truth)
        assert output["found"] == {float(size)}
        assert os.getpid() not in output["pids"] | output["parents"]
    assert session.report.complete


def test_queries(session, events, truth):
    count, made = session.run(events.count(), events.hist("MET_pt", bins=(10, 0, 100)))
    assert count == len(truth)
    assert made == tm.run(events.hist("MET_pt", bins=(10, 0, 100)))


def test_what_cannot_be_loaded_is_said(session, events):
    class Wrong:
        def __reduce__(self):
            return int, ("not a number",)

    with raises(tm.WorkerError, said="not a number"):
        session.run(Table(), events, inputs={"table": Wrong()})


class Dies(tm.Selector):
    def process(self, events):
        flag = Path(self.inputs["flag"])
        if not flag.exists():
            flag.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return {"n": len(events)}


def test_a_worker_that_dies_is_replaced(session, events, truth, tmp_path):
    output = session.run(Dies(), events, inputs={"flag": str(tmp_path / "flag")})
    assert output["n"] == len(truth)
    assert session.report.complete


def test_packages_and_limits(events, tmp_path):
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "its_number.py").write_text("NUMBER = 42\n")

    def use(chunk):
        import its_number

        return {"numbers": {its_number.NUMBER}}

    def greedy(chunk):
        return {"much": len(np.ones(100_000_000))}

    with tm.connect(workers=1, mode="processes", start="spawn", memory=200_000_000) as made:
        made.upload(tmp_path / "pack")
        assert made.run(use, events)["numbers"] == {42}
        with raises(tm.WorkerError, about="memory") as caught:
            made.run(greedy, events)
        assert caught.value.entries is not None


def test_wrong_use():
    with raises(tm.QueryError, about="start"):
        tm.connect(mode="processes", start="forkserver")
