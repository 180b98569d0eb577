"""Keeps on disk what passes have committed. So an interrupted run resumes where it was: the record
and its bytes, whether a record is of the same run, and the folder that it lies in. And so later
runs need not compute again what was computed: results by what they are of, and totals of them.

Knows no task, no partial and no worker: a partial is bytes, and what a run is of is digests by
name.
"""

from .digest import by_attribute, digest, evaluator, versions
from .folder import Checkpoint, Fingerprint, Folder, Pace, PassRecord, Wanted

__all__ = [
    "Checkpoint",
    "Fingerprint",
    "Folder",
    "Pace",
    "PassRecord",
    "Wanted",
    "by_attribute",
    "digest",
    "evaluator",
    "versions",
]
