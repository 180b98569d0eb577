"""The door that tests of dCap read from, against the clients that people have: Debian's `dccp` and
libdcap.
"""

import ctypes
import ctypes.util
import random
import shutil
import socket
import subprocess

import pytest

from tests.remote.dcap_door import BLOCK, DcapDoor

SIZE = 3 * BLOCK + 12345


@pytest.fixture(scope="module")
def content():
    return random.Random(20).randbytes(SIZE)


def low_port():
    """A free port below 32768: libdcap takes larger ones for negative numbers."""
    for port in range(22125, 32768):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    pytest.skip("there is no free port that libdcap takes")


@pytest.fixture(scope="module")
def door(content, tmp_path_factory):
    folder = tmp_path_factory.mktemp("door")
    (folder / "pnfs").mkdir()
    (folder / "pnfs/file.bin").write_bytes(content)
    with DcapDoor(folder, port=low_port()) as made:
        yield made


def dccp(*arguments):
    if shutil.which("dccp") is None:
        pytest.skip("dccp is not here: apt-get install dcap")
    return subprocess.run(["dccp", "-A", *arguments], capture_output=True, text=True, timeout=60)


def test_dccp_copies_a_file(door, content, tmp_path):
    done = dccp(door.url("pnfs/file.bin"), str(tmp_path / "copy"))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "copy").read_bytes() == content


def test_dccp_understands_the_doors_errors(door, tmp_path):
    done = dccp(door.url("pnfs/none"), str(tmp_path / "copy"))
    assert done.returncode != 0
    assert "No such file or directory" in done.stderr


class Range(ctypes.Structure):
    """What `dc_readv2` takes."""

    _fields_ = [("offset", ctypes.c_int64), ("length", ctypes.c_int), ("target", ctypes.c_void_p)]


def test_libdcap_reads_vectors_and_seeks(door, content):
    try:
        library = ctypes.CDLL("libdcap.so.1")
    except OSError:
        pytest.skip("libdcap is not here: apt-get install libdcap1")
    library.dc_setClientActive()
    library.dc_lseek64.argtypes = [ctypes.c_int, ctypes.c_int64, ctypes.c_int]
    library.dc_lseek64.restype = ctypes.c_int64
    file = library.dc_open(door.url("pnfs/file.bin").encode(), 0)
    assert file >= 0
    wanted = [(7, 100), (SIZE - 3, 3), (BLOCK - 9, BLOCK + 20), (0, 1)]
    targets = [ctypes.create_string_buffer(length) for _, length in wanted]
    places = [ctypes.addressof(target) for target in targets]
    ranges = [Range(*want, place) for want, place in zip(wanted, places, strict=True)]
    ranges = (Range * len(ranges))(*ranges)
    assert library.dc_readv2(file, ranges, len(wanted)) == 0
    for (offset, length), target in zip(wanted, targets, strict=True):
        assert target.raw == content[offset : offset + length]
    assert library.dc_lseek64(file, -1000, 2) == SIZE - 1000
    target = ctypes.create_string_buffer(2000)
    assert library.dc_read(file, target, 2000) == 1000
    assert target.raw[:1000] == content[-1000:]
    assert library.dc_close(file) == 0
    assert (door.counts.vectors, door.counts.ranges) == (1, len(wanted))
