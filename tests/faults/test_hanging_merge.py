"""The user's code that the session itself runs and that does not come to an end: merging, begin,
end. Merging runs on threads, which Python cannot end; begin and end run on the caller's thread."""

import os
import signal
import subprocess
import sys
import threading
import warnings

import pytest
import treemill as tm

from tests.raising import raises

from .conftest import wait_for_end
from .test_workers import REPOSITORY, covers, spans


class Stays:
    """When two are added where the session lives, that stays until the test lets it go."""

    def __init__(self, folder, pid):
        self.folder, self.pid = folder, pid

    def __add__(self, other):
        if os.getpid() == self.pid:
            for name, mode in (("at", "w"), ("go", "r")):
                with open(f"{self.folder}/{name}", mode):
                    pass
        return self


class TwoCommits(tm.Selector):
    """Each of two workers commits once, as neither is done before the other one is at work."""

    def begin_worker(self, inputs):
        self.met = False

    def process(self, events):
        if not self.met:
            self.met = True
            self._meet(self.inputs["folder"])

    def _meet(self, folder):
        try:
            os.close(os.open(f"{folder}/first", os.O_CREAT | os.O_EXCL))
            mode = "r"
        except FileExistsError:
            mode = "w"
        with open(f"{folder}/both", mode):
            pass

    def end_worker(self):
        self.output["x"] = Stays(self.inputs["folder"], self.inputs["pid"])


@pytest.fixture
def folder(tmp_path):
    for name in ("at", "go", "both"):
        os.mkfifo(tmp_path / name)
    return str(tmp_path)


def connected(mode):
    """A session of two workers; each is at a site of its own if there are sites."""
    if mode != "sites":
        return tm.connect(workers=2, mode=mode, patience=0.05)
    return tm.connect([tm.connect(workers=1, patience=0.05) for _ in range(2)])


@pytest.mark.parametrize("end", ["stop", "abort", "close"])
@pytest.mark.parametrize("mode", ["threads", "processes", "sites"])
def test_a_merge_that_hangs_is_given_up(events, folder, mode, end):
    inputs = {"folder": folder, "pid": os.getpid()}
    with warnings.catch_warnings(), connected(mode) as session:
        warnings.simplefilter("ignore", RuntimeWarning)  # it comes on another thread
        query = session.submit(TwoCommits(), events, inputs=inputs)
        with open(f"{folder}/at"):
            getattr(session if end == "close" else query, end)()
        with raises(tm.WorkerError, said="merging what worker . had handed over was not"):
            query.result(timeout=60)
        assert query.snapshot() is None
        if end != "close":
            assert covers(events, session.run(spans, events))
        with open(f"{folder}/go", "w"):
            pass


