"""Queries that say which entries they saw, for tests that disturb them: every entry of the dataset
must be there, once. `STRESS=20` repeats each of these tests so many times.
"""

import os

import pytest

from tests.waiting import until

from .processes import scheduler_state

again = pytest.mark.parametrize("turn", range(int(os.environ.get("STRESS", "1"))))


def slow(folder, seconds, column=None):
    """Says which entries it saw, and takes a while for each entry until it is to hurry; a worker
    says once that it is at work, by a file with its process id. `column`: is summed, too."""
    folder = str(folder)

    def spans(chunk):
        import os
        import time

        open(os.path.join(folder, f"at-work-{os.getpid()}"), "w").close()
        end = time.monotonic() + len(chunk) * seconds
        while time.monotonic() < end and not os.path.exists(os.path.join(folder, "hurry")):
            time.sleep(min(len(chunk) * seconds, 0.02))
        data = chunk.metadata
        span = (data["filename"], data["entrystart"], data["entrystop"])
        total = 0 if column is None else int(sum(chunk[column]))
        return {"n": len(chunk), "spans": [span], "sum": total}

    return spans


def hurried(query, folder):
    """The result of a query that was started in this folder, from now on as fast as it can. What a
    test does to a query on a busy machine may take long, and the query must not end before."""
    (folder / "seen" / "hurry").touch()
    return query.result(60)


def at_work(folder):
    return {int(path.name.rsplit("-", 1)[1]) for path in folder.glob("at-work-*")}


def check(events, output):
    assert output["n"] == events.num_entries
    for path, (entries, _) in zip(events.files, events.chain.sizes, strict=True):
        mine = sorted((a, b) for name, a, b in output["spans"] if name == path)
        assert [a for a, _ in mine] == [0, *(b for _, b in mine)][:-1], "no gap, nothing twice"
        assert mine[-1][1] == entries


def started(session, events, folder, workers=3, seconds=1e-3, column=None, **options):
    folder = folder / "seen"
    folder.mkdir()
    query = session.submit(slow(folder, seconds, column), events, **options)
    until(lambda: len(at_work(folder)) >= workers or query.done, "workers at work")
    if query.done:
        query.result()
    return query


def committed(client):
    """Process ids of the workers that hold partials."""

    def look(scheduler_state):
        leads = list(scheduler_state._passes.values())
        return [
            part.address
            for pass_scheduler in leads
            for part in pass_scheduler.parts(whole=False) or ()
        ]

    addresses = scheduler_state(client, look)
    pids = client.run(os.getpid)
    return [pids[each] for each in addresses if each in pids]
