"""Every branch of every file of the corpus: what treemill reads equals what uproot reads, and what
it does not read it says so.
"""

from collections import Counter
from functools import cache

import pytest
from treemill.errors import FormatError

from .compare import Outcome, Verdict, compare_file
from .conftest import CORPUS

FILES = sorted(path.name for path in CORPUS.glob("*.root"))
pytestmark = pytest.mark.skipif(not FILES, reason=f"no corpus at {CORPUS}")

# Fewer equal branches than this means that something is no longer read, or no longer compared.
EQUAL_AT_LEAST = 1

# (file, branch) -> why uproot's answer is not the right one there.
UPROOT_IS_WRONG: dict[tuple[str, str], str] = {}

# Files in which something is damaged, and that cannot be opened.
DAMAGED: dict[str, str] = {}


@cache
def outcomes(name: str) -> tuple[Outcome, ...]:
    return tuple(compare_file(CORPUS / name))


@pytest.mark.parametrize("name", FILES)
def test_equals_uproot(name):
    if name in DAMAGED:
        with pytest.raises(FormatError):
            outcomes(name)
        return
    wrong = [
        str(o)
        for o in outcomes(name)
        if o.verdict in (Verdict.DIFFERENT, Verdict.REFUSED, Verdict.BROKEN_PROMISE)
        and (name, o.branch) not in UPROOT_IS_WRONG
    ]
    assert not wrong, "\n".join(wrong)


def test_coverage_does_not_fall():
    verdicts = Counter(o.verdict for name in FILES if name not in DAMAGED for o in outcomes(name))
    assert verdicts[Verdict.EQUAL] >= EQUAL_AT_LEAST, verdicts
