"""A process of a cluster in which something of ours fails: it is told, and the process goes on."""

from treemill.backends.dask.messages import Crashed, Drop, End, Hold, Parcel
from treemill.backends.dask.scheduler_state import SchedulerState
from treemill.backends.dask.worker_agent import WorkerAgent
from treemill.errors import WorkerError

from tests.python.backends.test_scheduler_state import request


def agent(folder, awake=lambda within: None):
    def nothing(*about):
        raise AssertionError("nobody asks")

    return WorkerAgent("here", str(folder), nothing, nothing, nothing, awake)


class Broken:
    """The workers of a pass that fail at every message."""

    def receive(self, message):
        raise ValueError("a mistake of ours")

    def drop(self, merger):
        self.dropped = merger


def test_a_message_that_fails_is_told_and_those_after_it_are_heard(tmp_path):
    there = agent(tmp_path)
    pass_workers = there._passes["one"] = Broken()
    there.receive(Parcel(0, (Hold("one", 0), Drop("one", 3)), 0))
    (told,) = there.parcel().messages
    assert isinstance(told, Crashed)
    assert told.work == "one"
    assert pass_workers.dropped == 3


def test_what_is_said_of_a_pass_that_is_unknown_has_no_effect(tmp_path):
    there = agent(tmp_path)
    there.receive(Parcel(0, (Hold("one", 0), Drop("one", 0), End("one")), 0))
    assert there.parcel().messages == ()


class AtWork:
    """The workers of a pass that has ended, of which some may be in a packet still."""

    is_at_work = True

    def end(self):
        pass


def test_a_pass_that_has_ended_is_kept_as_long_as_its_workers_are_at_work(tmp_path):
    there = agent(tmp_path)
    first, second = there._passes["one"], there._passes["two"] = AtWork(), AtWork()
    there.receive(Parcel(0, (End("one"),), 0))
    assert there._ended == [first]
    first.is_at_work = second.is_at_work = False
    there.receive(Parcel(1, (End("two"),), 0))
    assert there._ended == []


def test_what_need_not_be_said_at_once_travels_together(tmp_path):
    awoken = []
    there = agent(tmp_path, awoken.append)
    for sent in range(2):
        for number in range(3):
            there.send_message(Crashed("work", ValueError(number)), within=1.0)
        assert awoken == [1.0] * (sent + 1)
        assert len(there.parcel().messages) == 3 * (sent + 1)
    there.send_message(Crashed("work", ValueError("the last one")))
    assert awoken[-1] == 0.0


def test_what_is_to_be_said_sooner_than_the_rest_is(tmp_path):
    awoken = []
    there = agent(tmp_path, awoken.append)
    for within in (1.0, 0.1, 0.5, 0.0):
        there.send_message(Crashed("work", ValueError("a mistake of ours")), within)
    assert awoken == [1.0, 0.1, 0.0]


def test_what_a_process_says_of_its_failure_ends_the_pass():
    scheduler_state = SchedulerState(lambda: 0.0)
    scheduler_state.add("a", "host", 2)
    assert scheduler_state.receive("a", "start", Parcel(0, (), 0))
    scheduler_state.begin("work", request())
    assert scheduler_state.receive(
        "a", "start", Parcel(0, (Crashed("work", WorkerError("no luck")),), 0)
    )
    assert str(scheduler_state.status("work").ended.error) == "no luck"
