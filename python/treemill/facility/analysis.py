"""`python -m treemill.facility.analysis`: a program that is one job of an endurance run, an
analysis as a user's script has it. It takes what is booked as JSON on its standard input and tells
what came of it as readers do."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from ..errors import TreemillError
from .reader_pool import ReaderReport, cause
from .storage.reading import ReaderOutcome

__all__ = ["run"]


def run(files: Sequence[tuple[str, str]], hist: Sequence[str], filter: str | None) -> ReaderReport:  # noqa: A002 - the word of the file of jobs
    """Fills the histograms of the files' events, on one core."""
    from ..dataset import dataset  # start-up
    from ..session.api import connect  # start-up

    began = time.monotonic()
    paths = [path for path, _ in files]
    try:
        events = dataset(dict(files))
        chosen = events if filter is None else events.filter(filter)
        bookings = [chosen.hist(each, bins=100) for each in hist]
        with connect(workers=1, mode="threads") as session:
            session.run(bookings, progress=False)
            report: Any = session.report
    except TreemillError as error:
        return ReaderReport(
            [ReaderOutcome(time.monotonic() - began, errors={cause(error, *paths): 1})]
        )
    io = report.io
    missing = {cause(OSError(each.reason), *paths): 1 for each in report.missing[:1]}
    outcome = ReaderOutcome(
        time.monotonic() - began,
        io.bytes_wanted or io.bytes_read,
        report.entries,
        len(files),
        missing,
    )
    asked = sum(each.bytes_read for each in io.sources) or io.bytes_read
    return ReaderReport([outcome], asked, io.requests, time.process_time())


if __name__ == "__main__":
    given: Mapping[str, Any] = json.load(sys.stdin)
    files = [tuple(each) for each in given["files"]]
    json.dump(asdict(run(files, given["hist"], given["filter"])), sys.stdout)
