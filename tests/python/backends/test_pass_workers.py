"""The workers of a pass in a process of a cluster: what they hand over while they go on."""

import pickle
import threading
from concurrent.futures import Future
from queue import SimpleQueue

import pytest
from treemill._core import Control
from treemill.backends.dask.messages import Act, Begin, Hold, Loaded, Recall, Tell
from treemill.backends.dask.pass_workers import PassWorkers
from treemill.scheduling import (
    Commit,
    Committed,
    Discard,
    Discarded,
    Packet,
    PacketDone,
    Process,
    Refused,
    Reserve,
    WorkerJoined,
)
from treemill.workers.workload import Ran

PATIENCE = 30.0
gates = {}  # by the first entry of a packet: it is done once this is set
discarded = SimpleQueue()


class Entries:
    """A partial that is a list of entries."""

    is_full = False

    def __init__(self, entries=()):
        self.entries = list(entries)

    def merge(self, other):
        self.entries += other.entries

    def results(self):
        return [self.entries]

    def dumps(self, before=b""):
        return before + pickle.dumps(self.entries)


class Workload:
    """Does a packet once its gate is open."""

    def begin(self):
        pass

    def opens(self, file, then):
        return False

    def size(self, file):
        return 1000, ()

    def ahead(self, file):
        return 0

    def place(self, file):
        return "a file", 0

    def changed(self, file):
        return None

    def states(self, files):
        return {}

    def run_files(self, spans, turn, partial, control):
        return partial, Ran()

    def finish(self, partial):
        return partial

    def discard(self, partial):
        discarded.put(partial.entries)

    def bound(self, file):
        return self

    def partial(self):
        return Entries()

    def run(self, start, stop, partial, control):
        assert gates[start].wait(PATIENCE)
        partial.entries += range(start, stop)
        return stop

    def prefetch(self, start, stop, control):
        pass

    def forget(self, start, stop):
        pass

    def bytes_of(self, start, stop):
        return 0


class Task:
    """See treemill's Task."""

    commit_seconds = 1.0
    least_seconds = 0.0
    alone_entries = share_entries = 0
    second_runs = holds_lock = small_files = False
    inputs = None

    def preload(self):
        pass

    def control(self):
        return Control()

    def workload(self, number):
        return Workload()

    def load(self, data, first=0):
        return Entries(pickle.loads(data[first:]))


class Around:
    """The process: keeps what is said, and what is handed to others until the test lets it go."""

    address = called = "here"
    names = ("host",)

    def __init__(self):
        self.said = SimpleQueue()
        self.within = []
        self.handed = SimpleQueue()

    def send_message(self, message, within=0.0):
        self.within.append(within)
        self.said.put(message)

    def blob(self, digest):
        return pickle.dumps(Task())

    def paths(self, packages):
        pass

    def fetch(self, address, work, merger):
        raise AssertionError("nothing is fetched")

    def hand(self, address, which, covers, data):
        future = Future()
        self.handed.put((address, which[1:], covers, future))
        return future


PACKETS = [Packet(number, 0, 10 * number, 10 * number + 10) for number in range(4)]


class Pass:
    """A pass with one worker, which has the first packet, and puts its partial aside before the
    third one."""

    def __init__(self):
        gates.clear()
        gates.update({packet.start: threading.Event() for packet in PACKETS})
        while not discarded.empty():
            discarded.get()
        self.around = Around()
        self.workers = PassWorkers(Begin("pass", "task", None, (), (7,), "a query"), self.around)
        assert isinstance(self.heard(), Loaded)
        assert self.event() == WorkerJoined(7)
        for packet in PACKETS[1:]:
            self.tell(Reserve(7, packet, packet is PACKETS[2]))
        self.tell(Process(7, PACKETS[0]))

    def heard(self):
        return self.around.said.get(timeout=PATIENCE)

    def event(self):
        told = self.heard()
        assert isinstance(told, Tell), told
        return told.event

    def tell(self, action):
        self.workers.receive(Act("pass", action))

    def do(self, number):
        gates[PACKETS[number].start].set()
        event = self.event()
        assert isinstance(event, PacketDone), event
        return event

    def commit(self, merger=3, address="there", covers=None, taken=0):
        act = Act("pass", Commit(7, merger), address, covers or {}, taken)
        self.workers.receive(act)

    def handed(self):
        return self.around.handed.get(timeout=PATIENCE)


