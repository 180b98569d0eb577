"""The sums and bins of one worker's packets, against sums that are made packet by packet."""

from collections import Counter
from math import floor, log10

import pytest
from hypothesis import given
from hypothesis import strategies as st
from treemill.scheduling import Spent
from treemill.scheduling.worker_counters import WorkerTally, bin_of

seconds = st.floats(0.0, 2000.0)
spent = st.none() | st.builds(Spent, seconds, seconds, seconds, st.integers(0, 2**40))
packets = st.lists(st.tuples(spent, st.integers(0, 2**40), seconds), max_size=40)


@given(packets, st.integers(1, 20))
def test_the_sums_are_those_of_all_packets(packets, times):
    tally = WorkerTally("h")
    for each in packets * times:
        tally.add(*each)
    counts = tally.counts()
    assert counts == tally.counts()
    measured = [each for each, _, _ in packets if each is not None]
    assert counts.sums.get("packets", 0) == len(packets) * times
    assert counts.sums.get("entries", 0) == sum(entries for _, entries, _ in packets) * times
    assert counts.sums.get("bytes_read", 0) == sum(each.bytes_read for each in measured) * times
    assert counts.sums.get("cpu", 0.0) == pytest.approx(sum(each.cpu for each in measured) * times)
    assert ("cpu" in counts.sums) == bool(measured)
    cpu = Counter(bin_of(each.cpu) for each in measured)
    assert counts.spread.get("cpu", {}) == {at: number * times for at, number in cpu.items()}
    took = Counter(bin_of(took) for _, _, took in packets)
    assert counts.spread.get("seconds", {}) == {at: number * times for at, number in took.items()}


@given(st.floats(2e-5, 900.0))
def test_bins_are_tenths_of_decades(seconds):
    place = (log10(seconds) + 5) * 10
    if abs(place - round(place)) > 1e-9:  # on an edge, rounding decides
        assert bin_of(seconds) == floor(place)


def test_times_outside_the_bins():
    assert [bin_of(each) for each in (-1.0, 0.0, 9e-6, 1e3, 1e9)] == [-1, -1, -1, 80, 80]
