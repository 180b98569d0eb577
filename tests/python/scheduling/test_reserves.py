"""Packets that workers begin without asking, in random histories: workers that are told of them too
late, that have begun what was taken back, that are lost, overtaken or fail with it."""

from random import Random

import pytest
from treemill.scheduling import (
    Commit,
    Committed,
    Discard,
    Discarded,
    FileOpened,
    FileSize,
    Forget,
    MergerJoined,
    MergerLost,
    OpenAhead,
    OpenFile,
    PacketDone,
    PacketFailed,
    Packetizer,
    Policy,
    Process,
    Refuse,
    Reserve,
    Sizing,
    Spent,
    Stop,
    Tick,
    WorkerJoined,
    WorkerLeaving,
    WorkerLost,
    WorkerStays,
    feeding,
)

from tests.python.packet_history import History
from tests.python.packet_world import World
from tests.random_search import share

HISTORIES = share(500)


def lived(seeds=range(HISTORIES), **options):
    found = []
    for seed in seeds:
        history = History(seed, reserve=True, **options)
        history.live()
        history.world.check_account()
        found.append(history.world)
    return found


def begun(world):
    return sum(
        isinstance(record.event, PacketDone) and record.event.begun is not None
        for record in world.trace.records
    )


@pytest.mark.parametrize("mergers", [False, True])
def test_every_entry_once(mergers):
    worlds = lived(mergers=mergers)
    assert all(world.packetizer.coverage().missing == [] for world in worlds)
    assert sum(begun(world) for world in worlds) > HISTORIES
    assert bool(sum(world.put_aside for world in worlds) > HISTORIES / 10) == mergers
    assert {1, 5} <= {world.deepest for world in worlds}


@pytest.mark.parametrize("seed", range(20))
def test_a_packet_that_was_begun_is_taken_back(seed):
    chance = Random(seed)
    sizing = Sizing(first=20, shortest=0.02, longest=0.04, ask=0.0)
    known = {0, 1}
    world = World([700, 700], chance.choice, 3, known, speculate=True, reserve=True, sizing=sizing)
    while not world.words[0]:  # it has done a packet, has begun the next, and is not heard
        worker = world.choose(world.ready)
        world.mute = worker if worker in world.reserved else None
        world.step_of(worker)
        if 0 not in world.begun:
            world.hear_worker(0)
    world.mute = 0
    for _ in range(2000):
        if world.overtaken or world.packetizer.over:
            break
        world.now += 0.5
        others = [worker for worker in world.ready if worker]
        if others:
            world.step_of(world.choose(others))
        elif world.speaking != [0]:
            world.hear_worker(world.choose(world.speaking))
        else:
            world.tell(Tick())
    assert world.overtaken == 1
    world.run()
    assert world.check_account().missing == []


def test_far_files_beside_near_ones():
    assert sum(begun(world) for world in lived(range(share(200)), far=True))


@pytest.mark.parametrize("options", [{"stops": True}, {"fails": True}, {"leaves": True}], ids=str)
def test_early_ends_failures_and_workers_that_leave(options):
    assert sum(begun(world) for world in lived(mergers=True, **options))


def leading(entries=100_000, seconds=1.0, ahead=0.1, **policy):
    """A packetizer with one worker that has done its first packet, and what it was told then."""
    made = Packetizer(
        [FileSize(entries)],
        Policy(reserve=True, **policy),
        sizing=Sizing(first=1000, shortest=seconds, longest=seconds, ahead=ahead),
    )
    actions = made.handle(WorkerJoined(0), 0.0)
    assert not any(isinstance(each, Reserve) for each in actions), "its speed is not known"
    return made, made.handle(PacketDone(0, 0, 1000, 1.0), 1.0)


def only(kind, actions):
    (found,) = [each for each in actions if isinstance(each, kind)]
    return found


def test_a_packet_is_ahead_of_the_worker():
    made, actions = leading(commit_seconds=100.0)
    order, ahead = only(Process, actions).packet, only(Reserve, actions).packet
    assert ahead.start == order.stop
    actions = made.handle(PacketDone(0, order.number, order.stop, 1.0, begun=ahead.number), 2.0)
    after = only(Reserve, actions).packet
    assert after.start == ahead.stop
    assert len(actions) == 1, "the worker has its packet"
    # It has not heard of the next one in time: it gets that by an order.
    actions = made.handle(PacketDone(0, ahead.number, ahead.stop, 1.0), 3.0)
    assert only(Process, actions).packet == after


