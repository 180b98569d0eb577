"""Waiting for what becomes true by itself, with an end. Knows nothing of what is waited for."""

import time

SECONDS = 60


def until(true, what, seconds=SECONDS):
    """Waits until `true()` holds."""
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, f"waited in vain for: {what}"
        time.sleep(0.02)
