"""How many cases random tests try. Knows no test."""

import os

from hypothesis import settings

SOAK = "TREEMILL_SOAK" in os.environ
"""Whether this is `make soak`, which looks for new cases with fresh seeds."""
_SHARE = 5 if os.environ.get("SLOW") else 10


def share(number: int) -> int:
    """A tenth of a number of cases; a fifth in `make test SLOW=1`; all of them in `make soak`."""
    return number if SOAK else -(-number // _SHARE)


def examples(number: int) -> settings:
    """The settings of a test that tries this many cases in `make soak`, and a share of them in
    `make test`, where they are the same ones each time."""
    return settings(max_examples=share(number))