def test_others_go_on_when_a_merge_is_given_up(events, folder):
    inputs = {"folder": folder, "pid": os.getpid()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        with tm.connect(workers=2, mode="processes", patience=0.05) as session:
            query = session.submit(TwoCommits(), events, inputs=inputs)
            with open(f"{folder}/at"):
                other = session.submit(spans, events)
                query.stop()
            with pytest.raises(tm.WorkerError):
                query.result(timeout=60)
            assert covers(events, other.result(timeout=60))
            with open(f"{folder}/go", "w"):
                pass


class Interrupted(tm.Selector):
    """Ctrl-C comes in one of its methods, which would go on for ever."""

    def __init__(self, method):
        self.method = method

    def _perhaps(self, method):
        if method == self.method:
            os.kill(os.getpid(), signal.SIGINT)
            threading.Event().wait(60)
            raise AssertionError("not interrupted")

    def begin(self, inputs):
        self._perhaps("begin")

    def process(self, events):
        return {"n": len(events)}

    def end(self, output):
        self._perhaps("end")


@pytest.mark.parametrize("method", ["begin", "end"])
def test_ctrl_c_ends_what_runs_on_the_callers_thread(events, method):
    before = signal.getsignal(signal.SIGINT)
    with tm.connect(workers=1) as session:
        with pytest.raises(KeyboardInterrupt):
            session.run(Interrupted(method), events)
        assert signal.getsignal(signal.SIGINT) is before
        assert session.run(events.count()) == len(events)


class EndsLate(tm.Selector):
    def __init__(self, at, go):
        self.at, self.go = at, go

    def __deepcopy__(self, memo):
        return EndsLate(self.at, self.go)

    def process(self, events):
        return {"n": len(events)}

    def end(self, output):
        self.at.set()
        self.go.wait(60)


def test_an_end_that_hangs_holds_nobody_else(events, go):
    at = threading.Event()
    with tm.connect(workers=1, patience=0.05) as session:
        query = session.submit(EndsLate(at, go), events)
        waits = threading.Thread(target=query.result, daemon=True)
        waits.start()
        assert at.wait(60)
        query.stop()
        query.abort()
        assert query.done
        session.close()
        assert waits.is_alive(), "its own thread alone is in it"
    go.set()
    waits.join(60)


AFTER_THE_TEMPLATE = """
import os, signal
try:
    os.close(os.open({token!r}, os.O_CREAT | os.O_EXCL))
except FileExistsError:
    {then}
"""
SAY_AND_STAY = """with open({fifo!r}, "w") as opened:
        opened.write(str(os.getpid()))
    while True:
        signal.pause()"""


class OfWorkers:
    """Loaded by the template, which is the first one, without harm; by others it does `then`."""

    def __init__(self, folder, then):
        code = then.format(fifo=str(folder / "fifo"))
        self.code = AFTER_THE_TEMPLATE.format(token=str(folder / "token"), then=code)

    def __reduce__(self):
        return exec, (self.code,)


@pytest.mark.parametrize("end", ["stop", "abort", "close"])
def test_a_spawned_worker_whose_loading_hangs_is_ended(events, tmp_path, end):
    os.mkfifo(tmp_path / "fifo")
    options = {"mode": "processes", "start": "spawn", "silence": 300, "patience": 0.05}
    with tm.connect(workers=1, **options) as session:
        hangs = OfWorkers(tmp_path, SAY_AND_STAY)
        query = session.submit(spans, events, inputs={"x": hangs})
        pid = int((tmp_path / "fifo").read_text())
        getattr(session if end == "close" else query, end)()
        with pytest.raises(tm.TreemillError):
            query.result(timeout=60)
        assert wait_for_end(pid)


@pytest.mark.slow
@pytest.mark.parametrize("then", ["os._exit(7)", "signal.pause()"])
def test_spawned_workers_that_cannot_load_are_given_up(events, tmp_path, then):
    with tm.connect(workers=1, mode="processes", start="spawn") as session:
        assert covers(events, session.run(spans, events))
        session._pool.silence = 1  # of workers; the template has its own
        said = "3 workers in a row were lost before they were at work"
        with pytest.raises(tm.WorkerError, match=said):
            session.run(spans, events, inputs={"x": OfWorkers(tmp_path, then)})


MERGES_FOR_EVER = """
import os, sys, time
import treemill as tm
from tests.faults.test_hanging_merge import TwoCommits
folder, mode, loop, *paths = sys.argv[1:]

class Loops:
    def __init__(self, pid):
        self.pid = pid
    def __add__(self, other):
        if os.getpid() == self.pid:
            open(f"{folder}/at", "w").close()
            while True:
                if loop == "sleeps":
                    time.sleep(60)
        return self

class Merges(TwoCommits):
    def end_worker(self):
        self.output["x"] = Loops(self.inputs["pid"])

if __name__ == "__main__":
    events = tm.dataset(paths, "Events")
    with tm.connect(workers=2, mode=mode, patience=0.05) as session:
        try:
            session.run(Merges(), events, inputs={"folder": folder, "pid": os.getpid()})
        except KeyboardInterrupt as error:
            print(type(error).__name__, error.partial_result, error.report.entries)
            print(error.report.complete, "no result: interrupted" in str(error))
        print(session.run(events.count()))
"""


@pytest.mark.parametrize("loop", ["runs", "sleeps"])
@pytest.mark.parametrize("mode", ["threads", "processes"])
@pytest.mark.slow
def test_ctrl_c_ends_a_merge_that_hangs(events, folder, mode, loop):
    """In a program of its own, which then goes on and comes to its end."""
    client = subprocess.Popen(
        [sys.executable, "-c", MERGES_FOR_EVER, folder, mode, loop, *events.files],
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with open(f"{folder}/at"):
        client.send_signal(signal.SIGINT)
    try:
        out, err = client.communicate(timeout=60)
    finally:
        client.kill()
    assert client.returncode == 0, err
    assert out == f"QueryInterrupted None 0\nFalse True\n{len(events)}\n"
    # Where workers are processes, the thread is no worker.
    assert ('mode="processes" can end' in err) == (mode == "threads")
    assert "is left behind" in err
