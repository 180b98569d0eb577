"""Sub-masters: whatever dies at whatever level, every entry is in the result exactly once, or named
as missing with the reason; and the rules one by one."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from lease_world import World
from treemill.scheduling import (
    Commit,
    Committed,
    FileOpened,
    FileSize,
    Finish,
    Halt,
    OpenFile,
    PacketDone,
    Policy,
    Process,
    Sizing,
    Stop,
    Tick,
    WorkerGone,
    WorkerJoined,
    WorkerLost,
)
from treemill.scheduling.leased_packetizer import LeasedPacketizer
from treemill.scheduling.leasing import Leasing
from treemill.scheduling.lessor import Lessor
from treemill.scheduling.messages import (
    Asked,
    Ended,
    Failed,
    Grant,
    HandedUp,
    NothingLeft,
    Opened,
    Part,
    Returned,
    Standing,
    SubJoined,
    SubLost,
    TakeBack,
)
from treemill.scheduling.submaster import SubMaster
from treemill.scheduling.unleased_parts import Reach

seeds = st.integers(0, 2**32)


@example(1324)  # a sub-master hands up while it hears what another one has handed up
@given(seeds)
@settings(max_examples=60)
def test_every_entry_is_in_the_result_exactly_once(seed):
    world = World(seed)
    world.live()
    assert world.check_account().missing == []
    assert world.top.finish == Finish(None)


@given(seeds)
@settings(max_examples=40)
def test_with_failures_the_rest_is_named(seed):
    world = World(seed, fails=True)
    world.live()
    assert all(gap.error is not None for gap in world.check_account().missing)


@given(seeds)
@settings(max_examples=40)
def test_stopped_at_any_moment_the_rest_is_named(seed):
    world = World(seed, stops=True)
    world.live()
    assert all(gap.reason == "enough" for gap in world.check_account().missing)


@given(seeds)
@settings(max_examples=30)
def test_files_that_only_some_sites_can_read(seed):
    world = World(seed, restricted=True, deaths=False)
    world.live()
    assert world.check_account().missing == []


@given(seeds)
@settings(max_examples=40)
def test_what_is_in_the_result_already_is_not_done_again(seed):
    world = World(seed, begun=True)
    before = world.top.lessor.committed_entries
    assert before == len(world.top.merged)
    world.live()
    assert world.check_account().missing == []
    assert world.top.lessor.committed_entries == sum(world.sizes)


def test_such_histories_have_deaths_and_work_taken_back_in_them():
    lost = taken_back = 0
    for seed in range(40):
        world = World(seed)
        world.live()
        lost += world.lost_subs
        taken_back += world.taken_back
    assert lost > 40
    assert taken_back > 10


# A lessor alone.


def lessor(*sizes, subs=1, leasing=None, sites="abc", workers=10, **options):
    leads = Lessor([FileSize(n) for n in sizes], leasing or Leasing(first=100), **options)
    for number in range(subs):
        assert leads.handle(SubJoined(number, sites[number]), 0.0) == []
        assert leads.handle(Standing(number, workers, 0.0, 0.0), 0.0) == []
    return leads


def granted(orders):
    (grant,) = (order for order in orders if not isinstance(order, TakeBack))
    assert isinstance(grant, Grant)
    return grant.parts


def test_the_first_lease_follows_the_number_of_workers():
    leads = lessor(100_000, 100_000)
    assert granted(leads.handle(Asked(0), 0.0)) == (Part(0, 0, 1000),)


def test_no_lease_is_larger_than_a_groups_share():
    leads = lessor(900, subs=3)
    assert [granted(leads.handle(Asked(sub), 0.0)) for sub in range(3)] == [
        (Part(0, 0, 300),),
        (Part(0, 300, 500),),  # a third of what is left
        (Part(0, 500, 633),),
    ]


def test_files_of_unknown_size_are_leased_whole():
    leads = Lessor([None] * 40, Leasing(first=100))
    for sub in range(2):
        leads.handle(SubJoined(sub, "a"), 0.0)
        leads.handle(Standing(sub, 10, 0.0, 0.0), 0.0)
    assert granted(leads.handle(Asked(0), 0.0)) == tuple(Part(file, 0, None) for file in range(5))
    leads.handle(Opened(0, 3, FileSize(0)), 1.0)
    leads.handle(Opened(0, 0, FileSize(70, (50,))), 1.0)
    leads.handle(HandedUp(0, ((0, 0, 30),)), 1.0)
    leads.handle(SubLost(0), 1.0)
    assert Part(0, 30, 70, (50,)) in leads.whereabouts(), "what it had not handed up"
    assert leads.coverage().processed == {0: [(0, 30)]}


def test_a_lease_follows_the_rate_of_the_group():
    leads = lessor(10_000_000, subs=2)
    leads.handle(Standing(0, 10, 3e4, 0.0), 1.0)
    leads.handle(Standing(1, 10, 1e4, 0.0), 1.0)
    (fast,) = granted(leads.handle(Asked(0), 1.0))
    (slow,) = granted(leads.handle(Asked(1), 1.0))
    assert fast.stop - fast.start == 600_000, "20 s"
    assert slow.stop - slow.start == 200_000


def test_what_nobody_has_begun_is_taken_back_for_those_that_have_nothing_left():
    leads = lessor(1000, subs=2)
    for sub in range(2):
        leads.handle(Standing(sub, 10, 10.0, 0.0), 1.0)
    while granted(leads.handle(Asked(0), 1.0))[-1].stop < 1000:
        pass
    leads.handle(Standing(0, 10, 10.0, 1000.0), 1.0)
    assert leads.handle(Asked(1), 1.0) == [NothingLeft(1), TakeBack(0, 500)]
    assert leads.handle(Tick(), 1.0) == [], "once"
    back = (Part(0, 500, 1000),)
    assert leads.handle(Returned(0, back, True), 2.0) == [Grant(1, back)]


def test_a_site_that_cannot_open_a_file_leaves_it_to_the_others():
    leads = lessor(100, subs=2, leasing=Leasing(first=10))
    leads.handle(SubJoined(2, "c"), 0.0)
    leads = Lessor([None], Leasing())
    for sub, site in enumerate("ab"):
        leads.handle(SubJoined(sub, site), 0.0)
        leads.handle(Standing(sub, 1, 0.0, 0.0), 0.0)
    (part,) = granted(leads.handle(Asked(0), 0.0))
    leads.handle(Asked(1), 0.0)
    assert leads.handle(Failed(0, part, OSError("not here")), 1.0) == [Grant(1, (part,))]
    error = OSError("nor here")
    assert leads.handle(Failed(1, part, error), 2.0) == [Halt()]
    leads.handle(Ended(0), 3.0)
    assert leads.handle(Ended(1), 3.0) == [Finish(error)]
    (gap,) = leads.coverage().missing
    assert (gap.stop, gap.error) == (None, error)


def test_a_lost_site_leaves_what_only_it_could_read():
    def reach(file):
        return Reach(frozenset("ab"[file]), only=True)

    leads = lessor(50, 70, subs=2, reach=reach)
    (part,) = granted(leads.handle(Asked(0), 0.0))
    assert part == Part(0, 0, 50)
    while leads.handle(Asked(1), 0.0) != [NothingLeft(1)]:
        pass
    leads.handle(HandedUp(0, ((0, 0, 20),)), 1.0)
    leads.handle(SubLost(0, "its host went away"), 1.0)
    (finish,) = leads.handle(HandedUp(1, ((1, 0, 70),)), 2.0)
    assert isinstance(finish.error, WorkerGone), "the others have done theirs first"
    coverage = leads.coverage()
    assert coverage.processed == {0: [(0, 20)], 1: [(0, 70)]}
    assert [(gap.file, gap.start, gap.stop) for gap in coverage.missing] == [(0, 20, 50)]
    assert "its host went away" in coverage.missing[0].reason


def test_entries_that_are_done_are_those_of_a_file_whose_size_is_known():
    with pytest.raises(ValueError, match="its size is not known"):
        Lessor([None], done={0: [(0, 10)]})
    with pytest.raises(ValueError, match="of 9 entries, those up to 10 are said to be done"):
        Lessor([FileSize(9)], done={0: [(0, 10)]})


def test_a_part_that_was_not_leased_cannot_be_handed_up():
    leads = lessor(100)
    with pytest.raises(RuntimeError, match="sub-master 0 does not have"):
        leads.handle(HandedUp(0, ((0, 0, 10),)), 1.0)


def test_the_query_ends_early():
    leads = lessor(100)
    leads.handle(Asked(0), 0.0)
    assert leads.handle(Stop("enough"), 1.0) == [Halt()]
    leads.handle(HandedUp(0, ((0, 0, 10),)), 1.0)
    assert leads.handle(Ended(0), 1.0) == [Finish(None)]
    assert [(gap.start, gap.stop) for gap in leads.coverage().missing] == [(10, 100)]


# A sub-master alone.


def sub_master(workers=1, policy=None, **leasing):
    crew = LeasedPacketizer(policy or Policy(commit_seconds=100.0), Sizing(first=10))
    sub = SubMaster(7, "a", crew, Leasing(**leasing))
    assert sub.join(0.0) == [SubJoined(7, "a")]
    steps = [sub.handle(WorkerJoined(worker), 0.0) for worker in range(workers)]
    assert steps[0].up == [Standing(7, 1, 0.0, 0.0), Asked(7)]
    return sub


def test_it_asks_for_more_before_it_has_done_what_it_has():
    sub = sub_master(hold=2.0)
    (order,) = sub.handle(Grant(7, (Part(3, 500, 600),)), 0.0).orders
    assert (order.packet.file, order.packet.start, order.packet.stop) == (3, 500, 510)
    step = sub.handle(PacketDone(0, order.packet.number, 510, 0.1), 0.1)
    assert isinstance(step.orders[0], Process)
    assert step.up == [Standing(7, 1, 100.0, 60.0), Asked(7)], "60 entries are 0.6 s"
    assert not sub.due(0.1)


def test_a_file_is_opened_once_and_its_size_is_told():
    sub = sub_master()
    (order,) = sub.handle(Grant(7, (Part(5, 0, None),)), 0.0).orders
    assert order == OpenFile(0, 5)
    assert sub.handle(FileOpened(0, 5, 30, (20,)), 0.1).up == [], "it can wait"
    assert sub.handle(Tick(), 1.0).up == [Opened(7, 5, FileSize(30, (20,)))]


def test_what_is_committed_is_handed_up_with_its_ranges():
    sub = sub_master()
    (order,) = sub.handle(Grant(7, (Part(3, 500, 510),)), 0.0).orders
    (order,) = sub.handle(PacketDone(0, order.packet.number, 510, 0.1), 0.1).orders
    assert order == Commit(0)
    assert not sub.due(0.1)
    sub.handle(Committed(0), 0.2)
    assert sub.due(0.2), "there is nothing else to do"
    assert HandedUp(7, ((3, 500, 510),)) in sub.hand_up(0.2)
    assert not sub.due(99.0)
    assert sub.handle(Finish(), 1.0).orders == [Finish()]


def test_a_lost_worker_is_made_up_for_inside():
    sub = sub_master(workers=2)
    orders = sub.handle(Grant(7, (Part(3, 0, 1),)), 0.0).orders
    worker = orders[0].worker
    step = sub.handle(WorkerLost(worker), 0.1)
    assert step.up == []
    assert step.orders[0].worker == 1 - worker


def test_without_workers_it_returns_everything():
    sub = sub_master()
    sub.handle(Grant(7, (Part(3, 0, 100), Part(4, 0, None))), 0.0)
    step = sub.handle(WorkerLost(0), 0.1)
    assert step.up[0].sub == 7
    back = sorted(step.up[0].parts, key=lambda part: (part.file, part.start))
    assert back == [Part(3, 0, 10), Part(3, 10, 100), Part(4, 0, None)]
    assert not step.up[0].asked
    step = sub.handle(WorkerJoined(1), 0.2)
    assert step.up == [Standing(7, 1, 0.0, 0.0), Asked(7)]


def test_no_packet_is_run_twice_while_there_may_be_more():
    policy = Policy(commit_seconds=100.0, speculate=True)
    sub = sub_master(workers=2, policy=policy)
    (order,) = sub.handle(Grant(7, (Part(3, 0, 1),)), 0.0).orders
    assert sub.handle(Tick(), 50.0).orders == []
    (copy,) = sub.handle(NothingLeft(7), 51.0).orders
    assert copy.worker != order.worker
    assert copy.packet == order.packet


def test_what_is_taken_back_comes_from_the_end():
    sub = sub_master()
    sub.handle(Grant(7, (Part(3, 0, 1000, (200, 400, 800)),)), 0.0)
    step = sub.handle(TakeBack(7, 300), 0.1)
    assert step.up[0] == Returned(7, (Part(3, 400, 1000, (200, 400, 800)),), True)


def test_leases_suit_the_packets():
    leasing = Leasing.of(Sizing(shortest=3.0), skip_errors=True)
    assert (leasing.hold, leasing.shortest, leasing.longest) == (3.0, 3.0, 20.0)
    assert leasing.skip_errors


def test_what_is_taken_back_is_not_at_the_hosts_of_workers():
    nodes = ["root://own/x", "root://far/x"] * 2
    inner = LeasedPacketizer(sizing=Sizing(first=50), node=nodes.__getitem__)
    sub = SubMaster(0, "own", inner)
    sub.join(0.0)
    sub.handle(WorkerJoined(0, "own"), 0.0)
    parts = tuple(Part(file, 0, 100 * (4 - file)) for file in range(4))
    sub.handle(Grant(0, parts), 0.0)
    for wanted, files in ((300, {1, 3}), (100, {1, 3}), (100, {0, 2})):
        (returned,) = sub.handle(TakeBack(0, wanted), 0.0).up
        assert {part.file for part in returned.parts} <= files
        assert sum(part.stop - part.start for part in returned.parts) == wanted