def test_as_many_packets_are_ahead_as_an_answer_may_take():
    made, actions = leading(seconds=0.05, ahead=0.2, commit_seconds=100.0)
    order = only(Process, actions).packet
    ahead = [each.packet for each in actions if isinstance(each, Reserve)]
    assert [each.stop - each.start for each in (order, *ahead)] == [50] * 5
    actions = made.handle(PacketDone(0, order.number, order.stop, 0.05, begun=ahead[0].number), 1.1)
    assert only(Reserve, actions).packet.start == ahead[-1].stop
    actions = made.handle(WorkerLost(0), 1.2)
    made.validate()
    assert made._state.again.entries == 1000 + 6 * 50


def test_nothing_is_ahead_where_a_commit_is_due():
    made, actions = leading(commit_seconds=1.5)
    order, ahead = only(Process, actions).packet, only(Reserve, actions).packet
    actions = made.handle(PacketDone(0, order.number, order.stop, 1.0, begun=ahead.number), 2.0)
    assert not actions, "a commit is due now, and comes after the packet that was begun"
    assert only(Commit, made.handle(PacketDone(0, ahead.number, ahead.stop, 1.0), 3.0))


class Cluster:
    """A packetizer with a merger, one worker with short packets, and what it is told."""

    def __init__(self, commit_seconds=0.5):
        self.made = Packetizer(
            [FileSize(100_000)],
            Policy(reserve=True, commit_seconds=commit_seconds, collect_seconds=None),
            sizing=Sizing(first=100, shortest=0.1, longest=0.1, ahead=0.4),
        )
        self.ahead, self.now = [], 0.0
        self.tell(MergerJoined(0))
        (self.order,) = [each.packet for each in self.tell(WorkerJoined(0))]

    def tell(self, event):
        actions = self.made.handle(event, self.now)
        self.made.validate()
        self.ahead += [each for each in actions if isinstance(each, Reserve)]
        return actions

    def next(self):
        """The worker does its packet, and begins the next one if it may."""
        self.now += 0.1
        done, reserved = self.order, self.ahead.pop(0) if self.ahead else None
        begun = None if reserved is None else reserved.packet.number
        actions = self.tell(PacketDone(0, done.number, done.stop, 0.1, begun=begun))
        orders = [each.packet for each in actions if isinstance(each, Process)]
        self.order = orders[0] if reserved is None else reserved.packet
        return reserved is not None and reserved.aside, actions

    def until_aside(self):
        for _ in range(50):
            was_aside, actions = self.next()
            if was_aside:
                return actions
        raise AssertionError("nothing is put aside")

    @property
    def committed(self):
        return sum(stop for _, stop in self.made.coverage(held=True).processed.get(0, ()))


def test_a_worker_commits_beside_its_packets():
    cluster = Cluster()
    commit = only(Commit, cluster.until_aside())
    assert commit == Commit(0, 0)
    sent, began = sum(each.stop - each.start for each in cluster.made.sent(0)), cluster.order.start
    assert cluster.now <= 0.8, "it is not late"
    assert not any(isinstance(each, Commit) for each in cluster.next()[1]), "one at a time"
    assert not cluster.made.needs_no_thread(0)
    told = cluster.tell(Committed(0, 0))
    assert not any(isinstance(each, Process | Commit) for each in told), "it has its packet"
    assert cluster.committed == sent == began, "all before the packet that it has begun"
    assert only(Commit, cluster.until_aside()), "and again"


def test_what_was_put_aside_is_done_again_if_its_merger_is_lost_and_the_worker_goes_on():
    cluster = Cluster()
    cluster.until_aside()
    sent = cluster.made.sent(0)
    cluster.tell(MergerJoined(1))
    cluster.next()
    told = cluster.tell(MergerLost(0))
    assert not any(isinstance(each, Process | Commit) for each in told)
    assert cluster.made._state.again.entries == sum(each.stop - each.start for each in sent)
    assert cluster.committed == 0


