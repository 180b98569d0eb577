"""A session whose workers are led by some of them, while processes are killed, stopped for a while,
sent away and added, as chance will have it: each entry is in the result once. `STRESS=20` has so
many of these histories.
"""

import os
import signal
import threading
import time
from random import Random

import pytest
import treemill as tm

from tests.waiting import until

from .processes import desk
from .queries import again, check, started
from .test_faults import processes, pytestmark  # noqa: F401

WORKERS = 5


def alive(client):
    """The addresses of the workers that answer, by process id."""
    return {pid: each for each, pid in client.run(os.getpid, on_error="ignore").items()}


def leaders(client, pids):
    """Those of the processes that lead groups."""

    def look(desk):
        groups = [led for lead in desk._leads.values() for led in lead._roster.groups]
        return [led.leader for led in groups if led.leader]

    addresses = desk(client, look)
    return [pid for pid, address in pids.items() if address in addresses]


def merged(client):
    """Whether a process has merged anything."""
    return desk(client, lambda desk: any(e.parts(whole=False) for e in desk._leads.values()))


class Storm:
    """What happens to the processes of a cluster."""

    def __init__(self, processes, client, chance):  # noqa: F811
        self.processes, self.client, self.chance = processes, client, chance
        self.retiring = []
        self.log = []

    def happen(self):
        """Lets something happen to some process. At least three are left alone."""
        deed = self.chance.choice(["kill a leader", "kill", "stop", "retire", "retire a leader"])
        pids = alive(self.client)
        leading = leaders(self.client, pids)
        among = leading if deed.endswith("leader") and leading else sorted(pids)
        victim = self.chance.choice(among)
        self.log.append((deed, pids[victim]))
        if deed.startswith("kill"):
            os.kill(victim, signal.SIGKILL)
            self.processes.add(1)
        elif deed == "stop":
            os.kill(victim, signal.SIGSTOP)
            time.sleep(self.chance.choice([0.5, 3.0]))  # how long the fault lasts
            os.kill(victim, signal.SIGCONT)
        else:
            self.processes.add(1)
            retire = threading.Thread(target=self.retire, args=(pids[victim],), daemon=True)
            self.retiring.append(retire)
            retire.start()

    def retire(self, address):
        self.client.retire_workers([address])


@pytest.mark.slow
@again
def test_whatever_happens_each_entry_is_counted_once(processes, events, tmp_path, turn):  # noqa: F811
    chance = Random(turn)
    processes.add(WORKERS)
    with tm.connect(processes.address, submasters=2, silence=2.5) as session:
        client = session._pool._client
        client.wait_for_workers(WORKERS, timeout=60)
        storm = Storm(processes, client, chance)
        query = started(session, events, tmp_path, workers=WORKERS, seconds=4e-4)
        for _ in range(4):
            until(lambda: merged(client) or query.done, "a commit")
            if query.done:
                break
            storm.happen()
        assert len(storm.log) > 1, "the query was there long enough"
        check(events, query.result(120))
        assert query.report.complete
        for thread in storm.retiring:
            thread.join(30)
            assert not thread.is_alive(), storm.log
        assert session.run(events.count()) == events.num_entries
