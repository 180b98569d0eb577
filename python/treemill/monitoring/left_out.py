"""The warning that a run with `on_error="skip"` has left something out of its result."""

from __future__ import annotations

import warnings

from ..errors import outside
from .report import Report

__all__ = ["IncompleteWarning", "warn"]

_SHOWN = 5


class IncompleteWarning(UserWarning):
    """The result of a run is not of all entries, because the run leaves out what fails
    (`on_error="skip"`). Files that lack a branch are left out, too."""

    def __init__(self, message: str, report: Report | None = None) -> None:
        super().__init__(message)
        self.report = report
        """The report of the run: `report.missing` names all that is missing, and why."""


def warn(report: Report) -> None:
    """Warns of what is missing, at the line of the user's that has called treemill."""
    if report.missing:
        warnings.warn(IncompleteWarning(_words(report), report), stacklevel=outside())


def _words(report: Report) -> str:
    missing = report.missing
    files = dict.fromkeys(each.file for each in missing)
    known = sum(each.stop - each.start for each in missing if each.stop is not None)
    counted = f"{known:,} entries" if known else ""
    unopened = {each.file for each in missing if each.stop is None}
    if unopened:
        whole = f"all of {_files(len(unopened))}"
        counted = f"{counted} and {whole}" if counted else whole
    shown = [str(each) for each in missing[:_SHOWN]]
    more = len(missing) - len(shown)
    shown += [f"and {more:,} more, which the report names"] if more else []
    return (
        f'on_error="skip" left out {counted}, in {len(files):,} of '
        f"{_files(len({*report.processed, *files}))}: {_joined(shown)}"
    )


def _files(number: int) -> str:
    return "1 file" if number == 1 else f"{number:,} files"


def _joined(parts: list[str]) -> str:
    return "; ".join(part.rstrip(".") for part in parts)
