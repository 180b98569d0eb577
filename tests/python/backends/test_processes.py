"""Sessions on processes: how they start, what they share, what they send."""

import contextlib
import os
import re
import resource
import subprocess
import sys
import threading
import zipfile
from pathlib import Path
from queue import SimpleQueue

import numpy as np
import pytest
import treemill as tm
import uproot
from treemill.backends.processes.messages import Channel
from treemill.session.run import QueryNews

from tests.raising import raises

LINUX = pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="looks at processes in /proc")


@pytest.fixture
def session():
    with tm.connect(workers=2, mode="processes") as made:
        yield made


def status(pid, field):
    text = Path(f"/proc/{pid}/status").read_text()
    return re.search(rf"^{field}:\s+(\d+)", text, re.M)[1]


@LINUX
def test_the_template_has_one_thread(session, events):
    """With everything loaded that workers use, after it has forked some."""
    session.run(lambda e: {"n": len(e), "jets": np.zeros(2)}, events)
    assert status(session._pool._template_client._process.pid, "Threads") == "1"


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_a_process_that_has_a_thousand_files_open_has_workers(events, start):
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    if 0 <= limits[1] < 1500:
        pytest.skip("so many files may not be open here")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(limits[0], 1500), limits[1]))
    try:
        with contextlib.ExitStack() as stack:
            for _ in range(1100):
                stack.enter_context(open(os.devnull))
            with tm.connect(workers=2, mode="processes", start=start) as session:
                assert session.run(lambda e: {"n": len(e)}, events) == {"n": 12322}
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


def test_workers_are_processes_of_their_own(session, events):
    output = session.run(lambda e: {"pids": {os.getpid()}, "parents": {os.getppid()}}, events)
    assert os.getpid() not in output["pids"] | output["parents"]
    assert len(output["parents"]) == 1


def test_it_is_said_when_all_workers_are_at_work(events):
    # Of several workers one may have done everything before another has begun.
    with tm.connect(workers=1, mode="processes") as session:
        query = session.submit(events.hist("MET_pt", bins=(20, 0, 100)))
        news = SimpleQueue()
        query.watch(news, QueryNews.AT_WORK)
        assert news.get(timeout=60) is QueryNews.AT_WORK
        query.prepare()
        (filled,) = query.result(timeout=60)
    assert filled.sum(flow=True) == 12322


def test_queries_give_the_same_as_on_threads(session, events):
    def booked():
        good = events.filter("nMuon >= 2")
        return (
            good.count(),
            good.hist("MET_pt"),
            good.sum("nJet"),
            good.hist("Jet_pt", bins=(9, 0, 90)),
        )

    ours = session.run(*booked())
    theirs = tm.run(*booked())
    assert ours[0] == theirs[0]
    assert ours[1] == theirs[1]
    assert ours[2] == theirs[2]
    assert ours[3] == theirs[3]


class Table(tm.Selector):
    def begin_worker(self, inputs):
        self.output["n"] = 0
        self.output["found"] = set()

    def process(self, events):
        self.output["n"] += len(events)
        self.output["found"].add(float(self.inputs["table"][-1]))


def test_inputs_are_sent_once(session, events, monkeypatch):
    from treemill.backends.processes import messages

    sent = []
    send = Channel.send
    monkeypatch.setattr(
        Channel, "send", lambda self, m, fd=None: (sent.append(type(m)), send(self, m, fd))[1]
    )
    inputs = {"table": np.arange(1000.0)}
    for last in (999.0, 999.0, 7.0):
        inputs["table"][-1] = last
        assert session.run(Table(), events, inputs=inputs)["found"] == {last}
    assert sent.count(messages.Inputs) == 2


def test_what_cannot_be_sent_is_named(session, events):
    lock = threading.Lock()
    with raises(tm.QueryError, said="selector cannot be sent lock"):
        session.run(lambda e: {"n": lock}, events)
    with raises(tm.QueryError, about="inputs"):
        session.run(Table(), events, inputs={"lock": lock})
    assert session.run(events.count()) == 12322


def test_a_script_whose_functions_are_its_own(paths):
    """Defined in __main__, printing, with a lambda: as notebooks and scripts have them."""
    code = f"""
import treemill as tm
class Mine(tm.Selector):
    def begin_worker(self, inputs):
        self.output["n"] = Number()
    def process(self, events):
        print("processing", flush=True)
        self.output["n"].value += inputs_of(self)(events)
class Number:
    def __init__(self): self.value = 0
    def merge(self, other): self.value += other.value
def inputs_of(selector): return selector.inputs["f"]
with tm.connect(workers=2, mode="processes") as session:
    output = session.run(Mine(), tm.dataset({paths!r}, "Events"), inputs={{"f": lambda e: len(e)}})
assert isinstance(output["n"], Number)
print(output["n"].value)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.stderr == ""
    # Processes write lines of their own between those of the script, and into them.
    assert "processing" in done.stdout
    assert done.stdout.replace("processing", "").strip() == "12322"


def uses_mine(events):
    import mine

    return {"values": {mine.VALUE}, "data": {Path(mine.__file__).with_name("d.txt").read_text()}}


def test_relative_paths_begin_where_the_session_is(session, tmp_path, monkeypatch):
    """Not where it was when its workers' template was started."""
    for value, folder in enumerate("ab"):
        (tmp_path / folder).mkdir()
        with uproot.recreate(tmp_path / folder / "x.root") as file:
            file["t"] = {"x": np.full(1000, value)}
    for value, folder in enumerate("ab"):
        monkeypatch.chdir(tmp_path / folder)
        events = tm.dataset("x.root", tree="t")
        assert session.run(events.sum("x")) == value * 1000
        folders = session.run(lambda chunk: {"at": {os.getcwd()}}, events)["at"]
        assert folders == {str(tmp_path / folder)}


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_a_module_that_starts_sessions_when_it_is_imported(paths, tmp_path, start):
    """Its workers' template would import it, start another template, and so on without end."""
    (tmp_path / "unguarded.py").write_text(f"""
import treemill as tm

def counted(chunk):
    return {{"n": len(chunk)}}

with tm.connect(mode="processes", workers=1, start={start!r}) as session:
    print("counted", session.run(counted, tm.dataset({paths[0]!r}, "Events"))["n"])
""")
    ran = subprocess.run(
        [sys.executable, "-c", "import unguarded"],
        cwd=tmp_path, capture_output=True, text=True, timeout=100,
    )  # fmt: skip
    assert "counted" not in ran.stdout
    assert "starts worker processes when it is imported" in ran.stderr
    assert "AttributeError" not in ran.stderr
    assert 'below `if __name__ == "__main__":`' in ran.stderr


