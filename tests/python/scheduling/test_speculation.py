"""Exactly once, whatever happens: thousands of random histories of workers that come, go, get
stuck, fail, are late and are overtaken; and the rules of second runs one by one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from treemill.scheduling import (
    Commit,
    Committed,
    Discard,
    FileSize,
    Finish,
    Halt,
    PacketDone,
    PacketFailed,
    Packetizer,
    Policy,
    Process,
    Sizing,
    Stop,
    Tick,
    WorkerJoined,
)
from treemill.scheduling.sizing import packet_entries

from tests.python.packet_history import History
from tests.python.packet_world import World
from tests.random_search import examples


@given(st.integers(0, 2**32))
@examples(4000)
def test_every_entry_is_committed_exactly_once(seed):
    history = History(seed)
    history.live()
    assert history.world.check_account().missing == []
    assert history.world.finishes == [Finish(None)]


@given(st.integers(0, 2**32))
@examples(1500)
def test_with_failures_the_rest_is_named(seed):
    history = History(seed, fails=True)
    history.live()
    coverage = history.world.check_account()
    assert all(gap.error is not None for gap in coverage.missing)
    assert history.world.finishes == [Finish(None)]
    assert max((packet.attempt for _, packet in history.world.packets), default=1) <= 3


@given(st.integers(0, 2**32))
@examples(1500)
def test_stopped_at_any_moment_the_rest_is_named(seed):
    history = History(seed, stops=True)
    history.live()
    coverage = history.world.check_account()
    assert all(gap.reason == "enough" for gap in coverage.missing)


def test_such_histories_have_second_runs_in_them():
    discarded = copies = 0
    for seed in range(200):
        history = History(seed)
        history.live()
        discarded += history.world.discarded
        numbers = [packet.number for _, packet in history.world.packets]
        copies += len(numbers) - len(set(numbers))
    assert discarded > 20
    assert copies > 20


def overtaken(**options):
    """Worker 0 keeps its first packet; worker 1 has done all else and is about to do that too."""
    world = World(
        [200], max, 2, known={0}, **{"speculate": True, "commit_seconds": 100.0, **options}
    )
    late = world.orders[0]
    for _ in range(20):
        if world.orders.get(1) == Process(1, late.packet):
            break
        if 1 in world.orders:
            world.step()
        else:
            world.now += 10.0
            world.tell(Tick())
    return world, late.packet


def test_a_late_packet_is_run_again_and_the_first_result_counts():
    world, late = overtaken()
    assert world.orders == {0: Process(0, late), 1: Process(1, late)}
    world.step()
    assert world.orders[1] == Commit(1)
    world.step()
    assert world.packetizer.over
    assert world.halted, "the worker that is still at it may stop"
    assert world.check_account().missing == []


def test_the_first_result_counts_also_where_it_is_the_late_one():
    world, late = overtaken()
    copy = world.orders.pop(1)
    world.step()
    world.step()
    assert world.packetizer.over
    world.orders[1] = copy
    world.step()
    assert world.check_account().missing == []
    assert [w for w, packet in world.packets if packet == late] == [0, 1]


def test_no_second_runs_unless_asked_for():
    world, late = overtaken(speculate=False)
    assert world.orders == {0: Process(0, late)}


def test_what_the_loser_had_done_before_is_done_again():
    world = World([5000], min, 2, known={0}, speculate=True, commit_seconds=1000.0)
    first = world.orders[0].packet
    world.step()  # worker 0 has done one and not committed it; it keeps the next one
    assert isinstance(world.orders[0], Process)
    world.choose = max
    for _ in range(200):
        if world.packetizer.over:
            break
        if 1 in world.orders:
            world.step()
        else:
            world.now += 10.0
            world.tell(Tick())
    assert world.packetizer.over
    assert world.check_account().missing == []
    again = [w for w, p in world.packets if (p.start, p.stop) == (first.start, first.stop)]
    assert again == [0, 1]


def test_a_copy_that_fails_does_not_fail_the_packet():
    world, late = overtaken()
    world.orders.pop(1)
    world.partials[1] = []
    world.tell(PacketFailed(1, late.number, OSError("here"), retry=False))
    world.choose = min
    world.run()
    assert world.finishes == [Finish(None)]
    assert world.check_account().missing == []


def test_a_packet_whose_copy_was_lost_may_be_copied_again():
    world, late = overtaken()
    world.lose(1)
    world.join(2)
    for _ in range(3):
        world.now += 100.0
        world.tell(Tick())
    assert world.orders[2] == Process(2, late)


def test_an_answer_of_one_that_was_given_up_counts_for_nothing():
    world = World([100], min, 2, known={0})
    packet = world.orders[0].packet
    world.lose(0)
    assert world.packetizer.handle(PacketDone(0, packet.number, packet.stop, 1.0), 1.0) == []
    world.run()
    assert world.check_account().missing == []


def test_the_loser_is_told_to_discard_and_the_query_does_not_wait_for_it():
    world, late = overtaken()
    told = world.packetizer.handle
    now = world.now
    assert told(PacketDone(1, late.number, late.stop, 0.1), now) == [Commit(1)]
    assert told(PacketDone(0, late.number, late.stop, 9.9), now) == [Discard(0)]
    assert told(Committed(1), now) == [Halt(), Finish(None)]


@pytest.mark.parametrize("workers", [1, 10, 1000])
def test_packets_never_get_shorter_than_answers_take(workers):
    sizing = Sizing(ask=1e-3)
    assert packet_entries(sizing, 1e6, 1e6 * workers, 1.0, workers) == max(
        1, int(1e6 * 2e-3 * workers)
    )


@pytest.mark.parametrize("stop", [50, 60], ids=["not begun", "begun"])
def test_a_stop_costs_the_overtaken_one_nothing_that_it_had_done(stop):
    sizing = Sizing(first=50, shortest=0.0, longest=0.0)
    decides = Packetizer(
        [FileSize(100, (50,))], Policy(speculate=True, commit_seconds=99), sizing=sizing
    )
    (first,) = decides.handle(WorkerJoined(0), 0.0)
    (second,) = decides.handle(PacketDone(0, first.packet.number, 50, 1.0), 1.0)
    (copy,) = decides.handle(WorkerJoined(1), 50.0)
    assert copy == Process(1, second.packet)
    assert decides.handle(Stop(), 51.0) == [Halt()]
    # The copy is answered first, and would void what worker 0 has in its partial.
    answer = decides.handle(PacketDone(1, copy.packet.number, stop, 1.0), 51.1)
    assert answer == ([] if stop == 50 else [Discard(1)])
    assert decides.handle(PacketDone(0, copy.packet.number, 50, 1.0), 51.2) == [Commit(0)]
    ended = decides.handle(Committed(0), 51.3)
    assert ended[-1] == Finish()
    assert decides.coverage().processed == {0: [(0, 50)]}
