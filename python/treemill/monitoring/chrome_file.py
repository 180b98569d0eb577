"""Writes a trace as the JSON that Perfetto (ui.perfetto.dev) and Chrome (chrome://tracing) show: a
process for each host, a thread for each worker. Reads it again, from the arguments of its events.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any, TypeAlias

from .recorded import About, Recorded, Row, of_columns

Json: TypeAlias = dict[str, Any]

__all__ = ["read", "write"]

_CATEGORY = "treemill"
_NONE = Row(0.0, "")
_NEAR = "this machine"
_MASTER = 0
"""The thread of what is no worker's."""
_NAMED = ("packet", "packet failed", "file opened", "file failed", "bound", "read")
"""Events that are shown with their file's name."""


def write(path: str, recorded: Recorded) -> None:
    """Writes the file, an event a line."""
    with open(path, "w", encoding="utf-8") as file:
        file.write('{"displayTimeUnit": "ms",\n"otherData": ')
        json.dump({"treemill": recorded.about.to_json()}, file)
        file.write(',\n"traceEvents": [')
        for number, event in enumerate(_events(recorded)):
            file.write(",\n" if number else "\n")
            json.dump(event, file)
        file.write("\n]}\n")


def _events(recorded: Recorded) -> Iterator[Json]:
    hosts: dict[str, int] = {}
    threads: set[tuple[int, int]] = set()
    for number, row in enumerate(recorded.rows):
        host = row.host or "workers"
        if host not in hosts:
            hosts[host] = len(hosts) + 1
            yield _name("process_name", hosts[host], _MASTER, host)
        process, thread = hosts[host], row.worker + 1
        if (process, thread) not in threads:
            threads.add((process, thread))
            name = f"worker {row.worker}" if row.worker >= 0 else "master"
            yield _name("thread_name", process, thread, name)
        event = _event(row, process, thread)
        if row.event == "read" and event["ph"] == "X" and row.source != _NEAR:
            yield from _beside(event, number)
        else:
            yield event


def _name(what: str, process: int, thread: int, name: str) -> Json:
    return {"ph": "M", "name": what, "pid": process, "tid": thread, "args": {"name": name}}


def _event(row: Row, process: int, thread: int) -> Json:
    values = zip(Row._fields, row, _NONE, strict=True)
    arguments = {name: value for name, value, none in values if value != none}
    name = row.event
    if row.event in _NAMED:
        name = f"{row.event} {PurePosixPath(row.file).name}"
    event = {"name": name, "cat": _CATEGORY, "pid": process, "tid": thread, "args": arguments}
    if row.seconds > 0:
        began = max(row.time - row.seconds, 0.0)
        return event | {"ph": "X", "ts": began * 1e6, "dur": row.seconds * 1e6}
    return event | {"ph": "i", "ts": row.time * 1e6, "s": "t"}


def _beside(event: Json, number: int) -> Iterator[Json]:
    """Reads of servers run in parallel with the worker's other steps, and with one another."""
    end = event["ts"] + event.pop("dur")
    yield event | {"ph": "b", "id": number}
    yield {key: event[key] for key in ("name", "cat", "pid", "tid")} | {
        "ph": "e",
        "id": number,
        "ts": end,
    }


def read(path: str) -> Recorded:
    """Reads a file that `write` has written. Raises ValueError for another one."""
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    if not isinstance(document, dict) or "treemill" not in document.get("otherData", {}):
        raise ValueError("it is no trace of a query")
    about = About.of_json(document["otherData"]["treemill"])
    events = [
        each["args"]
        for each in document["traceEvents"]
        if each.get("cat") == _CATEGORY and "args" in each
    ]
    columns = {
        name: [each.get(name, none) for each in events]
        for name, none in zip(Row._fields, _NONE, strict=True)
    }
    return of_columns(columns, about)
