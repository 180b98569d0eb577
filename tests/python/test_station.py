"""A process of a cluster in which something of ours fails: it is told, and the process goes on."""

import asyncio
import pickle
from types import SimpleNamespace

import pytest
from test_desk import request
from treemill.backends.dask import group_loop
from treemill.backends.dask.conversation import Conversation
from treemill.backends.dask.desk import Desk
from treemill.backends.dask.group_loop import GroupLoop
from treemill.backends.dask.group_messages import LeadGroup, Under
from treemill.backends.dask.mailbox import Parcel
from treemill.backends.dask.messages import Crashed
from treemill.backends.dask.station import Station
from treemill.errors import WorkerError


def station(folder, awake=lambda soon: None):
    def nothing(*about):
        raise AssertionError("nobody asks")

    return Station("here", str(folder), nothing, nothing, nothing, awake)


def test_a_message_that_fails_is_told_and_those_after_it_are_heard(tmp_path):
    there = station(tmp_path)
    wrong = LeadGroup("one", 0, "group 0", "host", 1, None, 0.0)
    there.hear(Parcel(0, (wrong, Under("two", 3, "elsewhere")), 0))
    (told,) = there.parcel().messages
    assert isinstance(told, Crashed)
    assert told.work == "one"
    (talk,) = there.groups.talks.values()
    assert (talk.work, talk.sub, talk.address) == ("two", 3, "elsewhere")


@pytest.mark.parametrize("led", [False, True], ids=["the scheduler leads", "another one leads"])
def test_what_need_not_be_said_at_once_travels_together(tmp_path, led):
    awoken = []
    there = station(tmp_path, awoken.append)
    there.hear(Parcel(0, (Under("work", 3, "elsewhere"),), 0))
    (talk,) = there.groups.talks.values()
    name = talk.name if led else "another pass"
    for sent in range(2):
        for number in range(3):
            there.say(Crashed(name, ValueError(number)), soon=False)
        assert awoken == [False] * (sent + 1)
        parcel = there.parcel_of(talk) if led else there.parcel()
        assert len(parcel.messages) == 3 * (sent + 1)
    there.say(Crashed(name, ValueError("the last one")))
    assert awoken[-1]


def test_what_a_process_of_a_group_says_of_its_failure_ends_the_pass():
    desk = Desk(lambda: 0.0)
    desk.add("a", "host", 2)
    assert desk.hear("a", "start", Parcel(0, (), 0))
    desk.begin("work", request(submasters=2))
    assert desk.hear("a", "start", Parcel(0, (Crashed("work", WorkerError("no luck")),), 0))
    assert str(desk.status("work").ended.error) == "no luck"


@pytest.mark.parametrize("which", ["_poll", "_flush"])
def test_an_exchange_that_fails_is_repeated(tmp_path, monkeypatch, caplog, which):
    """Else the process would never be heard of again, and look alive."""
    monkeypatch.setattr(group_loop, "_AGAIN", 0.0)
    there, asked = station(tmp_path), []

    async def ask(pool, address, seconds, **about):
        if about["wait"] is not (which == "_poll"):
            await asyncio.Event().wait()
        asked.append(about)
        if len(asked) == 1:
            raise ValueError("the other side has made a mistake")
        heard = len(pickle.loads(about["parcel"]).messages)
        talk.over = True
        return pickle.dumps(Parcel(0, (), heard))

    monkeypatch.setattr(group_loop, "asked", ask)
    talk = Conversation("work", 0, "elsewhere")
    talk.mail.put("something to say")

    async def run():
        loop = GroupLoop(SimpleNamespace(rpc=None), lambda: there)
        loop.converse(talk)
        while not talk.over:
            await asyncio.sleep(0)
        loop.close()

    asyncio.run(asyncio.wait_for(run(), 60))
    assert len(asked) == 2
    assert "the other side has made a mistake" in caplog.text
