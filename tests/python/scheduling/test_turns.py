"""Who gets which thread next, in simulated clusters: many random ones, and one for an hour. No
thread has two turns, unless one is late; users and queries get what is theirs; a query that has to
be alone is alone.
"""

import heapq
import random
from collections import Counter, defaultdict

import pytest
from treemill.scheduling import Grant, Rules, Turns, UserRule
from treemill.scheduling.fair_share import LATE, PATIENCE
from treemill.scheduling.turns import STARTING, Withdraw

from tests.random_search import share

HISTORIES = share(1000)


class Query:
    """Packets that take a while, for workers that have a turn; in each process, first the code is
    loaded."""

    def __init__(self, name, user, seconds, packet, began, loading=0.0):
        self.name, self.user, self.packet, self.began = name, user, packet, began
        self.loading, self.loaded = loading, {}  # when each process has loaded it
        self.left = seconds
        self.idle, self.starting = set(), set()
        self.at_work = 0
        self.first = self.ended = None
        self.ending = lambda: None

    wants_workers = property(lambda self: self.left > 0)
    seconds_left = property(lambda self: self.left / max(self.at_work, 1))

    def is_idle(self, worker):
        return worker in self.idle

    def is_starting(self, worker):
        return worker in self.starting


class Cluster:
    """Processes of some threads. Each query has as many workers in each as it has threads."""

    def __init__(self, seed, processes, rules=None):
        self.chance = random.Random(seed)
        self.turns = Turns(rules)
        self.now = 0.0
        self.processes = dict(processes)
        for name, threads in self.processes.items():
            self.turns.add(name, threads)
        self.queries, self.places, self.resting = {}, {}, set()
        self.events, self.number = [], 0
        self.had = Counter()  # thread-seconds by user
        self.withdrawn = {}
        self.alone = {}
        self.at(0.5, self.tick)

    def at(self, seconds, what):
        self.number += 1
        heapq.heappush(self.events, (self.now + seconds, self.number, what))

    def begin(self, user, seconds, packet=1.0, loading=0.0):
        self.number += 1
        query = Query(f"q{self.number}", user, seconds, packet, self.now, loading)
        self.queries[query.name] = query
        self.turns.begin(query.name, user, query, self.now)
        worker = 0
        for process, threads in self.processes.items():
            for _ in range(threads):
                self.places[query.name, worker] = process
                if loading:
                    query.starting.add(worker)
                self.turns.wait(query.name, process, worker)
                worker += 1
        self.decide()
        return query

    def tick(self):
        self.decide(everywhere=True)
        self.at(0.5, self.tick)

    def decide(self, everywhere=False):
        while actions := self.turns.decide(self.now, everywhere):
            everywhere = False
            for action in actions:
                query, who = self.queries.get(action.query), (action.query, action.worker)
                if query is None:
                    continue
                if isinstance(action, Grant):
                    self.withdrawn.pop(who, None)
                    self.start(query, action.worker)
                else:
                    self.withdrawn[who] = self.now
                    if action.worker in query.idle or action.worker in query.starting:
                        self.rest(query, action.worker)
        self.check()

    def start(self, query, worker):
        if worker not in query.starting:
            self.feed(query, worker)
            return
        process = self.places[query.name, worker]
        loaded = query.loaded.setdefault(process, self.now + query.loading)
        self.at(max(loaded - self.now, 0.0), lambda: self.started(query, worker))

    def started(self, query, worker):
        if query.name not in self.queries or worker not in query.starting:
            return
        query.starting.remove(worker)
        if self.has_turn(query, worker):
            self.turns.started(query.name, worker, self.now)
            self.feed(query, worker)
        self.decide()

    def has_turn(self, query, worker):
        return (self.places.get((query.name, worker)), query.name, worker) in self.turns.turns()

    def feed(self, query, worker):
        if query.left <= 0:
            query.idle.add(worker)
            return
        query.idle.discard(worker)
        query.first = self.now if query.first is None else query.first
        seconds = min(query.packet * self.chance.uniform(0.5, 1.5), query.left)
        query.left -= seconds
        query.at_work += 1
        self.at(seconds, lambda: self.done(query, worker, seconds))

    def done(self, query, worker, seconds):
        query.at_work -= 1
        if query.name not in self.queries:
            return
        if (query.name, worker) not in self.places:  # it is lost
            wanted, query.left = query.wants_workers, query.left + seconds
            for idle in sorted(query.idle):
                if (query.name, idle) not in self.withdrawn:
                    self.feed(query, idle)
            if not wanted:
                self.turns.wants_again(query.name)
            self.decide()
            return
        self.had[query.user] += seconds
        process = self.places[query.name, worker]
        if (query.name, worker) in self.withdrawn:
            query.idle.add(worker)
            self.rest(query, worker)
        else:
            self.feed(query, worker)
        if query.left <= 0 and not query.at_work:
            query.ended = self.now
            del self.queries[query.name]
            self.turns.end(query.name, self.now)
            query.ending()
        self.turns.touch(process)
        self.decide()

    def rest(self, query, worker):
        del self.withdrawn[query.name, worker]
        query.idle.discard(worker)
        self.turns.returned(query.name, worker, self.now)

    def lose(self, process, another=True):
        """A process dies, and another one takes its place, or not."""
        self.turns.remove(process, self.now)
        threads = self.processes[process]
        gone = [who for who, place in self.places.items() if place == process]
        if another:
            self.turns.add(process, threads)
        for name, worker in gone:
            del self.places[name, worker]
            query = self.queries.get(name)
            if query is None:
                continue
            self.turns.gone(name, worker, self.now)
            query.idle.discard(worker)
            self.withdrawn.pop((name, worker), None)
            if not another:
                continue
            self.number += 1
            self.places[name, self.number] = process
            self.turns.wait(name, process, self.number)
        self.decide()

    def check(self):
        held = defaultdict(list)
        for process, query, worker in self.turns.turns():
            held[process].append((query, worker))
        for process, turns in held.items():
            late = sum(self.now - self.withdrawn.get(who, self.now) >= LATE for who in turns)
            threads = self.processes[process]
            assert len(turns) - late <= threads, "a thread has two turns"
            assert len(turns) <= 2 * threads
        for name in [each for each in self.queries if self.turns.is_alone(each)]:
            granted = {
                process
                for process, turns in held.items()
                if any(who[0] == name and who not in self.withdrawn for who in turns)
            }
            assert len(granted) <= 1, "one that is alone has one process"
        granted = defaultdict(list)
        for process, name, worker in self.turns.turns():
            if (name, worker) not in self.withdrawn and not self.turns.is_alone(name):
                granted[self.queries[name].user].append(process)
        for user, places in granted.items():
            rule = self.turns.rules.of(user)
            assert rule.threads is None or len(places) <= rule.threads
            assert rule.processes is None or len(set(places)) <= rule.processes

    def run(self, seconds, each=lambda: None):
        end = self.now + seconds
        while self.events and self.events[0][0] <= end:
            self.now, _, what = heapq.heappop(self.events)
            what()
            each()
        self.now = end


