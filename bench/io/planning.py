"""What it takes to plan a packet of a distant file that needs 100,000 baskets, without any byte
(crates/treemill-read/examples/planning.rs): which ranges, in which order, and what is asked for
first. Uses no link.
"""

import argparse
import json
import subprocess
from collections.abc import Iterator

from ..measured import Row
from ..protocol import EXAMPLES
from . import goals
from .field import Field
from .findings import Findings

LEGEND = """\
planning: which baskets a packet needs of 1,000 branches with 100 baskets each, in which order, and
what is asked for first; the source is silent. All of it on one thread.
"""
_PROGRAM = EXAMPLES / "planning"
_BRANCHES, _BASKETS = 1000, 100


def measure(
    part: str, options: argparse.Namespace, place: Field, findings: Findings
) -> Iterator[Row]:
    """One line; `make bench-io` builds the program."""
    command = [str(_PROGRAM), *map(str, (_BRANCHES, _BASKETS, options.rounds))]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    told = json.loads(done.stdout)
    findings.files[part] = f"{told['wants']:,} baskets"
    milliseconds = tuple(1e3 * seconds for seconds in told["seconds"])
    yield Row(f"{part}: {told['wants']:,} baskets", milliseconds, "ms", **goals.PROMISED[part])
