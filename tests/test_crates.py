"""The crates depend on one another one way only: cargo's own graph against the architecture's."""

import json
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from tests.crate_modules import circle, folders, graph

REPOSITORY = Path(__file__).parents[1]

ALLOWED = {
    "treemill-format": set(),
    "treemill-source": set(),
    "treemill-xrootd": {
        "treemill-source",
        "treemill-transfer",  # its connections
    },  # a client of one protocol; it knows no file format
    "treemill-transfer": {"treemill-source"},  # ranges in flight; it knows no protocol
    "treemill-http": {"treemill-source", "treemill-transfer"},
    "treemill-nfs": {"treemill-source", "treemill-transfer"},
    "treemill-dcap": {"treemill-source", "treemill-transfer"},  # a client of one protocol
    "treemill-names": set(),  # how far two names are apart
    "treemill-query": {"treemill-names"},
    # documents and models to values; it knows no file, no expression
    "treemill-functions": {"treemill-native"},
    "treemill-native": set(),  # all `unsafe` of what users run
    "treemill-read": {
        "treemill-format",
        "treemill-names",
        "treemill-native",
        "treemill-source",
    },
    "treemill-engine": {
        "treemill-format",
        "treemill-source",  # what reading costs decides what is asked for
        "treemill-read",
        "treemill-query",
        "treemill-functions",  # that expressions call
    },
    # addresses and paths to transports
    "treemill-remote": {
        "treemill-source",
        "treemill-transfer",  # its threads
        "treemill-dcap",
        "treemill-http",
        "treemill-nfs",
        "treemill-xrootd",
    },
    "treemill-testing": {"treemill-source"},  # what the other crates' tests measure with
    "treemill-py": {
        "treemill-source",
        "treemill-transfer",  # its threads
        "treemill-remote",
        "treemill-read",
        "treemill-query",
        "treemill-functions",
        "treemill-native",
        "treemill-engine",
    },
}

# Crates with lints of their own, because they take `unsafe`.
UNSAFE = {
    "treemill-native",
    "treemill-py",  # one call: only Python knows which code it has compiled
    "treemill-testing",
}

# What a crate that must stay pure may not even have in its dependencies.
NO_IO = {"tokio", "reqwest", "rayon", "object_store", "pyo3", "libc", "mio"}


@pytest.fixture(scope="module")
def packages():
    if shutil.which("cargo") is None:
        pytest.skip("cargo is not here")
    command = ["cargo", "metadata", "--no-deps", "--format-version=1", "--locked"]
    said = subprocess.run(command, cwd=REPOSITORY, capture_output=True, check=True, text=True)
    return {package["name"]: package for package in json.loads(said.stdout)["packages"]}


def test_every_crate_is_known(packages):
    assert set(packages) == set(ALLOWED)


@pytest.mark.parametrize("name", ALLOWED)
def test_dependencies_go_one_way(packages, name):
    needs = {d["name"] for d in packages[name]["dependencies"] if d["kind"] != "dev"}
    assert {d for d in needs if d.startswith("treemill-")} <= ALLOWED[name]
    if name in ("treemill-format", "treemill-query", "treemill-engine"):
        assert not needs & NO_IO


def test_testing_is_for_tests_only(packages):
    for package in packages.values():
        needed = {d["name"] for d in package["dependencies"] if d["kind"] != "dev"}
        assert "treemill-testing" not in needed


@pytest.mark.parametrize(
    "name",
    [
        "treemill-format",
        "treemill-functions",
        "treemill-read",
        "treemill-query",
        "treemill-engine",
        "treemill-xrootd",
        "treemill-transfer",
        "treemill-http",
        "treemill-nfs",
    ],
)
def test_parsing_crates_forbid_unsafe(packages, name):
    root = Path(packages[name]["manifest_path"]).parent / "src" / "lib.rs"
    assert "#![forbid(unsafe_code)]" in root.read_text()


@pytest.mark.parametrize("name", sorted(set(ALLOWED) - UNSAFE))
def test_crates_take_the_workspaces_lints(packages, name):
    manifest = tomllib.loads(Path(packages[name]["manifest_path"]).read_text())
    assert manifest["lints"] == {"workspace": True}


# Modules that call one another because what they are about contains itself, by crate and folder.
RECURSIONS = {
    ("treemill-format", "interpret"): {"builtin", "class", "clones", "cpp", "pointers"},  # types
    ("treemill-nfs", "wire"): {"layout", "report"},  # a layout's type, in reports about layouts
    ("treemill-read", "decode"): {  # values
        "bytes",
        "clones",
        "column",
        "lists",
        "object",
        "packer",
        "pointer",
        "shared",
        "size",
        "steps",
        "stride",
        "text",
        "walk",
    },
}


def test_circles_are_found():
    assert circle({"a": {"b"}, "b": {"c"}, "c": set()}) == []
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set()}) == ["b", "c"]


@pytest.mark.parametrize("name", sorted(ALLOWED))
def test_modules_of_a_crate_use_one_another_one_way(packages, name):
    source = Path(packages[name]["manifest_path"]).parent / "src"
    wrong = {}
    for folder in folders(source):
        uses = graph(source, folder)
        left = set(circle(uses)) - RECURSIONS.get((name, *folder), set())
        if left:
            wrong[folder] = {module: sorted(uses[module] & left) for module in sorted(left)}
    assert not wrong
