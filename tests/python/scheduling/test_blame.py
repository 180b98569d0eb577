"""Whom the loss of a process is put down to: in histories of processes that one query fills little
by little, while others have packets in hand there.
"""

import random

import pytest
from treemill.scheduling import Blame

from tests.random_search import share

LIMIT = 1000
HISTORIES = share(200)


def filled(*worked, keeps=700, limit=LIMIT):
    """Blame, of whose processes `a` has grown to this while these queries worked there."""
    blame = Blame()
    blame.keeps("a", 100, limit, (), 0.0)
    blame.keeps("a", keeps, limit, worked, 100.0)
    return blame


def nobody(query):
    return False


def everybody(query):
    return True


def test_one_that_may_have_filled_a_process_is_alone_for_longer_than_that_took():
    blame = filled("mine", "yours")
    blame.keeps("a", 800, LIMIT, ("yours",), 200.0)
    found = blame.filled("a", {"mine", "yours"}, nobody, 300.0)
    assert (found.kept, found.suspect, found.seconds) == (700, "yours", 300.0)
    assert blame.most("yours") > 100
    assert blame.most("mine") is None


def test_another_one_is_suspected_if_processes_are_filled_without_the_first():
    blame = filled("mine", "yours")
    first = blame.filled("a", {"mine", "yours"}, nobody, 100.0).suspect
    (other,) = {"mine", "yours"} - {first}
    alone = {first}.__contains__
    blame.keeps("b", 100, LIMIT, (), 0.0)
    blame.keeps("b", 500, LIMIT, ("mine", "yours"), 90.0)
    blame.keeps("b", 700, LIMIT, (other,), 110.0)
    assert blame.filled("b", {"mine", "yours"}, alone, 110.0).suspect is None, "it was there, too"
    blame.keeps("c", 100, LIMIT, (), 0.0)
    blame.keeps("c", 700, LIMIT, (other,), 200.0)
    assert blame.filled("c", {"mine", "yours"}, alone, 200.0).suspect == other


@pytest.mark.parametrize(("keeps", "limit"), [(700, 1500), (150, 220)])
def test_a_process_that_was_not_full_or_not_filled_tells_nothing(keeps, limit):
    blame = filled("mine", "yours", keeps=keeps, limit=limit)
    assert blame.filled("a", {}, nobody, 200.0) is None


def test_one_that_fills_a_process_in_a_few_packets_is_told_late():
    """It was lost for its memory when the last ones of them were not done."""
    for keeps, seconds, is_full in [
        ((150, 285), 1.0, True),
        ((275, 285), 1.0, False),
        ((150, 285), 9.0, False),
        ((350, 285), 1.0, False),
    ]:
        blame = Blame()
        for second, each in enumerate((54, *keeps)):
            blame.keeps("a", each, 600, ("mine",) if second else (), float(second))
        found = blame.filled("a", {"mine", "yours"}, nobody, 2.0 + seconds)
        assert (found is not None) == is_full, (keeps, seconds)
        assert found is None or (found.suspect, found.kept) == ("mine", 231)


def test_a_process_of_which_nothing_is_known_tells_nothing():
    assert Blame().filled("a", {"mine"}, nobody, 1.0) is None
    blame = filled("mine", "yours")
    assert blame.filled("a", {"mine", "yours"}, nobody, 1.0) is not None
    assert blame.filled("a", {"mine", "yours"}, nobody, 1.0) is None, "another one has its name"


def test_one_that_has_no_neighbours_may_fill_processes():
    blame = Blame()
    for _ in range(10):
        blame.keeps("a", 100, LIMIT, (), 0.0)
        blame.keeps("a", 700, LIMIT, ("mine",), 1.0)
        assert blame.filled("a", {"mine"}, nobody, 1.0) is None
    assert blame.most("mine") is None


def test_what_those_that_are_over_have_left_is_nobody_s():
    blame = filled("over", "mine")
    blame.end("over")
    blame.keeps("a", 750, LIMIT, ("mine",), 200.0)
    found = blame.filled("a", {"mine", "yours"}, nobody, 300.0)
    assert (found.kept, found.suspect) == (650, "mine")
    blame = filled("over")
    blame.end("over")
    found = blame.filled("a", {"mine", "yours"}, nobody, 300.0)
    assert (found.kept, found.suspect) == (600, None)


def test_what_is_given_back_is_not_kept():
    blame = filled("mine", "mine too")
    blame.keeps("a", 200, LIMIT, ("yours",), 200.0)
    blame.keeps("a", 600, LIMIT, ("yours",), 300.0)
    found = blame.filled("a", {"mine", "mine too", "yours"}, nobody, 400.0)
    assert (found.kept, found.suspect) == (500, "yours")
    blame = filled("mine", "mine too")
    blame.keeps("a", 50, LIMIT, ("yours",), 200.0)
    blame.keeps("a", 600, LIMIT, ("yours",), 300.0)
    found = blame.filled("a", {"mine", "mine too", "yours"}, nobody, 400.0)
    assert (found.kept, found.suspect) == (550, "yours")


