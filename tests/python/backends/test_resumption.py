"""A pass that a cluster still has is gone on with, unless it has ended or is dropped meanwhile."""

from types import SimpleNamespace

from treemill.backends.dask.messages import CheckpointName
from treemill.backends.dask.resumption import Resumption, find_running
from treemill.errors import QueryError

from tests.python.backends.test_scheduler_state import request

KEPT = CheckpointName("host:/folder/0-fill", "digest")


class SchedulerClient:
    """A scheduler with these passes: name, what it keeps, and whether it has ended (None: it is
    dropped as soon as it is asked for)."""

    def __init__(self, *passes):
        self.passes = {name: (kept, ended) for name, kept, ended in passes}

    def ask(self, what, *about):
        if what == "forget":
            self.passes.pop(*about, None)
            return None
        assert what == "listed"
        return [
            SimpleNamespace(work=name, request=request(kept=kept))
            for name, (kept, _) in self.passes.items()
        ]

    def watch(self, name, change, wait):
        ended = self.passes[name][1]
        if ended is None:
            del self.passes[name]
            raise QueryError(f"the cluster has no query {name!r}")
        return SimpleNamespace(ended="yes" if ended else None)


def test_one_that_runs_is_gone_on_with():
    scheduler_client = SchedulerClient(
        ("other", CheckpointName("elsewhere", "digest"), False), ("work", KEPT, False)
    )
    assert find_running(scheduler_client, KEPT) == ("work", Resumption())
    assert scheduler_client.passes.keys() == {"other", "work"}


def test_one_that_has_ended_or_kept_something_else_is_dropped():
    scheduler_client = SchedulerClient(
        ("ended", KEPT, True), ("old", CheckpointName(KEPT.place, "another"), False)
    )
    assert find_running(scheduler_client, KEPT) is None
    assert not scheduler_client.passes


def test_one_that_is_dropped_meanwhile_is_none():
    scheduler_client = SchedulerClient(("gone", KEPT, None), ("work", KEPT, False))
    assert find_running(scheduler_client, KEPT) == ("work", Resumption())
