"""Makes queries take local files for far ones, and notes what is asked ahead of them. Workers that
are processes import it as `treemill_setup` of an uploaded package."""

from treemill.workers import query_task as task
from treemill.workers.query_task import QueryWorkload

asked = []
"""What was asked of all files of this process: ("prefetch" or "forget", file, start, stop)."""


class _Bound:
    def __init__(self, bound, file):
        self._bound, self._file = bound, file

    def __getattr__(self, name):
        return getattr(self._bound, name)

    def prefetch(self, start, stop, control):
        asked.append(("prefetch", self._file, start, stop))

    def forget(self, start, stop):
        asked.append(("forget", self._file, start, stop))


_plain = QueryWorkload.bound


def bound(self, file):
    return _Bound(_plain(self, file), file)


def ahead(self, file):
    return 2000


def apply(set_attribute=setattr):
    set_attribute(QueryWorkload, "bound", bound)
    set_attribute(QueryWorkload, "ahead", ahead)
    set_attribute(task, "_ALONE", 0)  # as of a file on a server
