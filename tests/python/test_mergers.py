"""Mergers that die at any time, also together with workers: every entry is in the result exactly
once; and the rules one by one."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from packet_history import History
from packet_world import World
from treemill.packetizer import (
    Collect,
    Collected,
    Commit,
    Committed,
    Finish,
    MergerLost,
    Process,
    Refuse,
    Refused,
    Stop,
)

seeds = st.integers(0, 2**32)


@given(seeds)
@settings(max_examples=1000)
def test_every_entry_is_in_the_result_exactly_once(seed):
    history = History(seed, mergers=True)
    history.live()
    assert history.world.check_account().missing == []
    assert history.world.finishes == [Finish(None)]


@given(seeds)
@settings(max_examples=400)
def test_with_failures_the_rest_is_named(seed):
    history = History(seed, fails=True, mergers=True)
    history.live()
    assert all(gap.error is not None for gap in history.world.check_account().missing)
    assert history.world.finishes == [Finish(None)]


@given(seeds)
@settings(max_examples=400)
def test_stopped_at_any_moment_the_rest_is_named(seed):
    history = History(seed, stops=True, mergers=True)
    history.live()
    assert all(gap.reason == "enough" for gap in history.world.check_account().missing)


def test_such_histories_have_lost_mergers_and_partials_in_doubt_in_them():
    given_back = doubts = 0
    for seed in range(200):
        history = History(seed, mergers=True)
        history.live()
        given_back += history.given_back
        doubts += history.doubts
    assert given_back > 20
    assert doubts > 20


def world_of(**options):
    """One worker that has done all and is about to commit to merger 0."""
    world = World([100], min, 1, known={0}, mergers=1, commit_seconds=100.0, **options)
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