@pytest.fixture
def one():
    made = Pass()
    yield made
    for gate in gates.values():
        gate.set()
    made.workers.end()


def test_what_is_put_aside_is_handed_over_while_the_worker_goes_on(one):
    assert one.do(0).begun == 1
    assert one.do(1).begun == 2
    one.commit(covers={0: [(0, 20)]})
    address, which, covers, hand = one.handed()
    assert (address, which, covers) == ("there", (3, 7, 0, True), {0: [(0, 20)]})
    assert one.do(2).begun == 3, "it does not wait"
    hand.set_result(None)
    assert one.do(3).begun is None
    one.commit(taken=1)
    _, which, _, hand = one.handed()
    assert which == (3, 7, 1, False), "as many as the merger has said that it has"
    hand.set_result(None)
    one.tell(Process(7, PACKETS[0]))
    assert one.event().packet == 0, "it is for the merger to say that it has the partials"


def test_what_a_merger_has_said_counts_before_its_answer_comes(one):
    one.do(0)
    one.do(1)
    one.commit()
    late = one.handed()[-1]
    one.do(2)
    one.do(3)
    one.commit(taken=1)
    _, which, _, hand = one.handed()
    assert which == (3, 7, 1, False)
    assert late.cancelled()
    one.tell(Process(7, PACKETS[0]))
    assert one.event().packet == 0
    assert hand.cancelled(), "nor does the worker wait for this one's answer"


def taken_here(one, is_aside):
    one.workers.receive(Hold("pass", 3))
    one.workers.take(3, 8, 0, {}, None, is_aside)
    return one.event()


@pytest.mark.parametrize("is_aside", [False, True])
def test_a_merger_says_what_it_has_taken_once(one, is_aside):
    assert taken_here(one, is_aside) == Committed(8, 3)
    assert bool(one.around.within[-1]) == is_aside, "a worker that waits is told at once"
    one.workers.take(3, 8, 0, {}, None, is_aside)  # it was sent once more
    one.workers.receive(Recall("pass", 3, 8))
    assert one.event() == Refused(3, 8)
    assert one.workers.read(3)[0] == 1


def test_a_merger_of_this_process_gets_what_was_put_aside(one):
    one.workers.receive(Hold("pass", 3))
    one.do(0)
    one.do(1)
    one.commit(address="here", covers={0: [(0, 20)]})
    assert one.event() == Committed(7, 3)
    commits, covers, data = one.workers.read(3)
    assert (commits, covers) == (1, {0: [(0, 20)]})
    assert one.workers._loaded(data).results() == [list(range(20))]


def test_another_commit_means_that_the_merger_of_the_first_one_is_lost(one):
    one.do(0)
    one.do(1)
    one.commit(merger=3)
    lost = one.handed()[-1]
    one.do(2)
    one.do(3)
    one.tell(Process(7, PACKETS[0]))
    assert one.event().packet == 0
    assert not lost.cancelled(), "a packet says nothing of it"
    one.commit(merger=4)
    _, which, _, hand = one.handed()
    assert which == (4, 7, 0, False)
    assert lost.cancelled()
    hand.set_result(None)


def test_what_was_put_aside_is_thrown_away_with_the_rest(one):
    one.do(0)
    one.do(1)
    one.do(2)
    one.do(3)
    one.tell(Discard(7))
    assert one.event() == Discarded(7)
    assert [discarded.get_nowait() for _ in range(2)] == [[*range(20)], [*range(20, 40)]]


def test_what_was_put_aside_is_thrown_away_at_the_end(one):
    one.do(0)
    one.do(1)
    one.workers.end()
    for gate in gates.values():
        gate.set()
    assert discarded.get(timeout=PATIENCE) == [*range(20)]