def test_what_was_put_aside_of_a_lost_worker_is_asked_for():
    cluster = Cluster()
    cluster.until_aside()
    before = cluster.made._state.again.entries
    assert Refuse(0, 0) in cluster.tell(WorkerLost(0))
    lost = cluster.made._state.again.entries - before
    cluster.tell(Committed(0, 0))
    assert lost, "all but what had been handed over"
    assert cluster.committed


@pytest.mark.parametrize("fails", [False, True])
def test_without_a_merger_what_was_put_aside_is_void(fails):
    cluster = Cluster()
    while not any(each.aside for each in cluster.ahead):
        cluster.next()
    while not cluster.ahead[0].aside:
        cluster.next()
    cluster.tell(MergerLost(0))
    cluster.next()
    assert cluster.made._state.tainted == {0}
    cluster.tell(MergerJoined(1))
    cluster.ahead.clear()
    packet = cluster.order
    failed = PacketFailed(0, packet.number, OSError("it is gone"))
    told = cluster.tell(failed if fails else PacketDone(0, packet.number, packet.stop, 0.1))
    assert told == [Discard(0)]
    assert only(Process, cluster.tell(Discarded(0)))


def test_a_worker_without_work_waits_until_what_it_has_put_aside_has_arrived():
    cluster = Cluster()
    cluster.until_aside()
    cluster.tell(Stop("enough"))
    told = cluster.tell(PacketDone(0, cluster.order.number, cluster.order.stop, 0.1))
    assert not any(isinstance(each, Commit | Process) for each in told)
    assert not cluster.made.only_mergers_hold
    assert only(Commit, cluster.tell(Committed(0, 0))), "what it has done since"
    cluster.tell(Committed(0, 0))
    assert cluster.made.only_mergers_hold


def test_a_worker_that_leaves_begins_nothing_more_of_what_is_ahead():
    cluster = Cluster(commit_seconds=100.0)
    for _ in range(3):
        cluster.next()
    late = cluster.ahead.pop(0).packet  # which it has begun, and not said so
    told = cluster.tell(WorkerLeaving(0))
    assert {each.packet for each in cluster.ahead} < {each.packet for each in told}
    assert all(isinstance(each, Forget) for each in told)
    cluster.tell(PacketDone(0, cluster.order.number, cluster.order.stop, 0.1, begun=late.number))
    assert cluster.made._state.workers[0].packet == late, "nothing of this is void"
    told = cluster.tell(PacketDone(0, late.number, late.stop, 0.1))
    assert told == [Commit(0, 0)]
    assert not cluster.made._state.ledger.reserved


def test_a_worker_that_stays_after_all_gets_what_was_ahead_by_orders():
    cluster = Cluster(commit_seconds=100.0)
    for _ in range(3):
        cluster.next()
    cluster.tell(WorkerLeaving(0))
    cluster.tell(WorkerStays(0))
    order = cluster.order
    told = cluster.tell(PacketDone(0, order.number, order.stop, 0.1))
    got, first = only(Process, told).packet, cluster.ahead[0].packet
    assert (got.start, got.stop, got.attempt) == (first.start, first.stop, 1)
    after = [each for each in told if isinstance(each, Reserve)]
    assert not after, "it would begin that before what it has forgotten"


def test_nothing_more_is_ahead_of_a_worker_that_stays_until_it_has_said_what_it_had_begun():
    cluster = Cluster(commit_seconds=100.0)
    for _ in range(3):
        cluster.next()
    late = cluster.ahead[0].packet
    cluster.tell(WorkerLeaving(0))
    cluster.tell(WorkerStays(0))
    done = PacketDone(0, cluster.order.number, cluster.order.stop, 0.1, begun=late.number)
    assert not cluster.tell(done), "it would begin that before those that it has forgotten"
    assert only(Process, cluster.tell(PacketDone(0, late.number, late.stop, 0.1)))