def busy(cluster):
    return sum(query.at_work for query in cluster.queries.values())


def test_a_query_that_is_alone_has_all_threads_and_keeps_them():
    cluster = Cluster(0, {"a": 4, "b": 2})
    query = cluster.begin("me", 600.0)
    cluster.run(99.0)
    assert query.at_work == 6
    assert not cluster.withdrawn
    cluster.run(10.0)
    assert query.ended == pytest.approx(100.0, abs=2.0)


@pytest.mark.parametrize("processes", [{"a": 1}, {"a": 2, "b": 1}])
def test_users_have_the_same_in_an_hour_however_many_queries_they_have(processes):
    cluster = Cluster(1, processes)
    for user, queries in (("one", 1), ("two", 2), ("eight", 8)):
        for _ in range(queries):
            cluster.begin(user, 1e9)
    cluster.run(3600.0)
    each = sum(processes.values()) * 3600.0 / 3
    for user in ("one", "two", "eight"):
        assert cluster.had[user] == pytest.approx(each, rel=0.05)


class Waits:
    """For how long users that want threads have had none: neither a packet, nor code that is being
    loaded."""

    def __init__(self, cluster):
        self.cluster, self.since, self.longest = cluster, {}, Counter()

    def look(self):
        now, queries = self.cluster.now, self.cluster.queries
        served = {queries[name].user for _, name, _ in self.cluster.turns.turns()}
        served |= {query.user for query in queries.values() if query.at_work}
        wanting = {query.user for query in queries.values() if query.wants_workers} - served
        self.since = {user: self.since.get(user, now) for user in wanting}
        for user, since in self.since.items():
            self.longest[user] = max(self.longest[user], now - since)


PROCESSES = pytest.mark.parametrize("processes", [{"a": 8}, {"a": 2, "b": 2, "c": 2, "d": 2}])


