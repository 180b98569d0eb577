"""What workers do beside their orders: bytes asked for ahead, files opened ahead; and whole passes
on files that are taken for far ones."""

import shutil
import threading
from pathlib import Path

import pytest
import treemill as tm
from treemill.scheduling import (
    OPENINGS,
    FileFailed,
    FileOpened,
    Forget,
    OpenAhead,
    Packet,
    PacketDone,
    PacketFailed,
    Prefetch,
    Process,
)
from treemill.session.api import connect
from treemill.workers.worker import _AT_ONCE, BackgroundWork, Worker

from tests.python import far_files

SECONDS = 30.0
"""After which a test gives up."""


class Control:
    counted = ()
    keeps_steps = False
    stopped = False

    def part(self):
        return self

    def enter(self):
        """What the thread waits for ends with the run."""

    def leave(self):
        """It works for no run any more."""


class Nothing:
    """A partial into which nothing is put."""

    is_full = False


class Far:
    """A workload, and its one bound, on files that open when they are told to."""

    def __init__(self):
        self.may_open = threading.Event()
        self.bell = threading.Condition()
        self.said = []
        self.fails = False

    def say(self, *words):
        with self.bell:
            self.said.append(words)
            self.bell.notify_all()

    def wait_for(self, *words):
        with self.bell:
            assert self.bell.wait_for(lambda: words in self.said, SECONDS)

    def bound(self, file):
        self.say("bound", file)
        assert self.may_open.wait(SECONDS)
        if self.fails:
            raise OSError("chance")
        return self

    def opens(self, file, then):
        return False

    def size(self, file):
        self.bound(file)
        return 100, (50,)

    def changed(self, file):
        return None

    def ahead(self, file):
        return 70

    def partial(self):
        return Nothing()

    def run(self, start, stop, partial, control):
        self.say("run", start, stop)

    def prefetch(self, start, stop, control):
        assert isinstance(control, Control), "it counts what is asked for"
        self.say("prefetch", start, stop)

    def forget(self, start, stop):
        self.say("forget", start, stop)


def packet(number):
    return Packet(number, file=0, start=10 * number, stop=10 * number + 10)


@pytest.fixture
def far():
    made = Far()
    yield made
    made.may_open.set()


def begun(far):
    """Beside a worker that has begun a packet, to which nothing was promised."""
    beside = BackgroundWork(far, Control())
    beside.begin(packet(0))
    return beside


def test_the_first_packet_asks_before_what_is_promised_with_it(far):
    worker = Worker(0, far, Control(), None, None)
    far.may_open.set()
    for number in (2, 3):
        worker.note(Prefetch(0, packet(number)))
    assert far.said == []
    assert isinstance(worker.perform(Process(0, packet(1))), PacketDone)
    for number in (2, 3):
        far.wait_for("prefetch", 10 * number, 10 * number + 10)
    asked = [words for words in far.said if words[0] != "bound"]
    assert asked[0] == ("prefetch", 10, 20)
    assert asked.count(("prefetch", 10, 20)) == asked.count(("run", 10, 20)) == 1


def test_a_packet_whose_file_is_not_open_when_the_run_is_stopped_has_no_entries(far):
    control = Control()
    worker = Worker(0, far, control, None, None)
    far.may_open.set()
    far.fails = True
    assert isinstance(worker.perform(Process(0, packet(1))), PacketFailed)
    control.stopped = True
    event = worker.perform(Process(0, packet(1)))
    assert isinstance(event, PacketDone)
    assert (event.stop, event.ahead) == (10, 0)


def test_what_fails_for_the_first_packet_holds_up_nothing(far):
    beside = BackgroundWork(far, Control())
    beside.prefetch(packet(2))
    far.may_open.set()
    far.fails = True
    beside.begin(packet(1))
    far.fails = False
    beside.prefetch(packet(3))
    far.wait_for("prefetch", 30, 40)


def test_bytes_are_asked_for_while_somebody_else_works(far):
    beside = begun(far)
    beside.prefetch(packet(1))
    far.wait_for("bound", 0)
    far.may_open.set()
    far.wait_for("prefetch", 10, 20)
    beside.forget(packet(1))
    assert far.said[-1] == ("forget", 10, 20)


def test_what_was_fetched_is_dropped_when_the_pass_is_over(far):
    beside = begun(far)
    far.may_open.set()
    for number in (1, 2, 3):
        beside.prefetch(packet(number))
        far.wait_for("prefetch", 10 * number, 10 * number + 10)
    beside.begin(packet(2))
    beside.leave()
    forgotten = [words for words in far.said if words[0] == "forget"]
    assert forgotten == [("forget", 10, 20), ("forget", 30, 40)]


def test_what_is_forgotten_before_its_file_is_open_is_not_asked_for(far):
    beside = begun(far)
    beside.prefetch(packet(1))
    far.wait_for("bound", 0)
    beside.prefetch(packet(2))
    beside.forget(packet(1))
    far.may_open.set()
    far.wait_for("prefetch", 20, 30)
    assert ("prefetch", 10, 20) not in far.said
    assert ("forget", 10, 20) not in far.said


def test_a_packet_that_has_begun_is_neither_asked_for_nor_forgotten(far):
    beside = begun(far)
    for number in (1, 2):
        beside.prefetch(packet(number))
    far.wait_for("bound", 0)
    beside.begin(packet(1))
    far.may_open.set()
    far.wait_for("prefetch", 20, 30)
    beside.begin(packet(2))
    beside.forget(packet(2))
    assert far.said.count(("bound", 0)) == 2
    assert [words for words in far.said if words[0] != "bound"] == [("prefetch", 20, 30)]


