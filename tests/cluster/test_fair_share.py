"""Several queries on real workers share their threads: none takes another's, a short one has its
turn beside a long one, and the operator's file says who may have what.
"""

import contextlib
import os
import signal

import dask
import pytest
import treemill as tm
from distributed import Client
from treemill.backends.dask.messages import Owner
from treemill.backends.dask.rules import read_rules

from tests.raising import raises
from tests.waiting import until

from .processes import Processes, scheduler_state
from .queries import again, at_work, check, slow


def counting(folder, seconds):
    """Notes how many chunks its process has at once."""
    folder = str(folder)

    def counted(chunk):
        import os
        import time
        import uuid

        mine = os.path.join(folder, f"{os.getpid()}-{uuid.uuid4()}")
        open(mine, "w").close()
        at_once = sum(name.startswith(f"{os.getpid()}-") for name in os.listdir(folder))
        time.sleep(seconds)
        os.unlink(mine)
        return {"n": len(chunk), "at_once": [at_once]}

    return counted


@again
def test_queries_take_turns_on_one_thread(tmp_path, events, turn):
    (tmp_path / "seen").mkdir()
    with Processes(tmp_path) as processes:
        processes.add(1, 1)
        with tm.connect(processes.address) as session:
            session._pool._client.wait_for_workers(1, timeout=60)
            function = counting(tmp_path / "seen", 0.05)
            queries = [session.submit(function, events, chunksize=8000) for _ in range(8)]
            outputs = [query.result(120) for query in queries]
    assert all(output["n"] == events.num_entries for output in outputs)
    # A thread is lent once, to another query, if a packet takes long.
    assert max(number for output in outputs for number in output["at_once"]) <= 2


@again
def test_a_short_query_ends_beside_a_long_one_of_another_user(tmp_path, events, turn):
    seen = tmp_path / "seen"
    seen.mkdir()
    with Processes(tmp_path) as processes:
        processes.add(2, 1)
        with tm.connect(processes.address) as mine, tm.connect(processes.address) as yours:
            yours._pool.owner = Owner("another", "host")
            mine._pool._client.wait_for_workers(2, timeout=60)
            long = mine.submit(slow(seen, 1e-2), events)  # ten minutes
            until(lambda: list(seen.iterdir()), "it is at work")
            assert yours.run(events.count()) == events.num_entries
            assert not long.done
            (seen / "hurry").touch()
            check(events, long.result(120))


def test_the_operator_says_who_may_have_what(tmp_path, events):
    (tmp_path / "treemill.toml").write_text(
        'memory = "2 GB"\n[users."*"]\nthreads = 1\n[users.another]\nweight = 2\n'
    )
    seen = tmp_path / "seen"
    seen.mkdir()
    with Processes(tmp_path) as processes:
        processes.add(1, 3)
        with tm.connect(processes.address) as session:
            client = session._pool._client
            client.wait_for_workers(1, timeout=60)
            query = session.submit(slow(seen, 1e-2), events)
            until(lambda: list(seen.iterdir()), "it is at work")
            turns = scheduler_state(client, lambda state: len(list(state._turns.turns())))
            limits = scheduler_state(
                client, lambda state: [each.request.memory for each in state._passes.values()]
            )
            (seen / "hurry").touch()
            check(events, query.result(120))
    assert (turns, limits) == (1, [2_000_000_000])


def test_a_user_with_one_process_goes_on_in_another_if_it_dies(tmp_path, events):
    (tmp_path / "treemill.toml").write_text('[users."*"]\nprocesses = 1\n')
    seen = tmp_path / "seen"
    seen.mkdir()
    with Processes(tmp_path) as processes:
        processes.add(2, 2)
        with tm.connect(processes.address) as session:
            session._pool._client.wait_for_workers(2, timeout=60)
            query = session.submit(slow(seen, 1e-2), events)
            until(lambda: at_work(seen), "it is at work")
            (pid,) = at_work(seen)
            os.kill(pid, signal.SIGKILL)
            until(lambda: len(at_work(seen)) == 2, "the other process is at work")
            (seen / "hurry").touch()
            check(events, query.result(120))


PRELOAD = """
import dask

def dask_setup(scheduler):
    dask.config.set({"treemill.rules": {"memory": "1 GB", "users": {"*": {"threads": 1}}}})
"""


def rules(client):
    return scheduler_state(client, lambda state: state._turns.rules)


def test_rules_by_a_preload(tmp_path, events):
    (tmp_path / "rules.toml").write_text('memory = "1 GB"\n[users."*"]\nthreads = 1\n')
    (tmp_path / "mine.py").write_text(PRELOAD)
    ours = ("--preload", "treemill.backends.dask.preload")
    ways = [(*ours, "--rules", tmp_path / "rules.toml"), ("--preload", tmp_path / "mine.py"), ours]
    for number, words in enumerate(ways):
        (folder := tmp_path / str(number)).mkdir()
        with Processes(folder, preload=words) as processes:
            processes.add(1, 2)
            with Client(processes.address, set_as_default=False) as client:
                client.wait_for_workers(1, timeout=60)
                if words[1] == ours[1]:  # before any session
                    assert rules(client).memory == (10**9 if words != ours else None)
            with tm.connect(processes.address) as session:
                assert session.run(events.count()) == events.num_entries
                known = rules(session._pool._client)
            found = (known.memory, known.others.threads)
            assert found == ((None, None) if words == ours else (10**9, 1))


def test_a_scheduler_with_rules_that_make_no_sense_does_not_start(tmp_path):
    (tmp_path / "rules.toml").write_text("memory = true")
    words = ("--preload", "treemill.backends.dask.preload", "--rules", tmp_path / "rules.toml")
    ends_at_once = contextlib.suppress(AssertionError)  # before it is there
    with ends_at_once, Processes(tmp_path, preload=words) as processes:
        until(lambda: processes.scheduler.poll() is not None, "it ends", seconds=20)
    assert "treemill: " in (log := (tmp_path / "log").read_text())
    assert "memory is a number of bytes" in log


def test_rules_in_two_places_are_an_error(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "treemill.toml").write_text("queries = 3")
    both = ("treemill.toml", "treemill.rules")
    with dask.config.set({"treemill.rules": {"queries": 2}}), raises(tm.QueryError, about=both):
        read_rules()
    with dask.config.set({"treemill.rules": 3}), raises(tm.QueryError, about=both):
        read_rules()
    (tmp_path / "treemill.toml").unlink()
    with dask.config.set({"treemill.rules": 3}), raises(tm.QueryError, about="treemill.rules"):
        read_rules()


@pytest.mark.parametrize(
    "text", ["memory = 'much'", "[users.me]\nweight = 0", "shares = 3", "memory = ["]
)
def test_what_makes_no_sense_is_told_to_the_first_who_connects(tmp_path, monkeypatch, text):
    from treemill.backends.dask.rules import read_rules

    (tmp_path / "treemill.toml").write_text(text)
    monkeypatch.chdir(tmp_path)
    with raises(tm.QueryError, about="treemill.toml"):
        read_rules()