def test_one_that_fills_processes_alone_is_given_up_and_the_others_are_cleared():
    blame = filled("mine", "yours")
    blame.keeps("a", 750, LIMIT, ("yours",), 100.0)
    assert blame.filled("a", {"mine", "yours"}, nobody, 100.0).suspect == "yours"
    blame.keeps("a", 100, LIMIT, (), 0.0)
    blame.keeps("a", 700, LIMIT, ("mine",), 100.0)
    assert blame.filled("a", {"mine", "yours"}, nobody, 100.0).suspect == "mine"
    for turn in range(3):
        blame.keeps("b", 100, LIMIT, (), 0.0)
        blame.keeps("b", 700, LIMIT, ("mine",), 100.0)
        found = blame.filled("b", {"mine", "yours"}, everybody, 100.0)
        assert found.cleared == (("yours",) if turn == 0 else ())
        assert found.given_up == ("mine" if turn == 2 else None)
    assert blame.most("yours") is None
    assert blame.hoarders == ["mine"]


def test_what_it_has_filled_beside_others_does_not_count():
    blame = filled("mine", "yours")
    blame.filled("a", {"mine", "yours"}, nobody, 100.0)
    for _ in range(9):
        blame.keeps("b", 100, LIMIT, (), 0.0)
        blame.keeps("b", 500, LIMIT, ("mine", "yours"), 100.0)
        blame.keeps("b", 700, LIMIT, ("mine",), 100.0)
        assert blame.filled("b", {"mine", "yours"}, everybody, 100.0).given_up is None


def test_what_grew_while_its_last_neighbours_ended_does_not_clear_it():
    blame = filled("mine", "mine too")
    assert blame.filled("a", {"mine", "yours"}, nobody, 100.0).suspect == "mine"
    for turn in range(3):
        blame.keeps("b", 100, LIMIT, (), 0.0)
        blame.keeps("b", 300, LIMIT, ("mine", "yours"), 1.0)
        blame.keeps("b", 700, LIMIT, ("mine",), 2.0)
        found = blame.filled("b", {"mine", "yours"}, everybody, 2.0)
        assert found.given_up == ("mine" if turn == 2 else None)


def test_one_that_has_been_alone_for_long_enough_does_what_it_had_in_hand_alone():
    blame = filled("mine")
    blame.lost({"mine": [(0, 0, 10)], "yours": [(1, 0, 10)]})
    assert blame.filled("a", {"mine", "yours"}, nobody, 2.0).suspect == "mine"
    assert not blame.done("mine", (0, 0, 5))
    assert not blame.has_been_alone("mine")
    assert blame.most("mine")
    assert blame.done("mine", (0, 5, 10))
    assert blame.most("mine") is None
    blame = filled("mine")
    blame.lost({"mine": [(0, 0, 10)], "yours": [(1, 0, 10)]})
    blame.filled("a", {"mine", "yours"}, nobody, 2.0)
    assert not blame.done("mine", (0, 0, 10)), "it may have filled the process"
    assert blame.has_been_alone("mine")
    assert blame.most("mine") is None


class Cluster:
    """Processes whose memory grows with what queries leave there. Each query that is to be alone
    has one process, the others are at work in all the rest."""

    def __init__(self, chance, processes, leaves):
        """`leaves`: the bytes that each query leaves in a process in a second."""
        self.chance, self.leaves, self.now = chance, dict(leaves), 0.0
        self.blame, self.ended = Blame(), []
        self.until, self.seconds = {}, {}  # how long queries are alone, if they lose nothing
        self.processes = {}
        self.made = 0
        for _ in range(processes):
            self.start()

    def start(self):
        self.made += 1
        name = f"p{self.made}"
        self.processes[name] = [100.0, set()]
        self.blame.keeps(name, 100, LIMIT, (), self.now)

    def second(self):
        self.now += 1.0
        for query in [each for each, end in self.until.items() if self.now > end]:
            del self.until[query]
            self.blame.has_been_alone(query)
        alone = dict(zip(self.processes, self.until, strict=False))
        for name, process in list(self.processes.items()):
            free = [each for each in self.leaves if each not in self.until]
            queries = (
                [alone[name]] if name in alone else self.chance.sample(free, min(2, len(free)))
            )
            for query in queries:
                process[0] += self.leaves[query]
                process[1].add(query)
            if process[1] and self.now % 5 == 0:
                self.blame.keeps(name, int(process[0]), LIMIT, (*process[1],), self.now)
                process[1] = set()
            if process[0] > 0.95 * LIMIT:
                if name in alone:
                    self.until[alone[name]] = self.now + self.seconds[alone[name]]
                self.lose(name)

    def lose(self, name):
        del self.processes[name]
        found = self.blame.filled(name, set(self.leaves), self.until.__contains__, self.now)
        assert found is not None
        if found.suspect is not None:
            self.seconds[found.suspect] = found.seconds
            self.until[found.suspect] = self.now + found.seconds
        for query in found.cleared:
            del self.until[query]
        if found.given_up is not None:
            self.ended.append(found.given_up)
            self.blame.end(found.given_up)
            del self.leaves[found.given_up], self.until[found.given_up]
        self.start()


@pytest.mark.parametrize("part", range(2))
def test_the_one_that_fills_processes_is_given_up_and_no_other(part):
    for seed in range(part * HISTORIES // 2, (part + 1) * HISTORIES // 2):
        chance = random.Random(seed)
        fine = {f"fine {i}": chance.choice([0, 0.01]) for i in range(chance.randint(1, 4))}
        leaves = [*fine.items(), ("hoards", chance.uniform(1, 60))]
        chance.shuffle(leaves)
        cluster = Cluster(chance, chance.randint(1, 6), leaves)
        for _ in range(40_000):
            cluster.second()
            if cluster.ended:
                break
        assert cluster.ended == ["hoards"], f"seed {seed}"