def test_packages(session, events, tmp_path):
    folder = tmp_path / "stuff"
    folder.mkdir()
    (folder / "mine.py").write_text("import os\nVALUE = int(os.environ['MINE'])\n")
    (folder / "treemill_setup.py").write_text("import os\nos.environ['MINE'] = '5'\n")
    (folder / "d.txt").write_text("one")
    first = session.upload(folder)
    assert session.run(uses_mine, events) == {"values": {5}, "data": {"one"}}
    assert session.upload(folder) is first
    (folder / "d.txt").write_text("two")
    second = session.upload(folder)
    assert second.digest != first.digest
    assert [package.name for package in session.packages] == ["stuff"]
    assert session.run(uses_mine, events)["data"] == {"two"}
    session.remove("stuff")
    with raises(tm.QueryError, said="no package stuff was uploaded"):
        session.remove("stuff")
    with raises(tm.WorkerError, said="No module named mine") as caught:
        session.run(uses_mine, events)
    assert "import mine" in caught.value.traceback


def test_a_wheel(session, events, tmp_path):
    wheel = tmp_path / "mine-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as file:
        file.writestr("mine/__init__.py", "VALUE = 3\n")
        file.writestr("mine/d.txt", "in the wheel")
    assert session.upload(wheel).name == "mine"
    assert session.run(uses_mine, events) == {"values": {3}, "data": {"in the wheel"}}
    with raises(tm.SourceError, about="neither"):
        session.upload(tmp_path / "nothing")
    with tm.connect(workers=1) as threads, raises(tm.UnsupportedError, about="upload"):
        threads.upload(wheel)
    assert threads.packages == ()


def test_feedback_and_progress(session, paths, monkeypatch, tmp_path):
    """The last packet is held until feedback was seen."""
    from treemill.monitoring import watch

    monkeypatch.setattr(watch, "_FEEDBACK_EVERY", 0.01)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    seen = []

    def held(events):
        if len(events) == 1:
            pipe.read_text()  # until a worker has written
        return {"n": len(events)}

    def feedback(output):
        if not seen:
            seen.append(output["n"])
            pipe.write_text("go on")

    events = tm.dataset([paths[1], paths[0], paths[2]], "Events")
    assert session.run(held, events, feedback=feedback) == {"n": 12322}
    assert 0 < seen[0] < 12322
    assert session.queries[-1].progress.entries == 12322


def test_abort_keeps_what_was_merged(session, events, tmp_path):
    started, held = tmp_path / "started", tmp_path / "held"
    os.mkfifo(started)
    os.mkfifo(held)

    def waits(events):
        if len(events) == 1:
            started.write_text("x")
            held.read_text()  # for ever
        return {"n": len(events)}

    query = session.submit(waits, events)
    started.read_text()
    query.abort()
    with raises(tm.TreemillError, about="aborted"):
        query.result(timeout=30)
    merged = query.snapshot()
    assert query.report.entries == (0 if merged is None else merged["n"]) < 12322
    assert session.run(events.count()) == 12322


@LINUX
def test_large_inputs_are_shared(session, events):
    """Each worker's own memory is a small part of a table of 100 MB that all of them read."""

    class Reads(tm.Selector):
        def process(self, events):
            total = float(self.inputs["table"].sum())
            text = Path("/proc/self/smaps_rollup").read_text()
            private = sum(int(kb) for kb in re.findall(r"Private_\w+:\s+(\d+) kB", text))
            return {"private": [private * 1024], "total": [total]}

    table = np.ones(12_500_000)
    output = session.run(Reads(), events, inputs={"table": table})
    assert set(output["total"]) == {12_500_000.0}
    assert max(output["private"]) < 0.2 * table.nbytes


def test_messages_over_a_socket():
    import socket

    left, right = map(Channel, socket.socketpair())
    large = bytes(3_000_000)
    sender = threading.Thread(target=lambda: [left.send(m) for m in (1, large, "x" * 70_000)])
    sender.start()
    got = []
    while len(got) < 3:
        messages, alive = right.receive()
        assert alive
        got += messages
    sender.join()
    assert got == [1, large, "x" * 70_000]
    left.send("last")
    left.close()
    assert right.drain() == ["last"]
    assert right.receive() == ([], False)
    right.close()
