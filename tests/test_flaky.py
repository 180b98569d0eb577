"""The search for tests that fail by chance finds what there is to run and what failed; `make test`
counts both halves, and begins with the files that take long.
"""

import sys
from pathlib import Path
from types import SimpleNamespace

from tests.order_of_files import BEGIN_FIRST, HERE, ordered
from tools.flaky import Subject, failures, python_subjects, run, rust_subjects, search
from tools.run_tests import Count, count, summary

REPOSITORY = Path(__file__).parents[1]


def test_every_test_file_is_a_subject():
    found = {subject.name for subject in python_subjects(REPOSITORY)}
    assert {"tests/test_flaky.py", "tests/oracle/test_arrays.py"} <= found


def test_programs_of_tests_are_subjects():
    said = (
        '{"executable":"/t/debug/deps/faults-1","profile":{"test":true},'
        '"manifest_path":"/r/crates/treemill-http/Cargo.toml","target":{"name":"faults"}}\n'
        '{"executable":null,"profile":{"test":false},"target":{"name":"treemill_http"}}\n'
        "warning: a line of another kind\n"
    )
    (found,) = rust_subjects(said)
    assert found.name == "treemill-http/faults"
    assert found.folder == Path("/r/crates/treemill-http")


def test_what_failed_is_named():
    rust = "F.\n\nfailures:\n\n---- a::b stdout ----\n\nfailures:\n    a::b\n\ntest result: FAILED."
    assert failures(rust) == ["a::b"]
    assert failures("ERROR tests/test_a.py::test_b\n1 error in 1s") == ["tests/test_a.py::test_b"]
    assert failures("3 passed in 1s") == []


def test_a_subject_that_fails_at_every_other_run_is_found(tmp_path):
    # A chance that is certain: the file is there at every other run.
    program = (
        "import pathlib, sys; mark = pathlib.Path('mark'); there = mark.exists(); "
        "mark.unlink() if there else mark.touch(); sys.exit(there)"
    )
    subject = Subject("odd", (sys.executable, "-c", program), tmp_path)
    found = search([subject], times=4, processes=1)
    assert found["alone", "odd (exit status 1)"] == 2
    assert found["under load", "odd (exit status 1)"] == 2
    assert run(Subject("sound", (sys.executable, "-c", "pass"), tmp_path)) == []


def test_both_halves_are_counted():
    rust = count(
        [
            "test result: ok. 5 passed; 0 failed; 0 ignored; 0 measured",
            "test result: FAILED. 2 passed; 1 failed; 3 ignored; 0 measured",
        ]
    )
    assert rust == Count(passed=7, failed=1, skipped=3)
    python = count(
        ["=== 1 failed, 9 passed, 2 skipped, 1 error in 61.20s (0:01:01) ===", "=== FAILURES ==="]
    )
    assert python == Count(passed=9, failed=2, skipped=2)
    assert "exit status 101" in summary("Rust", Count(passed=3), 101)
    assert summary("Rust", rust, 101) == "Rust: 7 passed, 1 failed, 3 skipped"


def test_files_that_take_long_begin_first():
    assert [name for name in BEGIN_FIRST if not (HERE / name).exists()] == []
    one, two, three = HERE / "one.py", HERE / "two.py", HERE / BEGIN_FIRST[0]
    items = [SimpleNamespace(path=path) for path in (one, two, two, three)]
    assert [item.path for item in ordered(items)] == [three, two, two, one]
