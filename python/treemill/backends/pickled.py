"""Values of the user's in bytes, for other processes. Knows no transport."""

from __future__ import annotations

import pickle

from ..errors import QueryError

__all__ = ["pickled"]


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
