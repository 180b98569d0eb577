"""Decides which entries which worker processes next. Pure: events in, actions out, the time given
with each event; no clock, no thread, no I/O, nothing of the rest of treemill but its errors."""

from .events import (
    Action,
    Commit,
    Committed,
    Event,
    FileFailed,
    FileOpened,
    Finish,
    Halt,
    OpenFile,
    Packet,
    PacketDone,
    PacketFailed,
    Process,
    Stop,
    WorkerJoined,
    WorkerLost,
)
from .ledger import Coverage, Missing
from .packetizer import Packetizer
from .sizing import Sizing
from .state import FileSize, WorkerGone

__all__ = [
    "Action",
    "Commit",
    "Committed",
    "Coverage",
    "Event",
    "FileFailed",
    "FileOpened",
    "FileSize",
    "Finish",
    "Halt",
    "Missing",
    "OpenFile",
    "Packet",
    "PacketDone",
    "PacketFailed",
    "Packetizer",
    "Process",
    "Sizing",
    "Stop",
    "WorkerGone",
    "WorkerJoined",
    "WorkerLost",
]
