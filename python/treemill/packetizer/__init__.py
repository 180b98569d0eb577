"""Decides which worker processes which entries next. Pure: events in, actions out, with the time
given by the caller. Has no clock, no thread and no I/O; knows nothing of the rest of treemill."""

from .entities import FileSize, WorkerGone
from .events import (
    Action,
    Collect,
    Collected,
    Commit,
    Committed,
    Discard,
    Discarded,
    Event,
    FileFailed,
    FileOpened,
    Finish,
    Halt,
    MergerJoined,
    MergerLost,
    OpenFile,
    Order,
    Packet,
    PacketDone,
    PacketFailed,
    Process,
    Refuse,
    Refused,
    Stop,
    Tick,
    WorkerJoined,
    WorkerLost,
)
from .ledger import Coverage, Missing
from .nodes import node_of
from .packetizer import Packetizer
from .policy import Policy
from .sizing import CLUSTER, Sizing
from .timeline import Span, Timeline
from .trace import Record, Trace

__all__ = [
    "CLUSTER",
    "Action",
    "Collect",
    "Collected",
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
    "MergerJoined",
    "MergerLost",
    "Missing",
    "OpenFile",
    "Order",
    "Packet",
    "PacketDone",
    "PacketFailed",
    "Packetizer",
    "Policy",
    "Process",
    "Record",
    "Refuse",
    "Refused",
    "Sizing",
    "Span",
    "Stop",
    "Tick",
    "Timeline",
    "Trace",
    "WorkerGone",
    "WorkerJoined",
    "WorkerLost",
    "node_of",
]
