"""Servers that open a file, and bring nothing after that: a run ends with a SourceError although it
asks for a packet several times, each kind of silence is seen, and what is asked for when the server
is well again comes. How long all of it may take is added up in
`crates/treemill-transfer/src/patience.rs`.
"""

import contextlib
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import treemill as tm
from treemill.scheduling.state import Policy

from tests.remote.dcap_door import DcapDoor
from tests.remote.relay import Relay
from tests.remote.test_faults import SERVERS, outcome, total

FILE = "store/trees/events_2.root"
OPENING = 2000
"""Bytes of a connection that brings all of a file's opening, but nothing of what a pass reads."""


@contextlib.contextmanager
def silenced(kind, how, files, folder):
    """A server's file, what silences the server, and what makes it well again."""
    if kind == "dcap":
        with DcapDoor(folder) as door:
            door.put(files[FILE], FILE)

            def silent(is_silent):
                door.faults.silent = is_silent

            yield door.url(FILE), lambda: silent(True), lambda: silent(False)
        return
    with SERVERS[kind]() as made:
        made.put(files[FILE], FILE)
        if how == "frozen":
            yield made.url(FILE), made.freeze, made.thaw
            return
        with Relay(made) as relay:

            def mute(most):
                relay.mute = most

            address = made.url(FILE).replace(f":{made.ports[0]}", f":{relay.port}")
            most = OPENING if how == "mute" else 0
            yield address, lambda: mute(most), lambda: mute(None)


CASES = [
    ("root", "frozen"),
    ("root", "mute"),
    ("root", "cut off"),
    ("http", "frozen"),
    ("http", "cut off"),
    ("nfs", "frozen"),
    ("nfs", "cut off"),
    ("dcap", "silent"),
]


@pytest.mark.slow
@pytest.mark.usefixtures("nothing_remembered")
def test_a_run_ends_whichever_way_a_server_is_silent(files, paths, tmp_path):
    """All at once, for the sake of time."""
    right = total(tm.dataset(paths[2], "Events")).value
    cases = [case for case in CASES if case[0] == "dcap" or SERVERS[case[0]].missing() is None]
    with contextlib.ExitStack() as stack:
        made = [
            stack.enter_context(silenced(kind, how, files, tmp_path / f"{kind} {how}"))
            for kind, how in cases
        ]
        sessions = [stack.enter_context(tm.connect(workers=1, mode="threads")) for _ in made]
        events = [tm.dataset(url, "Events") for url, _, _ in made]
        assert [each.num_entries for each in events] == [7321] * len(events)

        def run(number):
            return outcome(lambda: sessions[number].run(total(events[number])))

        for _, silence, _ in made:
            silence()
        with ThreadPoolExecutor(len(made)) as pool:
            for case, error in zip(cases, pool.map(run, range(len(made))), strict=True):
                assert isinstance(error, tm.SourceError), (case, error)
        for _, _, heal in made:
            heal()
        for number, case in enumerate(cases):
            found = run(number)
            assert not isinstance(found, Exception), (case, found)
            assert np.array_equal(found.view(flow=True), right.view(flow=True)), case


def test_the_promise_counts_as_often_as_a_run_asks():
    patience = Path("crates/treemill-transfer/src/patience.rs").read_text(encoding="utf-8")
    asked = re.search(r"pub const ASKED: u32 = (\d+);", patience)
    assert int(asked[1]) == Policy().max_attempts