@pytest.mark.parametrize("heard", range(2))
def test_what_is_taken_back_is_known_whatever_the_worker_begins_meanwhile(heard):
    cluster = Cluster(commit_seconds=100.0)
    for _ in range(3):
        cluster.next()
    told = cluster.tell(WorkerLeaving(0))
    forgotten = {each.packet for each in told[:heard]}
    first = next(each.packet for each in cluster.ahead if each.packet not in forgotten)
    cluster.tell(PacketDone(0, cluster.order.number, cluster.order.stop, 0.1, begun=first.number))
    assert cluster.made._state.workers[0].packet == first


@pytest.mark.parametrize("options", [{}, {"fails": True}, {"rests": True}], ids=str)
def test_what_is_given_back_in_random_histories(monkeypatch, options):
    # In these small worlds nobody has a quarter of a second of packets ahead, and little near the
    # end.
    monkeypatch.setattr(feeding, "_LATE", 0.001)
    monkeypatch.setattr(feeding, "_EVEN", 0.0)
    recalled = []
    recall = feeding.Reserves.recall

    def noting(self, worker, actions):
        recall(self, worker, actions)
        recalled.append(worker.recalled and not worker.leaving)

    monkeypatch.setattr(feeding.Reserves, "recall", noting)
    lived(range(1, share(400), 2), mergers=True, **options)
    assert sum(recalled) > share(400) / 20


def late_and_idle(seconds):
    """A packetizer whose worker 0 has done its last packet, which was one of ten of 0.1 s, in this
    time, while worker 1 has nothing to do; and the packets that are ahead of worker 0."""
    made = Packetizer(
        [FileSize(2_000)],
        Policy(reserve=True, commit_seconds=100.0),
        sizing=Sizing(first=100, shortest=0.1, longest=0.1, ahead=1.0, ask=0.0),
    )
    made.handle(MergerJoined(0), 0.0)
    order = only(Process, made.handle(WorkerJoined(0), 0.0)).packet
    told = made.handle(PacketDone(0, order.number, order.stop, 0.1), 0.1)
    order, ahead = only(Process, told).packet, [e.packet for e in told if isinstance(e, Reserve)]
    now, begun = 0.1 + seconds, ahead.pop(0)
    told = made.handle(PacketDone(0, order.number, order.stop, seconds, begun=begun.number), now)
    ahead += [each.packet for each in told if isinstance(each, Reserve)]
    other = only(Process, made.handle(WorkerJoined(1), now)).packet
    while True:
        now += 1e-3
        told = made.handle(PacketDone(1, other.number, other.stop, 1e-3), now)
        made.validate()
        orders = [each.packet for each in told if isinstance(each, Process) and each.worker == 1]
        if not orders:
            break
        (other,) = orders
    assert only(Commit, told).worker == 1
    return made, now, begun, ahead


def test_a_worker_that_has_got_slow_gives_back_what_is_ahead_of_it():
    made, now, begun, ahead = late_and_idle(seconds=1.0)
    told = made.handle(Committed(1, 0), now)
    assert [each.packet for each in told if isinstance(each, Forget)] == ahead[::-1]
    assert not any(isinstance(each, Process) for each in told), "it may have begun some"
    told = made.handle(PacketDone(0, begun.number, begun.stop, 1.0), now + 1.0)
    made.validate()
    given = {each.worker: each.packet for each in told if isinstance(each, Process)}
    assert given.keys() == {0, 1}, "both have something to do"
    assert {(each.start, each.stop, each.attempt) for each in given.values()} <= {
        (each.start, each.stop, 1) for each in ahead
    }


def test_a_worker_begins_what_it_has_before_it_hears_that_it_is_to_give_it_back():
    made, now, begun, ahead = late_and_idle(seconds=1.0)
    made.handle(Committed(1, 0), now)
    done = PacketDone(0, begun.number, begun.stop, 1.0, begun=ahead[0].number)
    told = made.handle(done, now + 1.0)
    made.validate()
    assert made._state.workers[0].packet == ahead[0]
    assert not any(isinstance(each, Reserve) for each in told), "nothing is put ahead of it again"


def test_a_worker_that_is_soon_done_keeps_what_is_ahead_of_it():
    made, now, _, _ = late_and_idle(seconds=0.01)
    assert made._state.ledger.reserved
    assert not any(isinstance(each, Forget) for each in made.handle(Committed(1, 0), now))


