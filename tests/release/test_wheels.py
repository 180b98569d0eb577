"""How wheels are joined and looked through, on made-up wheels, and the notices of others' code."""

import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tools.release import platforms
from tools.release.joining import contents, join, write
from tools.release.looking import findings
from tools.release.notices import crates, notices
from tools.release.platforms import PLATFORMS, buildable
from tools.release.trying import QUICK_TESTS

REPOSITORY = Path(__file__).parents[2]
INFO = "treemill-0.1.0.dist-info"
METADATA = b"""\
Metadata-Version: 2.4
Name: treemill
Version: 0.1.0
License-File: LICENSE
License-Expression: BSD-3-Clause
Requires-Python: >=3.11

Words: of the README.
"""
SOURCES = ["treemill/__init__.py", "treemill/_core.pyi"]


def wheel(core, **more):
    return {
        "treemill/__init__.py": b"answer = 42\n",
        "treemill/_core.pyi": b"",
        "treemill/_core.abi3.so": b"\x7fELF" + core,
        f"{INFO}/METADATA": METADATA,
        f"{INFO}/WHEEL": b"Wheel-Version: 1.0\n",
        f"{INFO}/entry_points.txt": b"",
        f"{INFO}/licenses/LICENSE": b"BSD",
        **more,
    }


BOTH = {"x86-64-v3": wheel(b"fast"), "x86-64": wheel(b"slow")}


def test_levels_are_joined():
    made = join(BOTH, "notices")
    assert made["treemill/_levels/x86-64-v3.abi3.so"].endswith(b"fast")
    assert made["treemill/_levels/x86-64.abi3.so"].endswith(b"slow")
    assert made[f"{INFO}/licenses/THIRD-PARTY.txt"] == b"notices"
    assert not list(findings(made, SOURCES, BOTH))


def test_one_level_keeps_its_name():
    made = join({None: wheel(b"only")}, "notices")
    assert "treemill/_core.abi3.so" in made
    assert not list(findings(made, SOURCES, []))


def test_levels_that_differ_elsewhere_are_refused():
    other = wheel(b"slow", **{"treemill/__init__.py": b"answer = 43\n"})
    with pytest.raises(ValueError, match=r"treemill/__init__.py differs between the levels"):
        join(BOTH | {"x86-64": other}, "")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"treemill/__init__.py": None}, "treemill/__init__.py is missing"),
        ({"treemill/notes.txt": b""}, "treemill/notes.txt is no part of the package"),
        ({"treemill/_core.abi3.so": b"\x7fELF"}, "treemill/_core.abi3.so is no part"),
        ({"treemill/_levels/x86-64.abi3.so": None}, "x86-64.abi3.so is missing"),
        ({"treemill/_levels/x86-64.abi3.so": b"text"}, "x86-64.abi3.so is no library"),
        (
            {"treemill/_levels/x86-64.abi3.so": b"\x7fELF at /home/me/.cargo/x.rs"},
            "names a folder of the machine that built it: /home/me",
        ),
        ({"tests/test_x.py": b""}, "tests/test_x.py should not be here"),
        ({f"{INFO}/licenses/THIRD-PARTY.txt": None}, "licenses/THIRD-PARTY.txt is missing"),
        ({f"{INFO}/METADATA": METADATA.replace(b"3.11", b"3.9")}, "Python >=3.9"),
    ],
)
def test_what_is_wrong_with_a_wheel_is_found(change, said):
    files = join(BOTH, "") | change
    found = findings({n: d for n, d in files.items() if d is not None}, SOURCES, BOTH)
    assert any(said in each for each in found)


def test_what_is_written_is_a_wheel(tmp_path):
    path = tmp_path / "dist" / "treemill-0.1.0-cp311-abi3-manylinux2014_x86_64.whl"
    made = join(BOTH, "notices")
    write(made, path)
    assert contents(path) == made
    record = zipfile.ZipFile(path).read(f"{INFO}/RECORD").decode().splitlines()
    assert len(record) == len(made) + 1
    target = tmp_path / "site"
    words = ["-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", str(target)]
    subprocess.run([sys.executable, *words, str(path)], check=True)
    assert (target / "treemill/_levels/x86-64.abi3.so").read_bytes().endswith(b"slow")
    first = path.read_bytes()
    write(made, path)
    assert path.read_bytes() == first, "the same files make the same wheel"


def test_platforms():
    rust = {"x86_64-unknown-linux-gnu"}
    linux = buildable("linux", rust)
    assert linux["linux-x86_64"] is None
    assert "rustup target add aarch64-unknown-linux-gnu" in linux["linux-aarch64"]
    assert "rustup target add aarch64-apple-darwin" in linux["macos-arm64"]
    mac = {"aarch64-apple-darwin"}
    assert buildable("linux", rust | mac)["macos-arm64"] is None
    assert buildable("darwin", rust | mac)["macos-arm64"] is None
    assert buildable("darwin", rust | mac)["linux-x86_64"] == "needs Linux"
    assert PLATFORMS["macos-arm64"].processor == "arm64"
    assert platforms.flags("x86-64", "/c") == "-Ctarget-cpu=x86-64 --remap-path-prefix=/c=/cargo"
    assert PLATFORMS["linux-aarch64"].levels == ()


def test_the_tests_that_a_wheel_is_tried_with_are_there():
    assert all((REPOSITORY / each).exists() for each in QUICK_TESTS)


@pytest.mark.skipif(shutil.which("cargo") is None, reason="cargo is not here")
def test_notices_have_the_licences_of_c_libraries():
    found = crates(REPOSITORY, "x86_64-unknown-linux-gnu")
    names = {package["name"] for package in found}
    assert {"zstd-sys", "libdeflate-sys", "liblzma-sys", "lz4-sys", "ring", "pyo3"} <= names
    assert not names & {"proptest", "cc", "thiserror-impl"}, "neither tests nor tools are in it"
    text = notices(found)
    assert "zstd/LICENSE" in text
    assert "GNU GENERAL PUBLIC LICENSE" not in text
    with pytest.raises(ValueError, match=r"x 1 names no licence"):
        notices([json.loads('{"name":"x","version":"1","license":null,"license_file":null}')])
