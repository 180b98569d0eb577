"""What the dashboard took from the plotting library's package is unchanged, and has its licence."""

from hashlib import sha256
from importlib.resources import files

import pytest

# Of https://registry.npmjs.org/uplot/-/uplot-1.6.32.tgz
DIGESTS = {
    "uPlot.iife.min.js": "19c8d4c6ad88929a79f4ae49d6f7161566dfd0ba3d15cc495e974f787eb78f1f",
    "uPlot.min.css": "df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04",
    "uPlot.LICENSE": "8f989229699b4fe2f1a0432d0e9edc338a8a911e250e2d1b01ecd770a5f5b1bd",
}


@pytest.mark.parametrize("name", DIGESTS)
def test_the_file_is_that_of_the_package(name):
    text = (files("treemill.monitoring") / "page" / "vendor" / name).read_bytes()
    assert sha256(text).hexdigest() == DIGESTS[name]
