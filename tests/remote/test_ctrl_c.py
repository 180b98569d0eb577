"""Ctrl-C while a server says nothing: the call ends long before the server counts as lost. Each
call is made by a program of its own, which interrupts itself when its call waits for the server.
"""

import subprocess
import sys

import pytest

from tests.remote.conftest import to_be_frozen
from tools.servers.ganesha import Ganesha
from tools.servers.nginx import Nginx
from tools.servers.xrootd import XRootD

PATH, OTHER = (f"store/trees/events_{i}.root" for i in (2, 0))
SERVERS = {"root": XRootD, "http": Nginx, "nfs": Ganesha}
SOON = 6
"""Seconds after which a call counts as one that waits for the server, which takes 7 to 27."""

_PROGRAM = """
import signal, sys, threading, time
import treemill as tm

tm.cache.limit = 0
url, other, action = sys.argv[1:]
events = tm.dataset(url, tree="Events")
assert events.num_entries == 7321
calls = {
    "arrays": lambda: events.arrays("Jet_pt"),
    "open": lambda: tm.dataset(other, tree="Events").num_entries,
    "glob": lambda: tm.dataset(other.replace("events_0", "*"), tree="Events"),
}
call = calls[action]
# Reads, looks at files and lists folders. On a slow machine a file is looked at again before it is
# read.
WAITS = {"_read_cores", "_told", "_walk"}

def interrupt():
    main = threading.main_thread().ident
    while sys._current_frames()[main].f_code.co_name not in WAITS:
        time.sleep(0.01)
    signal.raise_signal(signal.SIGINT)

print("open", flush=True)
assert sys.stdin.readline()  # the server is frozen
threading.Thread(target=interrupt, daemon=True).start()
try:
    call()
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@pytest.fixture(params=SERVERS)
def server(request, files):
    with to_be_frozen(SERVERS[request.param], files) as made:
        yield made


@pytest.mark.parametrize("action", ["arrays", "open", "glob"])
def test_a_silent_server_does_not_keep_ctrl_c_waiting(server, action):
    words = [sys.executable, "-c", _PROGRAM, server.url(PATH), server.url(OTHER), action]
    with subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as program:
        try:
            assert program.stdout.readline() == "open\n"
            server.freeze()
            told, wrong = program.communicate("frozen\n", timeout=SOON)
        finally:
            program.kill()
            server.thaw()
    assert (told, wrong, program.returncode) == ("interrupted\n", "", 0)
