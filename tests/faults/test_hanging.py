"""User code that does not come to an end, and templates that die: every wait has an end, and the
session goes on."""

import os
import signal
import threading
import warnings

import pytest
import treemill as tm

from tests.raising import raises

from .conftest import wait_for_end
from .test_workers import Once, covers, spans

METHODS = ["begin_worker", "process", "end_worker"]


class HangsHere(tm.Selector):
    """On threads: stays in one of its methods until the test lets it go."""

    def __init__(self, method, at, go):
        self.method, self.at, self.go = method, at, go

    def __deepcopy__(self, memo):
        return HangsHere(self.method, self.at, self.go)

    def _perhaps(self, method):
        if method == self.method:
            self.at.set()
            self.go.wait(300)

    def begin_worker(self, inputs):
        self.output["n"] = 0
        self._perhaps("begin_worker")

    def process(self, events):
        self._perhaps("process")
        self.output["n"] += len(events)

    def end_worker(self):
        self._perhaps("end_worker")


@pytest.mark.parametrize("method", METHODS)
def test_a_thread_that_hangs_is_left_behind_by_close(events, go, method):
    at = threading.Event()
    session = tm.connect(workers=1, patience=0.05)
    query = session.submit(HangsHere(method, at, go), events)
    assert at.wait(60)
    with pytest.warns(RuntimeWarning, match=r"left behind.*in _perhaps \(.*test_hanging\.py"):
        session.close()
    assert not go.is_set()
    with raises(tm.TreemillError, about="closed"):
        query.result(timeout=60)


@pytest.mark.parametrize("method", METHODS)
def test_a_thread_that_hangs_is_left_behind_by_stop(events, go, method):
    at = threading.Event()
    with warnings.catch_warnings(), tm.connect(workers=1, patience=0.05) as session:
        warnings.simplefilter("ignore", RuntimeWarning)  # it comes on another thread
        query = session.submit(HangsHere(method, at, go), events)
        assert at.wait(60)
        query.stop()
        with raises(tm.TreemillError, said="stopped by the user"):
            query.result(timeout=60)
        assert query.report.entries == 0
        assert not query.report.complete
        assert session.run(events.count()) == len(events), "another thread has taken its place"
        assert not go.is_set()


def test_what_other_threads_have_done_is_kept(events, go):
    """One thread is in a chunk for ever; what was committed before is the result."""
    at = threading.Event()
    first = threading.Lock()

    def hangs_once(chunk):
        if chunk.metadata["entrystart"] >= 500 and first.acquire(blocking=False):
            at.set()
            go.wait(300)
        return spans(chunk)

    with warnings.catch_warnings(), tm.connect(workers=1, patience=0.05) as session:
        warnings.simplefilter("ignore", RuntimeWarning)
        query = session.submit(hangs_once, events)
        assert at.wait(60)
        query.stop()
        try:
            output = query.result(timeout=60)
        except tm.TreemillError:  # it had nothing to commit before
            output = {"n": 0}
        assert output["n"] == query.report.entries < len(events)


def test_close_waits_for_threads_that_come_to_an_end(events, go):
    at = threading.Event()
    session = tm.connect(workers=1, patience=60)
    query = session.submit(HangsHere("end_worker", at, go), events)
    assert at.wait(60)
    threading.Thread(target=go.set).start()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        session.close()
    assert query.result(timeout=60)["n"] == len(events)


class HangsThere(tm.Selector):
    """On processes: says that it is there, and stays in one of its methods."""

    def _perhaps(self, method):
        if method == self.inputs["method"]:
            with open(self.inputs["fifo"], "w") as fifo:
                fifo.write(f"{os.getpid()}")
            while True:
                signal.pause()

    def begin_worker(self, inputs):
        self._perhaps("begin_worker")

    def process(self, events):
        self._perhaps("process")

    def end_worker(self):
        self._perhaps("end_worker")


