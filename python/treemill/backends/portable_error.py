"""Exceptions in a form that can be sent to another process. Knows errors only."""

from __future__ import annotations

import pickle
import traceback

from ..errors import TreemillError, WorkerError

__all__ = ["portable"]


def portable(error: BaseException, words: str, worker: str | None = None) -> BaseException:
    """The error itself, if it is treemill's or the system's and can be pickled. Else a WorkerError
    that begins with `words` and has the traceback as text."""
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
