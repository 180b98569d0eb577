"""What stands against a release is named, and the version stands in one place."""

from importlib import metadata
from pathlib import Path

import pytest
import treemill as tm

from tools.release.ready import CARGO, CHANGES, findings, read, version

REPOSITORY = Path(__file__).parents[2]
READY = {
    CARGO: '[workspace.package]\nversion = "1.2.3"\n[workspace.dependencies]\nzstd = "1.2.3"\n',
    CHANGES: "## [Unreleased]\n\n## [1.2.3] - 2027-01-31\n\n## [1.2.2] - 2026-12-01\n",
    "docs/install.md": "pip install treemill\n",
    "packaging/conda/recipe.yaml": "version: 11.2.3\n",
}


def found(tags=None, changed="", **files):
    names = {"cargo": CARGO, "changes": CHANGES, "install": "docs/install.md"}
    names |= {
        "recipe": "packaging/conda/recipe.yaml",
        "fragment": "changes/+faster.changed.md",
    }
    texts = READY | {names[name]: text for name, text in files.items()}
    return [*findings(texts, tags or {}, "abc", changed)]


def test_nothing_stands_against_it():
    assert not found()
    assert not found(tags={"v1.2.3": "abc", "v1.2.2": "def"})


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"recipe": 'version: "1.2.3"'}, "packaging/conda/recipe.yaml"),
        ({"install": "treemill is **not on PyPI yet**."}, "docs/install.md"),
        ({"changes": "## [Unreleased]\n"}, CHANGES),
        ({"changes": "## [1.2.2] - 2026-12-01\n"}, CHANGES),
        ({"changes": "## [1.2.3]\n"}, CHANGES),
        ({"fragment": "It is faster."}, "changes/+faster.changed.md"),
        ({"tags": {"v1.2.3": "def"}}, "v1.2.3"),
        ({"changed": " M README.md"}, "README.md"),
    ],
)
def test_what_stands_against_it_is_named(wrong, named):
    (line,) = found(**wrong)
    assert named in line


def test_the_version_stands_in_one_place():
    files = read(REPOSITORY)
    assert {"python/treemill/__init__.py", "CITATION.cff", "packaging/conda/recipe.yaml"} <= set(
        files
    )
    lines = findings(files, {}, "", "")
    assert not [line for line in lines if "Cargo.toml alone" in line]


def test_the_package_says_the_version_that_was_installed():
    assert tm.__version__ == metadata.version("treemill")
    assert version((REPOSITORY / CARGO).read_text())
