"""Every branch of every file of the corpus: what treemill reads equals what uproot reads, and what
it does not read it says so.
"""

import os
from collections import Counter
from pathlib import Path

import pytest
import treemill._core as core

from tests.corpus_files import CORPUS, FILES, with_slow_ones
from tools.compare_readers import compare, equal_of
from tools.readers import known
from tools.readers.compare import Outcome, Verdict, read

from .dumped import columns, load

pytestmark = [
    pytest.mark.skipif(not FILES, reason=f"no corpus at {CORPUS}"),
    pytest.mark.usefixtures("bounded_memory"),
]

# Fewer than this means that something is no longer read, or no longer compared.
EQUAL_TO_UPROOT_AT_LEAST = 28_500
EQUAL_TO_ROOT_AT_LEAST = 5_700

RIGHT = {
    *(Verdict.EQUAL, Verdict.GROUP, Verdict.COUNTS, Verdict.UNSUPPORTED, Verdict.UNCHECKED),
    *(Verdict.SHORT, Verdict.BOTH_REFUSE),
}


PATIENCE = 300.0
"""Seconds that treemill may take for a branch: on a busy machine, too."""


def wanted_files(request: pytest.FixtureRequest) -> list[Path]:
    """Files of the tests that a fixture is for. A test of no file by itself is of all."""
    chosen = {
        item.callspec.params.get("name") if hasattr(item, "callspec") else None
        for item in request.session.items
        if item.path == request.path and request.fixturename in item.fixturenames
    }
    return [CORPUS / name for name in FILES if None in chosen or name in chosen]


@pytest.fixture(scope="module")
def outcomes(request: pytest.FixtureRequest) -> dict[str, list[Outcome]]:
    """By file, as `make compare` finds them: in processes of their own."""
    found = compare(wanted_files(request), PATIENCE, jobs=os.cpu_count() or 1)
    return {path.name: some for path, some in found.items()}


def is_right(outcome: Outcome) -> bool:
    return outcome.verdict in RIGHT or known.why(outcome) is not None


@pytest.mark.parametrize("name", with_slow_ones(FILES))
def test_equals_uproot(name, outcomes):
    wrong = [str(o) for o in outcomes[name] if not is_right(o)]
    assert not wrong, "\n".join(wrong)


@pytest.fixture(scope="module")
def dumps(request, root_program, tmp_path_factory):
    """What ROOT reads of the corpus. Some of the files end ROOT itself; it is started again."""
    folder = tmp_path_factory.mktemp("dumps")
    for _ in range(20):
        if root_program("dump.py", folder, *wanted_files(request), check=False) == 0:
            return folder
    raise AssertionError(f"ROOT fails at {sorted(p.stem for p in folder.glob('*.part'))}")


def equal_to_root(name, dumps):
    """Numbers of columns equal and the others, by what is wrong."""
    equal, wrong = 0, []
    file = core.File(str(CORPUS / name))
    for tree, expected in load(dumps / name.replace(".root", ".dump")).items():
        ours = file.tree(tree)
        names = {name for b in ours.branches() for name in (b["name"], *b["also"])}
        for branch in dict.fromkeys(key.split("/")[0] for key in expected):
            if branch not in names:
                continue
            for key, column in columns(branch, read(ours, branch)).items():
                found = column.difference(expected[key])
                equal += found is None
                wrong += [] if found is None else [f"{tree} {key}: {found}"]
    return equal, wrong


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_equals_root(name, dumps):
    if not (dumps / name.replace(".root", ".dump")).exists():
        pytest.skip("ROOT itself cannot read it to the end")
    _, wrong = equal_to_root(name, dumps)
    assert not wrong, "\n".join(wrong)


@pytest.mark.slow
def test_coverage_does_not_fall(outcomes):
    verdicts = Counter(o.verdict for some in outcomes.values() for o in some)
    assert verdicts[Verdict.EQUAL] >= EQUAL_TO_UPROOT_AT_LEAST, verdicts


@pytest.mark.slow
@pytest.mark.parametrize(("is_fast", "least"), [(True, 0.99), (False, 0.95)], ids=["fast", "all"])
def test_the_core_alone_reads_what_uproot_reads(is_fast, least, outcomes):
    """The goal: of the branches that uproot reads as AsDtype, AsJagged, AsStrings or
    AsStridedObjects, and of all that it reads."""
    equal, read = equal_of((o for some in outcomes.values() for o in some), is_fast)
    assert read > 10_000
    assert equal >= least * read, f"{equal} of {read}"


@pytest.mark.slow
def test_coverage_beside_root_does_not_fall(dumps):
    read = [p.stem + ".root" for p in dumps.glob("*.dump")]
    assert sum(equal_to_root(name, dumps)[0] for name in read) >= EQUAL_TO_ROOT_AT_LEAST
