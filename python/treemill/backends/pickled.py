"""Values of the user's in bytes, for other processes. Knows no transport."""

from __future__ import annotations

import pickle

from ..errors import QueryError, TreemillError, WorkerError, traceback_of

__all__ = ["pickled", "portable"]

# Exceptions in a form that can be sent to another process. Knows errors only.


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
        traceback=traceback_of(error),
    )


def pickled(value: object, what: str) -> bytes:
    """A value in bytes. Raises QueryError if that cannot be; `what` names it."""
    import cloudpickle  # start-up

    try:
        data: bytes = cloudpickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
    except Exception as error:
        raise QueryError(
            f"{what} cannot be sent to other processes: {type(error).__name__}: {error}"
        ) from error
    return data