def busy_and_idle(files, **limits):
    """A packetizer whose worker 0 has packets ahead of it, of a file of which more is left, when
    worker 1 has joined."""
    made = Packetizer(
        files,
        Policy(reserve=True, commit_seconds=100.0),
        sizing=Sizing(first=100, shortest=0.1, longest=0.1, ahead=0.5, ask=0.0),
        **limits,
    )
    made.handle(MergerJoined(0), 0.0)
    told = made.handle(WorkerJoined(0), 0.0)
    if files[0] is None:
        told = made.handle(FileOpened(0, 0, 100_000), 0.0)
    packet = only(Process, told).packet
    told = made.handle(PacketDone(0, packet.number, packet.stop, 0.1), 0.1)
    assert sum(isinstance(each, Reserve) for each in told) > 2
    return made, made.handle(WorkerJoined(1), 0.1)


def test_what_is_ahead_stays_so_if_enough_workers_read_from_the_node():
    made, told = busy_and_idle([FileSize(100_000)], nodes=["root://n/"], max_foreign=1)
    assert list(made._state.idle) == [1]
    told += made.handle(Tick(), 1.0)
    assert not any(isinstance(each, Forget) for each in told)


def test_what_is_ahead_stays_so_while_a_worker_waits_for_a_file_of_its_own():
    made, told = busy_and_idle([None] * 6)
    told = made.handle(FileOpened(1, only(OpenFile, told).file, 200), 0.1)
    while orders := [each.packet for each in told if isinstance(each, Process)]:
        told = made.handle(PacketDone(1, orders[0].number, orders[0].stop, 0.1), 0.2)
    assert told == [Commit(1, 0)]
    told = [*made.handle(Committed(1, 0), 0.3), *made.handle(Tick(), 1.0)]
    assert list(made._state.idle) == [1]
    assert not any(isinstance(each, Forget) for each in told)


def test_nothing_is_ahead_near_the_end():
    _, actions = leading(entries=3200, commit_seconds=100.0)
    assert not any(isinstance(each, Reserve) for each in actions)


def reserved_for_each(entries, workers=1, latency=0.0):
    """How many packets of 100 entries are reserved for each worker, once it has done its first one
    after it has waited for that so long, if so many entries are left then."""
    made = Packetizer(
        [FileSize(entries + 100 * workers)],
        Policy(reserve=True, commit_seconds=100.0),
        sizing=Sizing(first=100, shortest=0.1, longest=0.1, ahead=0.8, ask=0.0),
    )
    firsts = [only(Process, made.handle(WorkerJoined(n), 0.0)).packet for n in range(workers)]
    counts = []
    for worker, packet in enumerate(firsts):
        spent = Spent(latency, 0.0, 0.1)
        told = made.handle(PacketDone(worker, packet.number, packet.stop, 0.1, spent=spent), 0.1)
        made.validate()
        counts.append(sum(isinstance(each, Reserve) for each in told))
    return counts


def test_what_others_have_ahead_counts_as_something_that_they_have_to_do():
    assert reserved_for_each(2200, workers=2) == [3, 3], "the second one finds less left"


def test_near_the_end_as_much_is_ahead_as_an_answer_takes():
    assert reserved_for_each(350) == [1]
    assert reserved_for_each(350, latency=0.1) == [2]


def test_what_is_ahead_of_a_lost_worker_is_not_ahead_of_another_one():
    made, actions = leading(commit_seconds=100.0)
    order, ahead = only(Process, actions).packet, only(Reserve, actions).packet
    made.handle(WorkerJoined(1), 1.0)
    actions = made.handle(WorkerLost(0), 1.5)
    assert not actions
    spans = []
    packet = made.busy_with(1)[1]
    for now in range(2, 5):
        actions = made.handle(PacketDone(1, packet, made._state.workers[1].packet.stop, 1.0), now)
        assert len([each for each in actions if isinstance(each, Process)]) == 1
        packet = only(Process, actions).packet
        spans.append((packet.start, packet.stop, packet.attempt))
        packet = packet.number
    assert (ahead.start, ahead.stop, 1) in spans, "it is not to blame"
    assert (order.start, order.stop, 2) in spans


