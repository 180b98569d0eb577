"""What treemill tells by Python's logger `treemill`: one line for each event, with named fields, as
words or as JSON. Without passwords, tokens and keys.
"""

from __future__ import annotations

import json
import logging
import time

from ..errors import without_credentials

__all__ = ["JsonFormatter", "tell"]

_FIELDS = "treemill"
"""The attribute of a record that has the event and its fields."""


def tell(log: logging.Logger, level: int, event: str, /, **fields: object) -> None:
    """Logs an event. The values of `fields` are shown as texts, numbers as they are."""
    if not log.isEnabledFor(level):
        return
    told = {
        name: value if isinstance(value, int | float) else without_credentials(str(value))
        for name, value in fields.items()
    }
    shown = ", ".join(f"{name} {value}" for name, value in told.items())
    log.log(level, "%s: %s", event, shown, extra={_FIELDS: {"event": event, **told}})


class JsonFormatter(logging.Formatter):
    """A line of JSON for each record: `time` (seconds since 1970), `level`, `logger`, and the event
    with its fields, or `message` for records that have none.

    >>> record = logging.makeLogRecord({"msg": "hello", "levelname": "INFO", "created": 1.5})
    >>> JsonFormatter().format(record)  # doctest: +ELLIPSIS
    '{"time": 1.5, "at": "1970-01-01T00:00:01Z", "level": "INFO", ...'
    """

    def format(self, record: logging.LogRecord) -> str:
        """See logging.Formatter."""
        line: dict[str, object] = {
            "time": record.created,
            "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(record.created)),
            "level": record.levelname,
            "logger": record.name,
        }
        line |= getattr(record, _FIELDS, None) or {
            "message": without_credentials(record.getMessage())
        }
        if record.exc_info:
            line["traceback"] = without_credentials(self.formatException(record.exc_info))
        return json.dumps(line, default=str)
