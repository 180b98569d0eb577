"""Workers that are sent away while they work: what they have done is saved first, and nothing is
done again, also if one of those that take part in that is killed meanwhile. `STRESS=20` repeats
each test so many times.
"""

import os
import signal
import threading

import pytest
import treemill as tm
from treemill.scheduling import HandedOn, Timeline, WorkerJoined, WorkerLeaving

from tests.waiting import until

from .processes import scheduler_state
from .queries import again, check, hurried, slow
from .test_faults import processes, pytestmark  # noqa: F401


def started(session, events, folder, seconds=1e-3):
    """A query of which a merger has something."""
    folder = folder / "seen"
    folder.mkdir()
    query = session.submit(slow(folder, seconds), events)
    client = session._pool._client
    until(lambda: held(client) or query.done, "a commit")
    if query.done:
        query.result()
    return query


def held(client):
    """The addresses of the workers that hold partials."""
    return scheduler_state(
        client,
        lambda scheduler_state: [
            part.address
            for pass_scheduler in scheduler_state._passes.values()
            for part in pass_scheduler.parts(whole=False) or ()
        ],
    )


def others(client, address):
    """The other workers, the one first that would get its partial."""
    found = scheduler_state(
        client,
        lambda scheduler_state: [
            a
            for pass_scheduler in scheduler_state._passes.values()
            for a in pass_scheduler._processes
        ],
    )
    return [each for each in found if each != address]


def at_work(client, address):
    """The packets that the workers of a process are at, if none of its partials is on its way."""

    def look(scheduler_state):
        (pass_scheduler,) = scheduler_state._passes.values()
        numbers = pass_scheduler._processes[address].joined
        ledger = pass_scheduler._packetizer._state.ledger
        if any(ledger.receiver(number) is not None for number in numbers):
            return None
        packets = [ledger.packet_of(number) for number in numbers]
        return None if None in packets else packets

    return scheduler_state(client, look)


def hands_on(client):
    """Whether a merger's partial is on its way to another one."""

    def look(scheduler_state):
        (pass_scheduler,) = scheduler_state._passes.values()
        return pass_scheduler._packetizer._state.ledger.handing_on

    return scheduler_state(client, look)


def frozen(client, address, pid):
    """Stops a process in the middle of a packet."""
    while True:
        until(lambda: at_work(client, address), "it has a packet")
        before = at_work(client, address)
        os.kill(pid, signal.SIGSTOP)
        if before is not None and at_work(client, address) == before:
            return
        os.kill(pid, signal.SIGCONT)


def is_there_again(client):
    """Whether a worker has been sent away from the query, and another one has joined it since. One
    that is sent away before it has a packet is just gone."""

    def look(scheduler_state):
        (pass_scheduler,) = scheduler_state._passes.values()
        events = [record.event for record in pass_scheduler._coordinator.trace.records]
        left = [at for at, event in enumerate(events) if isinstance(event, WorkerLeaving)]
        return bool(left) and any(isinstance(event, WorkerJoined) for event in events[left[0] :])

    return scheduler_state(client, look)


def saved(query):
    """Checks that nothing was lost with the workers that were sent away."""
    trace = query.report.trace
    left = {each.event.worker for each in trace.records if isinstance(each.event, WorkerLeaving)}
    assert left
    assert not [span for span in Timeline.of(trace).thrown_away if span.worker in left]
    return sum(isinstance(each.event, HandedOn) for each in trace.records)


@pytest.fixture
def connected(processes):  # noqa: F811
    """A cluster of three workers, and a session that keeps traces."""
    processes.add(3)
    with tm.connect(processes.address, silence=20, trace=100_000) as session:
        client = session._pool._client
        client.wait_for_workers(3, timeout=60)
        yield session, client


@pytest.mark.slow
@again
def test_what_a_retired_worker_has_done_is_saved(connected, events, tmp_path, turn):
    session, client = connected
    query = started(session, events, tmp_path)
    giver = held(client)[0]
    assert giver in client.retire_workers([giver])
    check(events, hurried(query, tmp_path))
    assert saved(query) == 1


@pytest.mark.slow
@again
def test_one_that_has_nothing_more_to_lose_goes_at_once(processes, events, tmp_path, turn):  # noqa: F811
    """And not when the time is over within which it may save what it has."""
    processes.add(3)
    with tm.connect(processes.address, patience=600) as session:
        client = session._pool._client
        client.wait_for_workers(3, timeout=60)
        query = started(session, events, tmp_path)
        goes = others(client, held(client)[0])[0]
        assert goes in client.retire_workers([goes])
        assert not query.done
        query.abort()


@pytest.mark.slow
@again
def test_what_a_worker_has_done_is_saved_when_it_gets_sigterm(
    processes,  # noqa: F811
    events,
    tmp_path,
    turn,
):
    """As batch systems end jobs. Without a nanny Dask ends a worker at once."""
    processes.add(3, 1, "--nanny")
    with tm.connect(processes.address, silence=20, trace=100_000) as session:
        client = session._pool._client
        client.wait_for_workers(3, timeout=60)
        query = started(session, events, tmp_path)
        giver = client.run(os.getppid)[held(client)[0]]
        os.kill(giver, signal.SIGTERM)
        check(events, hurried(query, tmp_path))
        assert saved(query) == 1


@pytest.mark.slow
@again
def test_all_but_one_are_retired(connected, events, tmp_path, turn):
    session, client = connected
    query = started(session, events, tmp_path)
    stays, *gone = others(client, held(client)[0])
    gone.append(held(client)[0])
    assert set(client.retire_workers(gone)) == set(gone)
    assert held(client) == [stays]
    check(events, hurried(query, tmp_path))
    saved(query)


@pytest.mark.slow
@again
@pytest.mark.parametrize("dies", ["the giver", "the taker"])
def test_one_is_killed_while_a_partial_is_handed_on(connected, events, tmp_path, dies, turn):
    session, client = connected
    pids = client.run(os.getpid)
    query = started(session, events, tmp_path)
    giver = held(client)[0]
    taker = others(client, giver)[0]
    frozen(client, taker, pids[taker])
    retiring = threading.Thread(target=lambda: client.retire_workers([giver]), daemon=True)
    retiring.start()
    until(lambda: hands_on(client), "it is on its way")
    os.kill(pids[giver if dies == "the giver" else taker], signal.SIGKILL)
    if dies == "the giver":
        os.kill(pids[taker], signal.SIGCONT)
    check(events, hurried(query, tmp_path))
    retiring.join(20)
    assert not retiring.is_alive()


@pytest.mark.slow
@again
def test_workers_with_a_lifetime_are_started_anew(processes, events, tmp_path, turn):  # noqa: F811
    """One stays, the other one is started anew every few seconds."""
    processes.add(1)
    processes.add(1, 1, "--nanny", "--lifetime", "8 s", "--lifetime-restart")
    with tm.connect(processes.address, silence=20, trace=100_000) as session:
        query = started(session, events, tmp_path, 3e-3)
        client = session._pool._client
        until(lambda: query.done or is_there_again(client), "it is there again", 120)
        assert not query.done
        check(events, hurried(query, tmp_path))
        saved(query)


@pytest.mark.slow
def test_a_cluster_that_is_scaled_down_loses_nothing(events, tmp_path):
    from distributed import LocalCluster

    options = {"n_workers": 3, "threads_per_worker": 1, "dashboard_address": None}
    with LocalCluster(**options) as cluster, tm.connect(cluster, trace=100_000) as session:
        query = started(session, events, tmp_path)
        cluster.scale(1)
        check(events, hurried(query, tmp_path))
        saved(query)
