"""What a worker process does at one moment: a line for each of its threads, with the place in the
code, and the bytes that its mergers hold. For `treemill cluster dump`.
"""

from __future__ import annotations

import sys
import threading
import time
import traceback
from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Protocol

from ...frozen import frozen
from ...scheduling import Commit, OpenFile, Order, Process, ProcessFiles

__all__ = ["DoingThread", "ProcessActivity", "ThreadActivity", "activity", "words"]

_DEEPEST = 30
"""Calls of a stack that are told: the innermost ones."""
_OUTERMOST = ("/threading.py", "/pass_workers.py")
"""The ends of files whose calls are in all stacks, and say nothing."""


@frozen
class ThreadActivity:
    """What one worker does."""

    work: str
    worker: int
    doing: str
    seconds: float
    """Since when."""
    stack: tuple[str, ...] = ()
    """The calls that its thread is in, the outermost first."""


@frozen
class ProcessActivity:
    """What a process does."""

    address: str
    threads: tuple[ThreadActivity, ...] = ()
    held: Mapping[str, int] = field(default_factory=dict)
    """The bytes that its mergers hold, by pass."""
    silent: str | None = None
    """Why nothing is known of it."""


@frozen
class DoingThread:
    """A thread's order, and when it got it."""

    order: Order | None
    since: float
    thread: int


class _Pass(Protocol):
    name: str

    def doing(self) -> Mapping[int, DoingThread]:
        """What each worker does."""

    def held(self) -> int:
        """The bytes that the mergers hold."""


def words(order: Order | None) -> str:
    """An order in a few words.

    >>> words(None), words(ProcessFiles(0, (1, 2), 10, 1.0)), words(Commit(0, 1))
    ('waits for a packet', 'processes 2 files', 'hands over what it has done')
    """
    if isinstance(order, Process):
        packet = order.packet
        return f"processes entries {packet.start}..{packet.stop} of file {packet.file}"
    if isinstance(order, ProcessFiles):
        return f"processes {len(order.files)} files"
    if isinstance(order, OpenFile):
        return f"opens file {order.file}"
    if isinstance(order, Commit):
        return "hands over what it has done"
    return "waits for a packet" if order is None else type(order).__name__


def activity(address: str, passes: Iterable[_Pass], held: bool) -> ProcessActivity:
    """What this process does for these passes. `held`: count the bytes that mergers hold, for which
    these are written to memory once."""
    now, frames = time.monotonic(), sys._current_frames()
    here, threads, sizes = threading.get_ident(), [], {}
    for each in passes:
        for number, doing in sorted(each.doing().items()):
            frame = frames.get(doing.thread) if doing.thread != here else None
            stack = traceback.extract_stack(frame, limit=None) if frame is not None else []
            inner = [call for call in stack if not call.filename.endswith(_OUTERMOST)]
            calls = tuple(f"{c.name} ({c.filename}:{c.lineno})" for c in inner[-_DEEPEST:])
            told = (words(doing.order), now - doing.since, calls)
            threads.append(ThreadActivity(each.name, number, *told))
        if held:
            sizes[each.name] = each.held()
    return ProcessActivity(address, tuple(threads), sizes)
