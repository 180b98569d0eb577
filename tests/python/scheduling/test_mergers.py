"""Mergers that die at any time, also together with workers: every entry is in the result exactly
once; and the rules one by one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from treemill.scheduling import (
    Collect,
    Collected,
    Commit,
    Committed,
    FileSize,
    Finish,
    HandOn,
    MergerLost,
    PacketFailed,
    Packetizer,
    Process,
    Refuse,
    Refused,
    Stop,
    WorkerJoined,
    WorkerLeaving,
)

from tests.python.packet_history import History
from tests.python.packet_world import World
from tests.random_search import examples, share

seeds = st.integers(0, 2**32)


@given(seeds)
@examples(1000)
def test_every_entry_is_in_the_result_exactly_once(seed):
    history = History(seed, mergers=True)
    history.live()
    assert history.world.check_account().missing == []
    assert history.world.finishes == [Finish(None)]


@given(seeds)
@examples(400)
def test_with_failures_the_rest_is_named(seed):
    history = History(seed, fails=True, mergers=True)
    history.live()
    assert all(gap.error is not None for gap in history.world.check_account().missing)
    assert history.world.finishes == [Finish(None)]


@given(seeds)
@examples(400)
def test_stopped_at_any_moment_the_rest_is_named(seed):
    history = History(seed, stops=True, mergers=True)
    history.live()
    assert all(gap.reason == "enough" for gap in history.world.check_account().missing)


def test_such_histories_have_lost_mergers_and_partials_in_doubt_in_them():
    given_back = doubts = 0
    for seed in range(share(680)):
        history = History(seed, mergers=True)
        history.live()
        given_back += history.given_back
        doubts += history.doubts
    assert given_back > 20
    assert doubts > 20


@given(seeds)
@examples(300)
def test_those_that_leave_lose_nothing(seed):
    history = History(seed, mergers=True, leaves=True)
    history.live()
    assert history.world.check_account().missing == []
    assert history.world.finishes == [Finish(None)]


@given(seeds)
@examples(300)
def test_those_that_rest_lose_nothing_and_get_packets_again(seed):
    history = History(seed, mergers=True, rests=True)
    history.live()
    assert history.world.check_account().missing == []
    assert history.world.finishes == [Finish(None)]


def test_a_worker_tries_again_what_it_has_failed_if_all_others_rest():
    packetizer = Packetizer([FileSize(10)])
    packetizer.handle(WorkerJoined(0), 0.0)
    packetizer.handle(WorkerJoined(1), 0.0)
    packetizer.handle(WorkerLeaving(1), 0.0)
    (order,) = packetizer.handle(PacketFailed(0, 0, ValueError()), 1.0)
    assert order.worker == 0
    assert (order.packet.start, order.packet.attempt) == (0, 2)


def test_such_histories_have_mergers_that_die_while_they_hand_on():
    handed_on = parties = 0
    for seed in range(share(1200)):
        history = History(seed, mergers=True, leaves=True)
        history.live()
        handed_on += history.world.handed_on
        parties += history.parties
    assert handed_on > 50
    assert parties > 10


def first(options):
    return options[0]


def world_of(choose=min, **options):
    """One worker that has done all and is about to commit to merger 0."""
    world = World([100], choose, 1, known={0}, mergers=1, commit_seconds=100.0, **options)
    while world.orders and isinstance(world.orders[0], Process):
        world.step()
    assert world.orders == {0: Commit(0, 0)}
    return world


def test_the_query_ends_when_mergers_have_handed_over():
    world = world_of()
    world.step()
    merger = world.mergers[0]
    merger.take(merger.inbox[0])
    world.hear(0)
    assert merger.inbox == [Collect(0)]
    assert not world.packetizer.over
    assert world.packetizer.committed_entries == 0, "it is not in the result yet"
    merger.take(merger.inbox[0])
    world.hear(0)
    assert world.finishes == [Finish(None)]
    assert world.check_account().missing == []


@pytest.mark.parametrize("moment", ["on its way", "merged", "said", "handed over, not heard"])
def test_a_lost_merger_gives_all_of_its_entries_back(moment):
    world = world_of()
    world.step()
    merger = world.mergers[0]
    if moment != "on its way":
        merger.take(merger.inbox[0])
    if moment in ("said", "handed over, not heard"):
        world.hear(0)
    if moment == "handed over, not heard":
        merger.take(merger.inbox[0])
    world.lose_merger(0, last_words=False)
    assert isinstance(world.orders[0], Process)
    world.run()
    assert world.finishes == [Finish(None)]
    assert world.check_account().missing == []
    assert sum(packet.stop - packet.start for _, packet in world.packets) == 200
    assert max(packet.attempt for _, packet in world.packets) == 1, "none of them has failed"


def test_a_partial_of_a_lost_worker_counts_if_it_has_arrived():
    world = world_of()
    world.step()
    world.join(1)
    merger = world.mergers[0]
    world.lose(0)
    partial, refuse = merger.inbox
    assert refuse == Refuse(0, 0)
    merger.take(partial)
    merger.take(refuse)
    world.run()
    assert world.check_account().missing == []
    assert sum(packet.stop - packet.start for _, packet in world.packets) == 100


def test_a_partial_of_a_lost_worker_that_arrives_late_is_refused():
    world = world_of()
    world.step()
    world.join(1)
    merger = world.mergers[0]
    world.lose(0)
    partial, refuse = merger.inbox
    assert world.orders == {}, "nothing is handed out while the merger may have it"
    merger.take(refuse)
    world.hear(0)
    assert isinstance(world.orders[1], Process)
    merger.take(partial)
    world.run()
    assert world.check_account().missing == []
    assert sum(packet.stop - packet.start for _, packet in world.packets) == 200


def test_without_a_worker_left_what_a_merger_loses_is_an_error():
    world = world_of()
    world.step()
    merger = world.mergers[0]
    merger.take(merger.inbox[0])
    world.lose(0)
    world.lose_merger(0)
    assert "no worker is left" in str(world.finishes[0].error)
    assert "merger 0 was lost" in str(world.finishes[0].error)
    world.check_account()


def test_without_mergers_left_workers_commit_to_the_result_itself():
    world = World([5000], min, 1, known={0}, mergers=1, commit_seconds=0.0)
    world.lose_merger(0)
    world.step()
    assert world.orders == {0: Commit(0)}


def test_partials_go_to_mergers_in_turn_and_these_hand_over_now_and_then():
    world = World([50_000], min, 3, known={0}, mergers=2, commit_seconds=0.0, collect_seconds=0.2)
    receivers, collects = [], 0
    while not world.packetizer.over:
        receivers += [
            order.merger
            for order in [world.orders.get(worker) for worker in range(3)]
            if isinstance(order, Commit)
        ]
        collects += any(Collect(n) in merger.inbox for n, merger in world.mergers.items())
        world.step_merger() if world.mergers_busy else world.step()
    assert set(receivers) == {0, 1}
    assert collects > 4
    assert world.check_account().missing == []


def test_words_of_a_lost_merger_count_for_nothing():
    world = world_of()
    world.step()
    world.lose_merger(0)
    told = world.packetizer.handle
    for word in (Committed(0, 0), Collected(0), Refused(0, 0), MergerLost(0)):
        assert told(word, world.now) == []
    world.run()
    assert world.check_account().missing == []


def test_a_stop_waits_for_mergers():
    world = world_of()
    world.tell(Stop("enough"))
    world.run()
    assert world.halted
    assert world.finishes == [Finish(None)]
    assert world.check_account().missing == []


@pytest.mark.parametrize(
    ("dies", "moment", "done_again"),
    [
        ("the giver", "before", True),
        ("the giver", "on its way", True),
        ("the giver", "taken", False),
        ("the taker", "on its way", False),
        ("the taker", "taken", False),
        ("the taker", "heard", True),
    ],
)
def test_a_partial_that_is_handed_on_is_in_one_place(dies, moment, done_again):
    world = world_of(first, collect_seconds=None)
    world.step()
    world.step_merger()
    world.step_merger()
    world.join_merger(1)
    assert world.packetizer.only_mergers_hold
    giver, taker = 0, world.mergers[1]
    if moment != "before":
        world.leave_merger(giver)
        assert taker.inbox == [HandOn(0, 1)]
        assert not world.packetizer.only_mergers_hold, "who has it is not known now"
    if moment in ("taken", "heard"):
        taker.take(taker.inbox[0])
    if moment == "heard":
        world.hear(1)
        assert world.packetizer.mergers == {1}
    world.lose_merger(giver if dies == "the giver" else 1, last_words=False)
    world.run()
    world.fetch()
    assert world.finishes == [Finish(None)]
    assert world.check_account().missing == []
    done = sum(packet.stop - packet.start for _, packet in world.packets)
    assert done == (200 if done_again else 100)


def test_one_that_leaves_waits_for_partials_on_their_way_and_for_another_one():
    world = world_of(first, collect_seconds=None)
    world.step()
    world.leave_merger(0)
    world.join_merger(1)
    assert not world.mergers[1].inbox
    world.step_merger()
    world.step_merger()
    assert world.mergers[1].inbox == [HandOn(0, 1)]
    world.run()
    assert world.packetizer.mergers == {1}
    world.fetch()
    assert world.check_account().missing == []


@pytest.mark.parametrize(
    ("mergers", "roots", "rounds"), [(8, 1, 3), (8, 2, 2), (7, 1, 3), (4, 4, 0)]
)
def test_mergers_join_in_pairs_at_the_end(mergers, roots, rounds):
    world = World(
        [100] * mergers,
        min,
        mergers,
        known=set(range(mergers)),
        mergers=mergers,
        commit_seconds=100.0,
        collect_seconds=None,
        roots=roots,
    )
    made = 0
    while not world.packetizer.only_mergers_hold:
        if world.orders:
            world.step()
        elif any(
            isinstance(item, HandOn) for each in world.mergers.values() for item in each.inbox
        ):
            made += 1
            for each in list(world.mergers.values()):
                for item in list(each.inbox):
                    each.take(item)
            for number in list(world.mergers):
                while number in world.mergers and world.mergers[number].said:
                    world.hear(number)
        else:
            world.step_merger()
    assert made == rounds
    assert len(world.packetizer.holding) == roots
    world.fetch()
    assert world.check_account().missing == []


def test_a_worker_that_leaves_commits_after_its_packet():
    world = World([5000], lambda options: options[0], 2, known={0}, commit_seconds=100.0)
    world.leave(0)
    assert isinstance(world.orders[0], Process)
    world.step()
    assert world.orders[0] == Commit(0)
    world.step()
    assert 0 not in world.orders
    assert world.packetizer.idle == {0}
    world.run()
    assert world.check_account().missing == []