def test_errors_of_what_is_asked_ahead_are_no_events(far):
    told = []
    worker = Worker(0, far, Control(), None, told.append)
    far.may_open.set()
    worker.perform(Process(0, packet(0)))
    far.said.clear()
    far.fails = True
    worker.note(Prefetch(0, packet(1)))
    far.wait_for("bound", 0)
    worker.note(Forget(0, packet(1)))
    far.fails = False
    event = worker.perform(Process(0, packet(1)))
    assert isinstance(event, PacketDone)
    assert event.ahead == 70
    assert told == []


@pytest.mark.parametrize("shared", [False, True])
def test_what_was_fetched_is_kept_for_a_worker_that_has_the_same_workload(far, shared):
    first = Worker(0, far, Control(), None, None)
    second = Worker(1, far if shared else Far(), Control(), None, None)
    far.may_open.set()
    first.perform(Process(0, packet(0)))
    first.note(Prefetch(0, packet(1)))
    far.wait_for("prefetch", 10, 20)
    first.note(Forget(0, packet(1), to=1), second)
    assert (("forget", 10, 20) in far.said) != shared


@pytest.mark.parametrize("fails", [False, True])
def test_files_are_opened_beside_a_packet(far, fails):
    told, heard = [], threading.Event()

    def tell(event):
        told.append(event)
        heard.set()

    worker = Worker(0, far, Control(), None, tell)
    far.fails = fails
    worker.note(OpenAhead(0, 3))
    far.wait_for("bound", 3)
    assert told == [], "nobody has waited for it"
    far.may_open.set()
    assert heard.wait(SECONDS)
    if fails:
        assert isinstance(told[0], FileFailed)
        assert told[0].beside
    else:
        assert told == [FileOpened(0, 3, 100, (50,), 70, beside=True)]


def test_after_the_pass_nothing_more_is_begun(far):
    beside = begun(far)
    for number in range(OPENINGS + 20):
        beside.prefetch(packet(number))
    far.wait_for("bound", 0)
    beside.leave()
    far.may_open.set()
    assert far.said.count(("bound", 0)) <= OPENINGS + 2, "as many as there are threads"
    assert all(words[0] == "bound" for words in far.said)


class Server(Far):
    """Files of a server, which are opened in the background until `answers` are called."""

    def __init__(self):
        super().__init__()
        self.answers = []

    def opens(self, file, then):
        self.answers.append(then)
        return True


def test_no_thread_waits_while_servers_open_files():
    server = Server()
    beside = begun(server)
    before = set(threading.enumerate())
    for number in range(OPENINGS):
        beside.prefetch(packet(number))
    assert set(threading.enumerate()) <= before
    assert server.said == []
    server.may_open.set()
    server.answers[-1]()
    last = 10 * (OPENINGS - 1)
    server.wait_for("prefetch", last, last + 10)
    assert len([words for words in server.said if words[0] == "prefetch"]) == 1


def test_files_that_are_open_take_few_threads():
    server = Server()
    beside = begun(server)
    before = set(threading.enumerate())
    for number in range(OPENINGS):
        beside.prefetch(packet(number))
    for then in server.answers:
        then()
    server.wait_for("bound", 0)
    assert len(set(threading.enumerate()) - before) <= _AT_ONCE
    server.may_open.set()


def test_a_file_that_is_open_after_the_pass_is_left_alone():
    server = Server()
    server.may_open.set()
    beside = begun(server)
    beside.prefetch(packet(1))
    beside.leave()
    before = threading.active_count()
    server.answers[0]()
    assert threading.active_count() == before
    assert server.said == []


def hints(session):
    actions = [a for record in session.report.trace.records for a in record.actions]
    return {kind: sum(isinstance(a, kind) for a in actions) for kind in (Prefetch, OpenAhead)}


@pytest.fixture
def many(paths, tmp_path):
    """Files of which nobody knows how many entries they have."""
    copies = [tmp_path / f"{copy}_{Path(path).name}" for copy in range(3) for path in paths]
    for copy, path in zip(copies, paths * 3, strict=True):
        shutil.copy(path, copy)
    return tm.dataset([str(copy) for copy in copies], tree="Events")


@pytest.mark.usefixtures("short_packets")
@pytest.mark.parametrize("workers", [1, 3])
def test_a_pass_on_threads_with_promises(many, truth, monkeypatch, workers):
    far_files.apply(monkeypatch.setattr)
    monkeypatch.setattr(far_files, "asked", [])
    with connect(workers=workers, trace=100_000) as session:
        count, jets = session.run(many.count(), many.sum("nJet"))
        assert (count, jets) == (3 * len(truth), 3 * int(sum(truth.nJet)))
        assert session.report.complete
        assert min(hints(session).values()) > 0
    assert any(words[0] == "prefetch" for words in far_files.asked)


@pytest.mark.usefixtures("short_packets")
def test_a_pass_on_processes_with_promises(many, truth, tmp_path):
    folder = tmp_path / "far"
    folder.mkdir()
    text = Path(far_files.__file__).read_text()
    (folder / "treemill_setup.py").write_text(f"{text}\n\napply()\n")
    with connect(workers=2, mode="processes", trace=100_000) as session:
        session.upload(folder)
        count, jets = session.run(many.count(), many.sum("nJet"))
        assert (count, jets) == (3 * len(truth), 3 * int(sum(truth.nJet)))
        assert session.report.complete
        assert min(hints(session).values()) > 0


def test_selectors_know_nothing_beforehand(many, truth, monkeypatch):
    far_files.apply(monkeypatch.setattr)
    with connect(workers=2, trace=100_000) as session:
        found = session.run(lambda chunk: {"n": len(chunk)}, many)
        assert found["n"] == 3 * len(truth)
        assert not any(hints(session).values())
