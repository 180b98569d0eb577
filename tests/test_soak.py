"""The random search finds the random tests by itself, and counts what it tries."""

import subprocess
import sys

from tools.soak import EXAMPLES, REPOSITORY, cases_of, python_tests, rust_cases, rust_command


def test_it_takes_the_files_with_random_tests():
    found = python_tests(REPOSITORY)
    assert "tests/python/language/test_language.py" in found
    assert "tests/oracle/test_arrays.py" in found
    assert "tests/test_soak.py" not in found


def test_cases_are_counted():
    text = """
proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, ..ProptestConfig::default() })]

    #[test]
    fn one(a: u8) {}

    #[test]
    fn two(a: u8) {}
}

proptest! {
    #[test]
    fn three(a: u8) {}
}
"""
    assert cases_of(text) == 2256
    assert cases_of("fn none() {}") == 0
    assert (
        cases_of("mod tests {\n    proptest! {\n        #[test]\n        fn one() {}\n    }\n}\n")
        == 256
    )
    found = rust_cases(REPOSITORY)
    assert found["treemill-query"] > 2000
    assert {"treemill-nfs", "treemill-read", "treemill-http", "treemill-functions"} <= found.keys()
    assert rust_command(["a", "b"])[-4:] == ["-p", "a", "-p", "b"]
    said = "  - 100 passing examples, 0 failing examples, 3 invalid"
    assert EXAMPLES.findall(said) == [("100", "0")]


def test_examples_are_counted_as_the_installed_hypothesis_says_them(tmp_path):
    path = tmp_path / "test_one.py"
    path.write_text(
        "from hypothesis import given, settings, strategies as st\n"
        "@settings(max_examples=7, database=None)\n"
        "@given(st.integers())\n"
        "def test_one(number):\n    pass\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "--hypothesis-show-statistics", str(path)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert EXAMPLES.findall(done.stdout) == [("7", "0")]
