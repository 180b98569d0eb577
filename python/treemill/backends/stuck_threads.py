"""Warns of threads that do not end, which Python cannot end either: each is named once, with the
place in the user's code where it is, and is left behind. Knows nothing of what the threads do.
"""

from __future__ import annotations

import sys
import threading
import traceback
import warnings
import weakref
from collections.abc import Iterable
from pathlib import Path

__all__ = ["leave_behind"]


def leave_behind(threads: Iterable[threading.Thread], workers: bool = True) -> None:
    """Warns once of each thread that has not ended. The process will not wait for it. If several
    callers name a thread at the same time, all of them return after the warning. `workers`: whether
    the threads are workers, which could be processes."""
    way_out = ' (mode="processes" can end its workers)' if workers else ""
    with _naming:
        for thread in threads:
            if thread.is_alive() and thread not in _left_behind:
                _left_behind.add(thread)
                warnings.warn(
                    f"thread {thread.name} is left behind: it is still {_place(thread)}, and "
                    f"Python cannot end a thread{way_out}",
                    RuntimeWarning,
                    stacklevel=2,
                )


_naming = threading.Lock()
_left_behind: weakref.WeakSet[threading.Thread] = weakref.WeakSet()


def _place(thread: threading.Thread) -> str:
    """The place where a thread is, in the user's code if possible."""
    frame = sys._current_frames().get(thread.ident or 0)
    if frame is None:
        return "at work"
    stack = traceback.extract_stack(frame)
    ours = str(Path(__file__).parents[1])
    theirs = [f for f in stack if not f.filename.startswith((ours, threading.__file__))] or stack
    return f"in {theirs[-1].name} ({theirs[-1].filename}:{theirs[-1].lineno})"