@pytest.mark.parametrize("weights", [(1.0,), (1.0, 2.0)], ids=["alike", "weights"])
@PROCESSES
def test_20_users_whose_code_loads_for_long_have_threads_soon_and_the_same(processes, weights):
    users = {f"u{i}": weights[i % len(weights)] for i in range(20)}
    rules = Rules(users={user: UserRule(weight=weight) for user, weight in users.items()})
    cluster = Cluster(11, processes, rules)
    for user in users:
        cluster.begin(user, 1e9, 0.5, loading=10.0)
        cluster.run(0.1)
    loading, waits = Waits(cluster), Waits(cluster)
    cluster.run(150.0, loading.look)
    assert max(loading.longest.values()) <= 20 * 10.0 / 8, "each may have to wait until others load"
    cluster.run(150.0, waits.look)
    assert max(waits.longest.values()) <= 2 * PATIENCE
    each = sum(cluster.had.values()) / sum(users.values())
    for user, weight in users.items():
        assert cluster.had[user] / weight == pytest.approx(each, rel=0.05)


@PROCESSES
def test_users_of_short_queries_that_load_for_long_leave_others_what_is_theirs(processes):
    """Ten users have one query, ten one after another: each has to be loaded."""
    cluster = Cluster(12, processes)

    def begin(user, seconds):
        query = cluster.begin(user, seconds, 0.5, loading=10.0)
        query.ending = lambda: cluster.at(1.0, lambda: begin(user, seconds))

    for number in range(10):
        begin(f"short {number}", 2.0)
        begin(f"long {number}", 1e9)
        cluster.run(0.1)
    waits = Waits(cluster)
    cluster.run(300.0, waits.look)
    assert max(waits.longest.values()) <= 20 * 10.0 / 8
    had = [cluster.had[f"long {number}"] for number in range(10)]
    assert min(had) >= 0.8 * max(had)
    assert min(had) >= 0.9 * max(cluster.had[f"short {number}"] for number in range(10))


@PROCESSES
def test_nobody_gets_nothing_for_long_whatever_was_had_before(processes):
    """One has all threads for packets that take long when others begin, and makes up for it."""
    cluster = Cluster(13, processes)
    much = cluster.begin("much", 1e9, 10.0)
    cluster.run(0.1)
    others = [f"u{i}" for i in range(19)]
    for user in others:
        cluster.begin(user, 1e9)
    cluster.run(20.0)
    much.packet = 1.0
    cluster.run(40.0)
    assert cluster.had["much"] > 2 * max(cluster.had[user] for user in others)
    waits = Waits(cluster)
    cluster.run(120.0, waits.look)
    assert max(waits.longest.values()) <= 2 * PATIENCE
    assert cluster.had["much"] > 1.1 * max(cluster.had[user] for user in others)
    cluster.run(600.0)
    assert cluster.had["much"] == pytest.approx(cluster.had["u0"], rel=0.05)


def test_one_that_may_have_few_threads_gives_newcomers_no_right_to_those_of_others():
    cluster = Cluster(13, {"a": 8}, Rules(users={"limited": UserRule(threads=1)}))
    for user in ("limited", "much"):
        cluster.begin(user, 1e9)
    cluster.run(100.0)
    before = cluster.had["much"]
    for user in ("new", "newer"):
        cluster.begin(user, 1e9)
    cluster.run(100.0)
    assert cluster.had["much"] - before == pytest.approx(cluster.had["new"], rel=0.1)


def test_one_whose_packets_take_long_has_no_more_than_others():
    cluster = Cluster(14, {"a": 8})
    for number in reversed(range(20)):
        cluster.begin(f"u{number}", 1e9, 1.0 if number else 30.0)
    waits = Waits(cluster)
    cluster.run(900.0, waits.look)
    assert cluster.had["u0"] <= 1.1 * cluster.had["u1"]
    assert max(waits.longest.values()) <= 1.5 * 30.0 * 20 / 8


def test_weights_and_limits_are_kept():
    rules = Rules(users={"a": UserRule(weight=3.0), "c": UserRule(threads=1)})
    cluster = Cluster(2, {"p": 3, "q": 3}, rules)
    for user in ("a@here", "b@here", "c@here"):
        cluster.begin(user, 1e9)
    cluster.run(3600.0)
    assert cluster.had["c@here"] <= 1 * 3600.0 * 1.001
    assert cluster.had["a@here"] / cluster.had["b@here"] == pytest.approx(3.0, rel=0.1)


def test_those_of_a_higher_priority_come_first():
    cluster = Cluster(3, {"p": 4}, Rules(users={"boss": UserRule(priority=1)}))
    cluster.begin("me", 1e9)
    cluster.run(20.0)
    query = cluster.begin("boss", 400.0)
    cluster.run(103.0)
    assert query.ended is not None


