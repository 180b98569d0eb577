"""Decides which entries which worker processes next. Pure: events in, actions out, the time given
with each event; no clock, no thread, no I/O, nothing of the rest of treemill but its errors."""

from .events import (
    Action,
    Commit,
    Committed,
    Discard,
    Discarded,
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
    Tick,
    WorkerJoined,
    WorkerLost,
)
from .ledger import Coverage, Missing
from .nodes import node_of
from .packetizer import Packetizer
from .sizing import CLUSTER, Sizing
from .state import FileSize, WorkerGone

__all__ = [
    "CLUSTER",
    "Action",
    "Commit",
    "Committed",
    "Coverage",
    "Discard",
    "Discarded",
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
    "Tick",
    "WorkerGone",
    "WorkerJoined",
    "WorkerLost",
    "node_of",
]
