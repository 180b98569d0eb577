"""Promises: packets that a worker on far files gets next are named before it gets them, in any life
of workers and mergers exactly once; and the rules one by one."""

from hypothesis import given, settings
from hypothesis import strategies as st
from packet_history import History
from treemill.packetizer import Finish

seeds = st.integers(0, 2**32)


@given(seeds)
@settings(max_examples=1500)
def test_every_entry_is_committed_exactly_once(seed):
    history = History(seed, far=True)
    history.live()
    assert history.world.check_account().missing == []
    assert history.world.finishes == [Finish(None)]


@given(seeds)
@settings(max_examples=800)
def test_with_failures_the_rest_is_named(seed):
    history = History(seed, fails=True, far=True)
    history.live()
    assert all(gap.error is not None for gap in history.world.check_account().missing)
    assert history.world.finishes == [Finish(None)]


@given(seeds)
@settings(max_examples=800)
def test_stopped_at_any_moment_the_rest_is_named(seed):
    history = History(seed, stops=True, far=True)
    history.live()
    coverage = history.world.check_account()
    assert all(gap.reason == "enough" for gap in coverage.missing)


@given(seeds, st.booleans())
@settings(max_examples=800)
def test_with_mergers_that_die(seed, stops):
    history = History(seed, stops=stops, mergers=True, far=True)
    history.live()
    coverage = history.world.check_account()
    assert stops or coverage.missing == []


def test_such_histories_have_promises_in_them():
    kept = broken = opened = discarded = 0
    for seed in range(200):
        history = History(seed, far=True)
        history.live()
        kept += history.world.kept
        broken += history.world.broken
        opened += history.world.opened_ahead
        discarded += history.world.discarded
    assert min(kept, broken, opened, discarded) > 20, (kept, broken, opened, discarded)
