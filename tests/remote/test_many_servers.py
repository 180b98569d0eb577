"""Files of many servers: neither their connections nor their openings take threads of their own."""

import subprocess
import sys
from contextlib import ExitStack

from tests.remote.relay import Relay

SERVERS = 40

CHILD = """
import os, sys
import treemill._core as core

def threads():
    return len(os.listdir("/proc/self/task"))

core.remote_stat(sys.argv[1])
one = threads()
sizes = {core.remote_stat(url)[0] for url in sys.argv[2:]}
sockets = [os.readlink(f"/proc/self/fd/{each}") for each in os.listdir("/proc/self/fd")
           if os.path.exists(f"/proc/self/fd/{each}")]
print(one, threads(), sum("socket" in each for each in sockets), len(sizes))
"""


def test_connections_to_many_servers_take_no_more_threads_than_one(xrootd):
    with ExitStack() as stack:
        relays = [stack.enter_context(Relay(xrootd)) for _ in range(SERVERS)]
        urls = [f"root://127.0.0.1:{r.port}//store/trees/events_0.root" for r in relays]
        command = [sys.executable, "-c", CHILD, *urls]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    one, all_of_them, sockets, sizes = map(int, done.stdout.split())
    assert sizes == 1
    assert sockets >= SERVERS, "each has a connection"
    assert all_of_them < one + 10  # some look up names, or wait


PASS = """
import os, sys, threading
import treemill as tm

most, is_over = 0, threading.Event()

def look():
    global most
    while not is_over.wait(0.002):
        most = max(most, len(os.listdir("/proc/self/task")))

looking = threading.Thread(target=look)
looking.start()
events = tm.dataset(sys.argv[1:], tree="Events")
with tm.connect(workers=2, mode="threads") as session:
    counts = [session.run(events.count()) for _ in range(2)]
is_over.set()
looking.join()
print(most - 1, *counts)
"""
MORE_SERVERS = 100
MOST_THREADS = 16
"""Those of a process with two workers, whatever the number of servers."""


def test_a_pass_over_many_servers_takes_few_threads(xrootd):
    with ExitStack() as stack:
        relays = [stack.enter_context(Relay(xrootd)) for _ in range(MORE_SERVERS)]
        urls = [f"root://127.0.0.1:{r.port}//store/trees/events_0.root" for r in relays]
        command = [sys.executable, "-c", PASS, *urls]
        done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=True)
    threads, first, second = map(int, done.stdout.split())
    assert first == second
    assert first % MORE_SERVERS == 0
    assert threads <= MOST_THREADS
