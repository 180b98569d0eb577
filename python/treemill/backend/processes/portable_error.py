"""Exceptions as they travel between processes."""

from __future__ import annotations

import pickle
import traceback

from ...errors import TreemillError, WorkerError

__all__ = ["portable"]


def portable(error: BaseException, words: str, worker: str | None = None) -> BaseException:
    """The error itself where it is one of ours, or can be sent and is the data's fault; else one of
    ours with its traceback as text."""
    if isinstance(error, (TreemillError, OSError)):
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:
            pass
        else:
            return error
    return WorkerError(
        f"{words}: {type(error).__name__}: {error}",
        worker=worker,
        traceback="".join(traceback.format_exception(error)),
    )