@pytest.mark.parametrize(
    ("method", "how"),
    [
        *((method, "stop") for method in METHODS),
        ("process", "close"),
        *(
            pytest.param(method, "close", marks=pytest.mark.slow)
            for method in METHODS
            if method != "process"
        ),
    ],
)
def test_a_process_that_hangs_is_ended(events, tmp_path, method, how):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    with tm.connect(workers=1, mode="processes", patience=0.05) as session:
        query = session.submit(HangsThere(), events, inputs={"method": method, "fifo": str(fifo)})
        pid = int(fifo.read_text())
        if how == "close":
            session.close()
        else:
            query.stop()
            with raises(tm.TreemillError, said="stopped by the user"):
                query.result(timeout=60)
            assert session.run(spans, events)["n"] == len(events)
        assert wait_for_end(pid)


def read(hanging):
    with open(hanging.fifo) as fifo:
        return int(fifo.read())


@pytest.mark.parametrize("end", ["stop", "abort", "close"])
def test_an_object_whose_loading_hangs_is_not_waited_for(events, hanging, end):
    with tm.connect(workers=2, mode="processes", silence=300, patience=0.05) as session:
        query = session.submit(spans, events, inputs={"x": hanging})
        pid = read(hanging)
        getattr(session if end == "close" else query, end)()
        with pytest.raises(tm.TreemillError):
            query.result(timeout=60)
        assert wait_for_end(pid)
        if end != "close":
            assert covers(events, session.run(spans, events))


def test_loading_has_a_deadline(events, hanging):
    with tm.connect(workers=2, mode="processes", silence=1.0) as session:
        query = session.submit(spans, events, inputs={"x": hanging})
        pid = session._pool._template_client._process.pid
        with raises(tm.WorkerError, said="did not load within 1 seconds"):
            query.result(timeout=60)
        assert wait_for_end(pid)
        session._pool.silence = 300  # a busy machine takes its time to import libraries
        assert covers(events, session.run(spans, events))


# The template.


@pytest.fixture
def session():
    with tm.connect(workers=2, mode="processes") as made:
        yield made


def test_a_template_that_died_between_two_runs_is_replaced(session, events):
    session.run(spans, events)
    dead = session._pool._template_client._process.pid
    os.kill(dead, signal.SIGKILL)
    # Whether or not the thread has noticed it.
    assert covers(events, session.run(spans, events))
    assert session.report.complete
    assert session._pool._template_client._process.pid != dead


class KillsTheTemplate(Once):
    def misbehave(self):
        os.kill(os.getppid(), signal.SIGKILL)


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_a_template_that_dies_in_a_run_is_replaced(events, tmp_path, start):
    inputs = {"token": str(tmp_path / "token")}
    with tm.connect(workers=2, mode="processes", start=start) as session:
        output = session.run(KillsTheTemplate(), events, inputs=inputs)
        assert (tmp_path / "token").exists()
        assert covers(events, output)
        assert session.report.complete


def test_two_queries_on_a_template_that_dies(session, events, tmp_path):
    inputs = {"token": str(tmp_path / "token")}
    queries = [session.submit(KillsTheTemplate(), events, inputs=inputs) for _ in range(2)]
    queries.append(session.submit(events.count()))
    assert covers(events, queries[0].result(timeout=60))
    assert covers(events, queries[1].result(timeout=60))
    assert queries[2].result(timeout=60) == (len(events),)


def test_templates_that_die_at_random_moments(session, events):
    """While others run, so that every state is met in the course of time."""
    for _ in range(4):
        query = session.submit(spans, events)
        os.kill(session._pool._template_client._process.pid, signal.SIGKILL)
        output = query.result(timeout=60)
        assert covers(events, output)
        assert query.report.complete


class KillsWhatLoadsIt:
    def __reduce__(self):
        return os._exit, (7,)


def test_what_kills_every_template_is_given_up(session, events):
    with raises(tm.WorkerError, said="3 times the workers with exit code 7"):
        session.run(spans, events, inputs={"x": KillsWhatLoadsIt()})
    assert covers(events, session.run(spans, events))
