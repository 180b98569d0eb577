"""One query of several takes its workers down: that one is given up, by name, and the others end
with what they would have found alone. On real workers that Dask ends for their memory, or that die.
"""

from pathlib import Path

import pytest
import treemill as tm

from tests.raising import raises
from tests.waiting import until

from .processes import Processes
from .queries import again, check, slow

pytestmark = pytest.mark.skipif(not Path("/proc").is_dir(), reason="ends processes by signals")

MEMORY = "600MB"


@pytest.fixture
def processes(tmp_path):
    with Processes(tmp_path) as made:
        yield made


def taking(folder):
    """Takes 1 GB for a chunk, until its worker is gone."""
    folder = str(folder)

    def hog(chunk):
        import os
        import time

        import numpy as np

        open(os.path.join(folder, f"at-work-{os.getpid()}"), "w").close()
        taken = np.ones(1 << 27)
        time.sleep(60)
        return {"n": len(chunk), "taken": float(taken[0])}

    return hog


def killing(entry):
    """Ends its process where a chunk of the first file has this entry."""

    def killer(chunk):
        import os
        import signal

        data = chunk.metadata
        if data["entrystart"] <= entry < data["entrystop"] and "events_0" in data["filename"]:
            os.kill(os.getpid(), signal.SIGKILL)
        return {"n": len(chunk)}

    return killer


@again
def test_a_query_that_takes_too_much_memory_is_given_up_and_no_other(
    processes, events, tmp_path, turn
):
    processes.add(2, 2, "--nanny", "--memory-limit", MEMORY)
    seen = tmp_path / "seen"
    seen.mkdir()
    with tm.connect(processes.address) as session, tm.connect(processes.address) as other:
        session._pool._client.wait_for_workers(2, timeout=60)
        fine = [each.submit(slow(seen, 2e-4), events) for each in (other, other)]
        until(lambda: list(seen.iterdir()) or any(q.done for q in fine), "others at work")
        bad = session.submit(taking(seen), events)
        with raises(tm.WorkerError, about=("events_", "hog")) as caught:
            bad.result(200)
        assert caught.value.file in events.files
        assert caught.value.entries is not None
        for each in fine:
            check(events, each.result(120))


@again
def test_only_the_packet_that_takes_workers_down_is_left_out(processes, events, tmp_path, turn):
    processes.add(2, 2, "--nanny")
    seen = tmp_path / "seen"
    seen.mkdir()
    with tm.connect(processes.address) as session:
        session._pool._client.wait_for_workers(2, timeout=60)
        fine = session.submit(slow(seen, 1e-3), events)
        until(lambda: list(seen.iterdir()) or fine.done, "the other one at work")
        bad = session.submit(killing(4321), events, on_error="skip", chunksize=1000)
        with pytest.warns(tm.IncompleteWarning):
            output = bad.result(200)
        (missing,) = bad.report.missing
        assert missing.file == events.files[0]
        assert missing.start <= 4321 < missing.stop
        assert output["n"] == events.num_entries - (missing.stop - missing.start)
        (seen / "hurry").touch()
        check(events, fine.result(120))


def greedy(folder, megabytes):
    """Takes so much for the chunks of the second large file, until it is to hurry."""
    folder = str(folder)

    def greedy(chunk):
        import os
        import time

        import numpy as np

        taken = np.ones(megabytes << 17) if "events_2" in chunk.metadata["filename"] else 0
        end = time.monotonic() + 1
        while time.monotonic() < end and not os.path.exists(os.path.join(folder, "hurry")):
            time.sleep(0.02)
        return {"n": len(chunk), "taken": float(np.sum(taken) > -1)}

    return greedy


