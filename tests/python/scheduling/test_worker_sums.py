"""What groups count, each for itself, is together what one coordinator would have counted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from treemill.scheduling import (
    Monitoring,
    Packet,
    PacketDone,
    Process,
    WorkerJoined,
    WorkerLost,
    WorkerSums,
)

NODES = ["root://a", "root://b", ""]

seconds = st.floats(1e-6, 40)
packets = st.tuples(
    st.integers(0, 3),  # group
    st.integers(0, 2),  # worker of the group
    st.integers(0, 2),  # file
    st.integers(1, 1000),  # entries
    seconds,  # until it gets the packet
    seconds,  # that the packet takes
    st.booleans(),  # whether it is lost then
)


def records(history, numbered):
    """What a coordinator hears, in order of time. `numbered`: a worker's number, by group and its
    number there."""
    found, free = [], {}
    for group, own, file, entries, wait, spent, dies in history:
        worker = numbered(group, own)
        if worker not in free:
            found.append((0.0, WorkerJoined(worker, f"host {group}"), []))
        began = free.get(worker, 0.0) + wait
        ended = free[worker] = began + spent
        packet = Packet(len(found), file, 10, 10 + entries)
        done = PacketDone(worker, packet.number, packet.stop, spent)
        found.append((began, None, [Process(worker, packet)]))
        found.append((ended, WorkerLost(worker, "it died") if dies else done, []))
    return sorted(found, key=lambda record: record[0])


def like(worker):
    """A worker without its number."""
    return worker.host, sorted(worker.sums.items()), sorted(map(str, worker.spread.items()))


@given(st.lists(packets, max_size=30))
def test_groups_count_as_one(history):
    everything = records(history, lambda group, own: 3 * group + own)
    end = max([now for now, _, _ in everything], default=0.0)
    one, groups = Monitoring(NODES.__getitem__), WorkerSums()
    for record in everything:
        one.follow(*record)
    for group in range(4):
        counts = Monitoring(NODES.__getitem__)
        for record in records([each for each in history if each[0] == group], lambda _, own: own):
            counts.follow(*record)
            groups.update(group, counts.now(record[0]))  # the last one counts
    expected, found = one.now(end), groups.total(end)
    assert found.seconds == end
    assert sorted(map(like, found.workers.values())) == sorted(map(like, expected.workers.values()))
    assert found.width <= expected.width
    sums = {node: sum(bins) for node, bins in found.nodes.items()}
    assert sums == pytest.approx({node: sum(bins) for node, bins in expected.nodes.items()})


def test_times_of_groups_are_added_in_the_widest_bins():
    """One group ends early, and so has narrower bins than the other."""
    groups = WorkerSums()
    for group, spent in enumerate([3.0, 20.0]):
        counts = Monitoring(NODES.__getitem__)
        for record in records([(group, 0, 0, 5, 0.0, spent, False)], lambda _, own: own):
            counts.follow(*record)
        groups.update(group, counts.now(spent))
    found = groups.total(20.0)
    assert found.width == pytest.approx(0.2)
    at_work = [spent / found.width for spent in found.nodes["root://a"]]
    assert at_work[:15] == pytest.approx([2.0] * 15)
    assert at_work[15:100] == pytest.approx([1.0] * 85)
    assert not any(at_work[100:])
    assert [each.sums["entries"] for each in found.workers.values()] == [5, 5]


def test_counts_of_passes_that_follow_each_other_are_added():
    """A site's second pass begins when three seconds have passed, and has the same worker."""
    sums = WorkerSums()
    for since in (0.0, 3.0):
        counts = Monitoring(NODES.__getitem__)
        for record in records([(0, 0, 0, 5, 1.0, 2.0, False)], lambda _, own: own):
            counts.follow(*record)
        sums.update(7, counts.now(3.0), since)
        sums.close(7)
    found = sums.total(6.0)
    (worker,) = found.workers.values()
    assert worker.sums == {"packets": 2, "entries": 10, "seconds": 4.0}
    assert worker.host == "host 0"
    second = round(1 / found.width)
    at_work = [sum(found.nodes["root://a"][at * second :][:second]) for at in range(7)]
    assert at_work == pytest.approx([0, 1, 1, 0, 1, 1, 0], abs=1e-9)
