"""What is recorded of a query, simulated or real, and what the record tells."""

import pytest
import treemill as tm
from treemill.scheduling import (
    Commit,
    Committed,
    FileFailed,
    FileOpened,
    Finish,
    Packet,
    PacketDone,
    PacketFailed,
    Process,
    Reserve,
    Tick,
    Timeline,
    Trace,
    WorkerJoined,
    WorkerLost,
)

from tests.python.packet_history import History
from tests.raising import raises


@pytest.mark.parametrize("mode", ["threads", "processes"])
def test_a_real_run_is_looked_at_as_a_simulated_one(events, mode):
    with tm.connect(workers=2, mode=mode, trace=10_000) as session:
        query = session.submit(events.count())
        assert query.result(timeout=60) == (12322,)
        trace = query.report.trace
    assert trace.dropped == 0
    assert trace.records[-1].actions[-1] == Finish(None)
    timeline = Timeline.of(trace)
    assert sum(span.entries for span in timeline.spans) == 12322
    assert all(0 <= span.began <= span.ended <= timeline.seconds for span in timeline.spans)
    assert 0 < timeline.attended <= 2 * timeline.seconds
    assert timeline.last_packet > 0
    shortest = min(span.ended - span.began for span in timeline.spans)
    points = int(2 * timeline.seconds / shortest)  # fine enough to see it, whatever the start took
    assert max(timeline.activity(points)[1]) >= 1


def test_nothing_is_kept_unless_asked_for(events):
    with tm.connect(workers=1) as session:
        query = session.submit(events.count())
        query.result(timeout=60)
        assert query.report.trace is None
    for wrong in (-1, True):
        with raises(tm.QueryError, said="a number of records"):
            tm.connect(trace=wrong)


@pytest.mark.parametrize("mergers", [False, True])
def test_the_packets_that_count_are_those_of_the_result(mergers):
    for seed in range(100):
        history = History(seed, mergers=mergers)
        world = history.world
        history.live()
        timeline = Timeline.of(world.trace)
        assert sum(span.entries for span in timeline.spans) == len(world.result)
        assert timeline.at_the_end == world.there_at_the_end


def test_the_oldest_records_are_dropped_and_their_workers_are_not():
    trace = Trace(began=100.0, limit=2)
    trace.record(101.0, WorkerJoined(0), [])
    trace.record(102.0, WorkerJoined(1), [])
    trace.record(103.0, WorkerLost(1), [])
    trace.record(104.0, WorkerJoined(2), [])
    trace.record(105.0, WorkerJoined(3), [])
    assert repr(trace) == "<trace of 2 of 5 records>"
    timeline = Timeline.of(trace)
    assert timeline.seconds == 5.0
    assert timeline.at_the_end == {0, 2, 3}
    assert timeline.attended == 4.0 + 1.0 + 0.0


def test_a_record_holds_no_error_and_no_cuts():
    error = ValueError("in the user's hands")
    trace = Trace()
    trace.record(0.0, FileFailed(0, 0, error), [])
    trace.record(0.0, PacketFailed(0, 0, error), [Finish(error)])
    trace.record(0.0, FileOpened(0, 0, 10, (5,)), [])
    failed, packet, opened = trace.records
    for kept in (failed.event.error, packet.event.error, packet.actions[0].error):
        assert kept is not error
        assert str(kept) == "ValueError: in the user's hands"
        assert kept.__traceback__ is None
    assert opened.event == FileOpened(0, 0, 10)


def test_a_packet_of_a_worker_that_was_given_up_counts_for_nothing():
    world = History(0).world
    packet = next(o.packet for o in world.orders.values() if isinstance(o, Process))
    worker = next(w for w, o in world.orders.items() if isinstance(o, Process))
    world.lose(worker)
    world.tell(PacketDone(worker, packet.number, packet.stop, 0.001))
    timeline = Timeline.of(world.trace)
    assert worker not in {span.worker for span in timeline.spans + timeline.thrown_away}


def test_a_worker_has_one_packet_at_a_time_however_late_words_come():
    trace = Trace()
    first, second = Packet(0, 0, 0, 10), Packet(1, 0, 10, 20)
    trace.record(0.0, WorkerJoined(0), [Process(0, first)])
    trace.record(0.1, Tick(), [Reserve(0, second)])
    trace.record(1.5, PacketDone(0, 0, 10, 1.0, begun=1), [])  # half a second late
    trace.record(2.0, PacketDone(0, 1, 20, 0.9), [Commit(0)])
    trace.record(2.1, Committed(0), [Finish()])
    timeline = Timeline.of(trace)
    assert [(span.began, span.ended) for span in timeline.spans] == [(0.5, 1.5), (1.5, 2.0)]
    assert max(timeline.activity()[1]) == 1