@again
@pytest.mark.parametrize(
    "others",
    [
        pytest.param(0, id="alone"),
        pytest.param(1, id="beside another", marks=pytest.mark.slow),
    ],
)
def test_a_query_that_takes_more_memory_than_it_may_ends_with_the_entries(
    processes, events, tmp_path, others, turn
):
    processes.add(1, 2)
    seen = tmp_path / "seen"
    seen.mkdir()
    with tm.connect(processes.address) as session:
        session._pool._client.wait_for_workers(1, timeout=60)
        fine = [session.submit(slow(seen, 1e-3), events, memory="200 MB") for _ in range(others)]
        until(lambda: not fine or list(seen.iterdir()), "the other one at work")
        # Small chunks: it is at the second file still when it has the process for itself.
        bad = session.submit(greedy(seen, 400), events, memory="300 MB", chunksize=1000)
        with raises(tm.WorkerError, about="query 'greedy'", said="may take 300 MB") as caught:
            bad.result(120)
        assert caught.value.file in events.files
        assert caught.value.entries is not None
        enough = session.submit(greedy(seen, 50), events, memory="300 MB", chunksize=5000)
        (seen / "hurry").touch()
        assert enough.result(120)["n"] == events.num_entries
        for each in fine:
            check(events, each.result(120))


def brief(megabytes):
    """Takes so much for each chunk, and only for a part of the time."""

    def brief(chunk):
        import time

        import numpy as np

        taken = np.ones(megabytes << 17)
        time.sleep(0.15)
        total = float(taken[0])
        del taken
        time.sleep(0.15)
        return {"n": len(chunk), "taken": total > 0}

    return brief


@again
@pytest.mark.parametrize(
    "limit",
    [
        pytest.param("300 MB", id="with a limit", marks=pytest.mark.slow),
        pytest.param(None, id="without"),
    ],
)
def test_the_greedy_one_of_several_in_a_process_is_found_and_no_other(
    processes, events, tmp_path, limit, turn
):
    """One process: what the greedy query takes there is for a moment, beside two others."""
    processes.add(1, 3)
    seen = tmp_path / "seen"
    seen.mkdir()
    with tm.connect(processes.address) as session:
        session._pool._client.wait_for_workers(1, timeout=60)
        fine = [
            session.submit(slow(seen, 5e-3), events, memory=limit or "2 GB", chunksize=100)
            for _ in range(2)
        ]
        until(lambda: list(seen.iterdir()), "the others at work")
        bad = session.submit(brief(400), events, memory="300 MB", chunksize=500)
        about = ("events_", "query 'brief'")
        with raises(tm.WorkerError, about=about, said="may take 300 MB") as caught:
            bad.result(200)
        assert caught.value.file in events.files
        assert not any(each.done for each in fine), "it was not found because it was left alone"
        (seen / "hurry").touch()
        for each in fine:
            check(events, each.result(120))


def hoarding(megabytes):
    """Leaves so much of each chunk where no result is, and takes a moment."""

    def hoarding(chunk):
        import sys
        import time

        import numpy as np

        vars(sys).setdefault("left_by_a_test", []).append(np.ones(megabytes << 17))
        time.sleep(0.1)
        return {"n": len(chunk)}

    return hoarding


@pytest.mark.slow  # five processes are filled and started again, which takes a minute
@again
def test_one_that_leaves_memory_in_processes_is_given_up_and_no_other(
    processes, events, tmp_path, turn
):
    """It has nothing of note in hand when a process dies, and others have."""
    processes.add(2, 2, "--nanny", "--memory-limit", MEMORY)
    seen = tmp_path / "seen"
    seen.mkdir()
    with tm.connect(processes.address) as session, tm.connect(processes.address) as other:
        session._pool._client.wait_for_workers(2, timeout=60)
        fine = [each.submit(slow(seen, 1e-2), events, chunksize=100) for each in (other, other)]
        until(lambda: list(seen.iterdir()), "others at work")
        bad = session.submit(hoarding(20), events, chunksize=20)
        with raises(tm.WorkerError, about="query 'hoarding'", said="filled with memory") as caught:
            bad.result(200)
        assert "kept" in str(caught.value)
        assert not any(each.done for each in fine), "it was alone anyway"
        (seen / "hurry").touch()
        for each in fine:
            check(events, each.result(120))


def test_only_clusters_have_a_limit_for_each_query(events):
    with (
        tm.connect(workers=1) as session,
        raises(tm.QueryError, about="memory", said="is for clusters"),
    ):
        session.run(events.count(), memory="2 GB")
    with raises(tm.QueryError, about="memory", said="a number of bytes"):
        tm.run(events.count(), memory="much")
