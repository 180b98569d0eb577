"""A pass that a cluster still has is gone on with, unless it has ended or is dropped meanwhile."""

from types import SimpleNamespace

from treemill.backends.dask.messages import Kept
from treemill.backends.dask.resumption import Resumption, found_again
from treemill.errors import QueryError

from tests.python.backends.test_scheduler_state import request

KEPT = Kept("host:/folder/0-fill", "digest")


class Line:
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
    line = Line(("other", Kept("elsewhere", "digest"), False), ("work", KEPT, False))
    assert found_again(line, KEPT) == ("work", Resumption())
    assert line.passes.keys() == {"other", "work"}


def test_one_that_has_ended_or_kept_something_else_is_dropped():
    line = Line(("ended", KEPT, True), ("old", Kept(KEPT.place, "another"), False))
    assert found_again(line, KEPT) is None
    assert not line.passes


def test_one_that_is_dropped_meanwhile_is_none():
    line = Line(("gone", KEPT, None), ("work", KEPT, False))
    assert found_again(line, KEPT) == ("work", Resumption())