def test_a_user_s_queries_share_no_more_processes_than_may_be():
    rules = Rules(users={"a": UserRule(processes=2)})
    cluster = Cluster(8, {"p": 2, "q": 2, "r": 2, "s": 2}, rules)
    mine = [cluster.begin("a", 1e9), cluster.begin("a", 1e9)]
    cluster.run(60.0)
    assert [query.at_work for query in mine] == [2, 2]
    other = cluster.begin("b", 1e9)
    cluster.run(60.0)
    assert other.at_work >= 4
    assert busy(cluster) == 8


@pytest.mark.parametrize("rule", [UserRule(processes=1), UserRule(threads=2)])
def test_a_limited_user_goes_on_elsewhere_if_a_process_dies(rule):
    cluster = Cluster(9, {"p": 2, "q": 2}, Rules(others=rule))
    query = cluster.begin("a", 100.0)
    cluster.run(10.0)
    (home,) = {process for process, *_ in cluster.turns.turns()}
    cluster.lose(home, another=False)
    cluster.run(5.0)
    assert query.at_work == 2


def test_no_more_queries_at_once_than_may_be():
    cluster = Cluster(4, {"p": 4}, Rules(queries=2, others=UserRule(queries=1)))
    queries = [cluster.begin(user, 40.0) for user in ("a", "a", "b", "c")]
    cluster.run(5.0)
    assert [query.first is not None for query in queries] == [True, False, True, False]
    cluster.run(100.0)
    assert all(query.ended for query in queries)


def test_the_share_that_a_query_may_expect():
    cluster = Cluster(7, {"p": 4}, Rules(users={"a": UserRule(weight=3.0)}))
    assert cluster.turns.share("a") == cluster.turns.share("b") == 1.0
    cluster.begin("b", 1e9)
    assert cluster.turns.share("a") == 0.75
    assert cluster.turns.share("b") == 0.5
    cluster.begin("b", 1e9)
    cluster.begin("c", 1.0)
    assert cluster.turns.share("a") == 0.6
    assert cluster.turns.share("d") == pytest.approx(1 / 3)
    cluster.run(60.0)
    assert cluster.turns.share("d") == 0.5, "the short one is over"


def test_the_time_in_which_a_worker_is_started_does_not_count_unless_it_is_long():
    turns, now = Turns(), 0.0
    turns.add("p", 1)
    slow, other = (Query(name, name, 1e9, 1.0, 0.0) for name in ("slow", "other"))
    slow.starting.add(0)
    turns.begin("slow", "slow", slow, now)
    turns.wait("slow", "p", 0)
    assert turns.decide(now) == [Grant("slow", 0)]
    turns.begin("other", "other", other, now)
    turns.wait("other", "p", 0)
    assert turns.decide(4.0, everywhere=True) == []
    turns.started("slow", 0, 4.0)
    slow.starting.clear()
    assert turns.decide(4.2, everywhere=True) == []
    assert turns.decide(4.6, everywhere=True) == [Withdraw("slow", 0)]
    turns.returned("slow", 0, 4.6)
    other.starting.add(0)
    assert turns.decide(4.6) == [Grant("other", 0)]
    assert turns.decide(4.0 + STARTING, everywhere=True) == []
    assert turns.decide(9.6 + STARTING, everywhere=True) == [Withdraw("other", 0)]


@pytest.mark.parametrize(("started", "seconds", "charged"), [(8.0, 8.75, 0.75), (None, 12.0, 2.0)])
def test_what_a_worker_loads_is_charged_only_if_it_takes_long(started, seconds, charged):
    turns = Turns()
    turns.add("p", 1)
    slow, other = (Query(name, name, 1e9, 1.0, 0.0) for name in ("slow", "other"))
    slow.starting.add(0)
    for query in (slow, other):
        turns.begin(query.name, query.user, query, 0.0)
        turns.wait(query.name, "p", 0)
    assert turns.decide(0.0) == [Grant("slow", 0)]
    if started is not None:
        assert turns.decide(started, everywhere=True) == []
        slow.starting.clear()
        turns.started("slow", 0, started)
    assert turns.decide(seconds, everywhere=True) == [Withdraw("slow", 0)]
    turns.returned("slow", 0, seconds)
    assert turns.decide(seconds) == [Grant("other", 0)]
    assert turns.decide(seconds + charged - 0.1, everywhere=True) == []
    assert turns.decide(seconds + charged + 0.1, everywhere=True) == [Withdraw("other", 0)]