def test_a_stop_lets_workers_end_what_they_have_begun():
    made, actions = leading(commit_seconds=100.0)
    order, ahead = only(Process, actions).packet, only(Reserve, actions).packet
    assert not any(isinstance(each, Forget) for each in made.handle(Stop("enough"), 1.5))
    made.handle(PacketDone(0, order.number, order.stop, 1.0, begun=ahead.number), 2.0)
    made.handle(PacketDone(0, ahead.number, ahead.start + 10, 0.1), 2.1)
    made.validate()
    assert made.uncommitted.__self__._state.ledger.held(0)[-1].stop == ahead.start + 10


def two_files(sizes, entries=1000):
    """A packetizer of files that are one packet each, whose worker has done the first of them."""
    made = Packetizer(
        sizes,
        Policy(reserve=True, commit_seconds=100.0),
        sizing=Sizing(first=entries, shortest=1.0, longest=1.0),
    )
    actions = made.handle(WorkerJoined(0), 0.0)
    if sizes[0] is None:
        actions = made.handle(FileOpened(0, 0, entries), 0.1)
    first = only(Process, actions).packet
    actions = made.handle(PacketDone(0, first.number, entries, 1.0), 1.0)
    return made, actions


def test_a_packet_of_the_next_file_is_ahead_if_its_size_is_known():
    made, actions = two_files([FileSize(1000)] * 8)
    order, ahead = only(Process, actions).packet, only(Reserve, actions).packet
    assert (order.file, ahead.file, ahead.stop) == (1, 2, 1000)
    made.handle(PacketDone(0, order.number, 1000, 1.0, begun=ahead.number), 2.0)
    made.validate()
    assert made._state.workers[0].packet == ahead


def test_the_next_file_is_opened_beside_the_packet():
    made, actions = two_files([None] * 8)
    assert only(OpenFile, actions).file == 1
    actions = made.handle(FileOpened(0, 1, 1000), 1.1)
    order = only(Process, actions).packet
    assert only(OpenAhead, actions).file == 2
    actions = made.handle(FileOpened(0, 2, 1000, beside=True), 1.2)
    ahead = only(Reserve, actions).packet
    assert (ahead.file, ahead.stop) == (2, 1000)
    actions = made.handle(PacketDone(0, order.number, 1000, 1.0, begun=ahead.number), 2.0)
    assert only(OpenAhead, actions).file == 3
    made.validate()


def test_files_are_left_to_workers_that_have_not_joined():
    made = Packetizer(
        [None] * 4,
        Policy(reserve=True, commit_seconds=100.0, expected_workers=4),
        sizing=Sizing(first=1000, shortest=1.0, longest=1.0),
    )
    made.handle(WorkerJoined(0), 0.0)
    actions = made.handle(FileOpened(0, 0, 1000), 0.1)
    made.handle(PacketDone(0, only(Process, actions).packet.number, 1000, 1.0), 1.0)
    actions = made.handle(FileOpened(0, 1, 1000), 1.1)
    assert [type(each) for each in actions] == [Process], "two files, and three workers to come"


def test_a_file_that_is_opened_beside_by_a_lost_worker_goes_to_another_one():
    made, _ = two_files([None] * 8)
    made.handle(FileOpened(0, 1, 1000), 1.1)
    made.handle(WorkerJoined(1), 1.2)
    made.handle(WorkerLost(0), 1.3)
    made.validate()
    assert len(made._state.nodes.opening) == 1, "of the other worker"
    assert not made._state.workers[1].coming


def test_workers_that_rest_and_work_again_in_random_histories():
    worlds = lived(range(share(300)), mergers=True, rests=True)
    assert sum(begun(world) for world in worlds) > share(300)


def test_files_opened_beside_in_random_histories():
    worlds = lived(range(share(100)), files=20)
    assert sum(world.opened_ahead for world in worlds) > len(worlds)
    assert all(world.packetizer.coverage().missing == [] for world in worlds)


@pytest.mark.parametrize("seed", [33, 34, 40])
def test_histories_end_in_which_workers_die_sooner_than_they_commit(seed):
    lived([seed], files=20, mergers=True)
