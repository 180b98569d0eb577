"""The coordinator without any transport: partials are lists of entries, and one loop does all."""

from collections import Counter
from contextlib import contextmanager
from random import Random

import pytest
from treemill.backends.base import log_of
from treemill.backends.merged_partial import MergedPartial
from treemill.errors import SourceError
from treemill.scheduling import (
    Collected,
    Commit,
    Committed,
    FileFailed,
    FileOpened,
    FileSize,
    Finish,
    Halt,
    MergerJoined,
    OpenFile,
    PacketDone,
    Packetizer,
    Policy,
    Process,
    Sizing,
    WorkerGone,
    WorkerJoined,
    WorkerLost,
)
from treemill.scheduling.coordinator import Coordinator


class Entries:
    """A partial."""

    def __init__(self, entries=()):
        self.counts = Counter(entries)

    def merge(self, other):
        self.counts += other.counts

    def results(self):
        return [dict(self.counts)]


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        self.now += 0.01
        return self.now


def coordinator(size=100, workers=1):
    packetizer = Packetizer([FileSize(size)], sizing=Sizing(first=50))
    return Coordinator(packetizer, workers, Clock(), merged=MergedPartial())


def entries(packet):
    return Entries(range(packet.start, packet.stop))


def done(packet, worker=0):
    return PacketDone(worker, packet.number, packet.stop, 1.0)


def worked(leads, worker=0):
    """A worker that has done all there is, up to its Commit; what it has in its partial."""
    partial = Entries()
    (order,) = leads.handle(WorkerJoined(worker))
    while isinstance(order, Process):
        partial.merge(entries(order.packet))
        (order,) = leads.handle(done(order.packet, worker))
    return partial, order


def test_a_loop_leads_workers_to_the_end():
    sizes = [0, 70, 300]
    packetizer, merged = Packetizer([None] * 3, Policy(commit_seconds=0.05)), MergedPartial()
    leads = Coordinator(packetizer, 3, Clock(), merged=merged)
    chance, partials = Random(1), {number: Entries() for number in range(3)}
    orders = [order for number in partials for order in leads.handle(WorkerJoined(number))]
    while leads.ended is None:
        order = orders.pop(chance.randrange(len(orders)))
        worker = order.worker
        if isinstance(order, Process):
            packet = order.packet
            span = range(packet.start, packet.stop)
            partials[worker].merge(Entries((packet.file, entry) for entry in span))
            orders += leads.handle(done(packet, worker))
        elif isinstance(order, OpenFile):
            orders += leads.handle(FileOpened(worker, order.file, sizes[order.file]))
        else:
            assert isinstance(order, Commit)
            partial, partials[worker] = partials[worker], Entries()
            orders += leads.commit(worker, lambda partial=partial: partial)
    assert orders[-1] == Finish(None)
    everything = {(file, entry): 1 for file, size in enumerate(sizes) for entry in range(size)}
    assert merged.results() == [everything]
    assert leads.committed_entries == leads.coverage().entries == 370
    leads.release()
    assert leads.coverage().entries == 370


def test_a_commit_that_does_not_count_is_not_loaded():
    leads = coordinator(workers=2)
    _, order = worked(leads)
    assert order == Commit(0)
    leads.handle(WorkerJoined(1))
    leads.handle(WorkerLost(0))

    def load():
        raise AssertionError("not needed")

    assert leads.commit(0, load) == []
    assert leads.commit(99, load) == []
    leads.abort("enough")
    assert leads.commit(1, load) == []
    assert leads._merged.results() is None


@contextmanager
def meanwhile(does):
    does()
    yield


def test_an_abort_waits_for_a_partial_that_is_being_merged():
    leads = coordinator(workers=2)
    partial, _ = worked(leads)
    leads.handle(WorkerJoined(1))
    said = []
    aside = meanwhile(lambda: said.extend(leads.abort("enough")))
    ended = leads.commit(0, lambda: partial, aside)
    assert said == [Halt()]
    assert ended == [Finish(None)]
    assert leads._merged.results() == [dict.fromkeys(range(100), 1)]
    assert leads.coverage().entries == 100


def test_a_worker_that_is_lost_while_its_partial_is_merged_has_committed():
    leads = coordinator(workers=2)
    partial, _ = worked(leads)
    leads.handle(WorkerJoined(1))
    aside = meanwhile(lambda: leads.handle(WorkerLost(0)))
    assert leads.commit(0, lambda: partial, aside) == [Finish(None)]
    assert leads.coverage().entries == 100


def test_an_abort_keeps_what_mergers_have():
    leads = coordinator()
    leads.handle(MergerJoined(7))
    _, order = worked(leads)
    assert order == Commit(0, 7)
    leads.handle(Committed(0, 7))
    assert Finish(None) not in leads.abort("enough")
    assert leads.handle(Collected(7))[-1] == Finish(None)
    assert leads.coverage().entries == 100


def test_it_is_told_once_when_all_workers_are_at_work():
    leads = coordinator(workers=2)
    assert [leads.begins(number) for number in (0, 0, 5, 5, 1)] == [
        False,
        False,
        True,
        False,
        False,
    ]


def test_a_partial_that_cannot_be_merged_ends_the_pass():
    leads = coordinator()
    worked(leads)
    with pytest.raises(ZeroDivisionError):
        leads.commit(0, lambda: 1 // 0)
    error = ZeroDivisionError("it does not fit")
    assert leads.fail(error) == [Halt(), Finish(error)]
    assert leads.fail(error) == leads.handle(WorkerLost(0)) == []
    assert leads.error is error


def test_no_worker_is_left():
    leads = coordinator()
    leads.handle(WorkerJoined(0))
    assert isinstance(leads.handle(WorkerLost(0, "gone"))[-1].error, WorkerGone)


def test_logs_tell_of_files_that_are_tried_again_and_of_lost_workers(caplog):
    caplog.set_level("DEBUG", "treemill")
    packetizer = Packetizer([None], sizing=Sizing(first=50))
    leads = Coordinator(packetizer, 2, Clock(), log=log_of("0123"))
    orders = leads.handle(WorkerJoined(0))
    assert any(isinstance(each, OpenFile) for each in orders)
    secret = SourceError("https://me:hunter2@host/a.root?token=hunter2 does not answer")
    leads.handle(FileFailed(0, 0, secret, retry=True))
    leads.handle(WorkerLost(0, "signal 9 at s3://key:hunter2@bucket/a.root"))
    told = [each.getMessage() for each in caplog.records]
    assert len(told) == 2
    assert all("query 0123" in each and "worker 0" in each for each in told)
    assert told[0].startswith("file failed")
    assert "file 0" in told[0]
    assert "attempt" in told[0]
    assert told[1].startswith("worker lost")
    assert "signal 9" in told[1]
    assert "hunter2" not in "".join(told)