def test_a_query_that_is_nearly_done_keeps_its_thread_and_not_for_ever():
    cluster = Cluster(8, {"p": 1})
    for user in "bcdefgh":
        cluster.begin(user, 1e9, 0.25)
    cluster.run(30.0)
    queries = [cluster.begin("a", 0.9, 0.3)]
    cluster.run(30.0)
    queries.append(cluster.begin("a", 4.0, 0.3))
    cluster.run(30.0)
    assert all(each.ended for each in queries)
    short, long = [each.ended - each.first for each in queries]
    assert short == pytest.approx(0.9, abs=0.01)
    assert long > 2 * 7 * 0.5, "it waits for the others twice"


@pytest.mark.parametrize("packet", [1.0, 60.0])
@pytest.mark.parametrize("users", [("a", "a"), ("a", "b")])
@pytest.mark.parametrize("threads", [1, 8])
def test_short_queries_begin_within_two_seconds_beside_long_ones(threads, users, packet):
    cluster = Cluster(5, {"p": threads, "q": threads})
    cluster.begin(users[0], 1e9, packet)
    for _ in range(20):
        cluster.run(20.0)
        query = cluster.begin(users[1], 1.0, 0.2)
        cluster.run(5.0)
        assert query.first - query.began <= 2.0


def test_what_is_to_be_alone_is_alone_and_no_longer_than_it_must():
    cluster = Cluster(6, {"p": 4, "q": 4})
    a, *_ = (cluster.begin(user, 1e9, 0.5) for user in "abc")
    cluster.run(30.0)
    cluster.turns.isolate(a.name, 1, cluster.now)
    cluster.decide()
    cluster.run(3.0)
    homes = {process for process, query, _ in cluster.turns.turns() if query == a.name}
    assert a.at_work == 1
    assert len(homes) == 1
    assert {query for process, query, _ in cluster.turns.turns() if process in homes} == {a.name}
    cluster.turns.isolate(a.name, None, cluster.now)
    cluster.decide()
    cluster.run(30.0)
    assert a.at_work >= 2
    assert busy(cluster) == 8


def test_a_query_is_alone_for_as_long_as_was_said():
    cluster = Cluster(6, {"p": 2, "q": 2})
    a, _ = (cluster.begin(user, 1e9, 0.5) for user in "ab")
    cluster.turns.isolate(a.name, 2, cluster.now, seconds=200.0)
    cluster.turns.isolate(a.name, 2, cluster.now)  # for less, because of something else
    cluster.decide()
    cluster.run(150.0)
    assert cluster.turns.is_alone(a.name)
    cluster.run(100.0)
    assert not cluster.turns.is_alone(a.name)


def test_all_may_have_to_be_alone_on_one_process():
    cluster = Cluster(7, {"p": 2})
    queries = [cluster.begin(user, 100.0, 0.5) for user in "abc"]
    cluster.run(10.0)
    for query in queries:
        cluster.turns.isolate(query.name, 2, cluster.now)
    cluster.decide()
    cluster.run(400.0)
    assert all(query.ended for query in queries)


@pytest.mark.parametrize("part", range(4))
def test_whatever_happens_all_queries_end_and_no_thread_is_left_without_work(part):
    for seed in range(part * HISTORIES // 4, (part + 1) * HISTORIES // 4):
        chance = random.Random(seed)
        processes = {f"p{i}": chance.choice([1, 2, 4]) for i in range(chance.randrange(1, 5))}
        rules = Rules(
            users={"b": UserRule(weight=2.0, priority=chance.choice([0, 1]))},
            others=UserRule(
                threads=chance.choice([None, 2]),
                processes=chance.choice([None, 1, 2]),
                queries=chance.choice([None, 2]),
            ),
            queries=chance.choice([None, 3]),
        )
        cluster = Cluster(seed, processes, rules)
        queries = []
        for _ in range(chance.randrange(1, 12)):
            packet = chance.choice([0.1, 1.0, 5.0])
            queries.append(cluster.begin(chance.choice("abc"), chance.uniform(0.1, 20), packet))
            cluster.run(chance.uniform(0.0, 5.0))
            what = chance.random()
            if what < 0.2:
                cluster.lose(chance.choice(sorted(processes)))
            elif what < 0.4 and cluster.queries:
                name = chance.choice(sorted(cluster.queries))
                cluster.turns.isolate(name, chance.choice([1, 100]), cluster.now)
                cluster.decide()
            elif what < 0.5:
                for name in sorted(cluster.queries):
                    cluster.turns.isolate(name, None, cluster.now)
                cluster.decide()
        cluster.run(2000.0)
        assert not cluster.queries, f"seed {seed}: some queries do not end"
