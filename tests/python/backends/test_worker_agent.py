"""A process of a cluster in which something of ours fails: it is told, and the process goes on."""

from treemill.backends.dask.desk import Desk
from treemill.backends.dask.mailbox import Parcel
from treemill.backends.dask.messages import Crashed, Drop, End, Hold
from treemill.backends.dask.station import Station
from treemill.errors import WorkerError

from tests.python.backends.test_scheduler_state import request


def station(folder, awake=lambda soon: None):
    def nothing(*about):
        raise AssertionError("nobody asks")

    return Station("here", str(folder), nothing, nothing, nothing, awake)


class Broken:
    """A crew that fails at every message."""

    def hear(self, message):
        raise ValueError("a mistake of ours")

    def drop(self, merger):
        self.dropped = merger


def test_a_message_that_fails_is_told_and_those_after_it_are_heard(tmp_path):
    there = station(tmp_path)
    crew = there._crews["one"] = Broken()
    there.hear(Parcel(0, (Hold("one", 0), Drop("one", 3)), 0))
    (told,) = there.parcel().messages
    assert isinstance(told, Crashed)
    assert told.work == "one"
    assert crew.dropped == 3


def test_what_is_said_of_a_pass_that_is_unknown_has_no_effect(tmp_path):
    there = station(tmp_path)
    there.hear(Parcel(0, (Hold("one", 0), Drop("one", 0), End("one")), 0))
    assert there.parcel().messages == ()


def test_what_need_not_be_said_at_once_travels_together(tmp_path):
    awoken = []
    there = station(tmp_path, awoken.append)
    for sent in range(2):
        for number in range(3):
            there.say(Crashed("work", ValueError(number)), soon=False)
        assert awoken == [False] * (sent + 1)
        assert len(there.parcel().messages) == 3 * (sent + 1)
    there.say(Crashed("work", ValueError("the last one")))
    assert awoken[-1]


def test_what_a_process_says_of_its_failure_ends_the_pass():
    desk = Desk(lambda: 0.0)
    desk.add("a", "host", 2)
    assert desk.hear("a", "start", Parcel(0, (), 0))
    desk.begin("work", request())
    assert desk.hear("a", "start", Parcel(0, (Crashed("work", WorkerError("no luck")),), 0))
    assert str(desk.status("work").ended.error) == "no luck"
