"""Whether treemill remembers, between rounds, what it has decompressed. Measurements are of reading
and decoding, so it does not, but in the forms that say so; nor does it keep what opening files on
servers reads. The one place that says it.
"""

import os

_VARIABLE = "TREEMILL_CACHE"
_METADATA = "TREEMILL_CACHE_METADATA_LIMIT"

VARIANT = "remembering"
"""Of rivals: treemill as a user has it."""

FACT = (
    f"what is read and decompressed in a round is not kept for the next ({_VARIABLE}=0), but where "
    "it is said"
)

LEGEND = """\
treemill as a user has it remembers what it has decompressed (`treemill.cache`): from the third run
on over the same columns it *neither reads nor decompresses*, it only decodes and evaluates. The run
that does not count and the first counted round are the first two. "Nothing remembered"
(`TREEMILL_CACHE=0`) reads and decompresses all in every round, as RDataFrame does, which has no
such memory.
"""


def off() -> None:
    """For this process, unless it has opened a file, and those that it starts."""
    os.environ[_VARIABLE] = os.environ[_METADATA] = "0"


def as_users_have_it() -> None:
    """For this process, before it opens a file: the limit is what it is without a word."""
    for name in (_VARIABLE, _METADATA):
        os.environ.pop(name, None)
