"""Files of many servers: connections take no threads of their own."""

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
