"""Places of one file that have other bytes of the same length, and the same ends: their checksums
tell, if servers or documents know them.
"""

import base64
import contextlib
import hashlib
import time
import warnings
import zlib

import pytest
import treemill as tm

from tests.remote.conftest import skip_without
from tests.remote.test_faults import PATIENCE, outcome
from tools.servers.nginx import Nginx
from tools.servers.xrootd import XRootD

PATH = "store/trees/events_2.root"
ENTRIES = 7321
DOCUMENT = """<?xml version="1.0" encoding="UTF-8"?>
<metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="events.root">
<hash type="adler32">{adler}</hash><url priority="1">{first}</url><url priority="2">{second}</url>
</file></metalink>"""

pytestmark = pytest.mark.usefixtures("nothing_remembered")


@pytest.fixture(scope="module")
def right(files):
    return files[PATH]


@pytest.fixture(scope="module")
def wrong(right, tmp_path_factory):
    """The same file, but for one bit far from its ends."""
    made = bytearray(right.read_bytes())
    made[len(made) // 2] ^= 1
    path = tmp_path_factory.mktemp("wrong") / right.name
    path.write_bytes(made)
    return path


def adler(path):
    return f"{zlib.adler32(path.read_bytes()):08x}"


def both_digests(path):
    md5 = base64.b64encode(hashlib.md5(path.read_bytes()).digest()).decode()
    return f"adler32={adler(path)},md5={md5}"


@contextlib.contextmanager
def nginx(source, digest):
    """A server that tells a checksum if it is asked for one."""
    skip_without(Nginx.missing())
    with Nginx(digests={PATH: digest}) as server:
        server.put(source, PATH)
        yield server


@contextlib.contextmanager
def xrootd(source):
    """A server that computes a checksum if it is asked for one."""
    skip_without(XRootD.missing())
    with XRootD(checksums=True) as server:
        server.put(source, PATH)
        yield server


def opened(*urls):
    """The tree of a file with replicas."""
    from treemill import _core

    return _core.File("/store/events_2.root", urls).tree("Events")


def read(tree):
    from treemill import _core

    (column,) = tree.read(["Jet_pt"], 0, ENTRIES, _core.Control())
    return column.dumps()


def expected(path):
    from treemill import _core

    return read(_core.File(str(path)).tree("Events"))


def warned(action):
    """What an action gives, and the first warning that comes within some seconds."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = action()
        until = time.monotonic() + PATIENCE
        while not caught and time.monotonic() < until:
            time.sleep(0.01)
    return found, [str(warning.message) for warning in caught]


def assert_refused(one, right, wrong, first, second):
    """The place with the wrong bytes is not read, and the messages name both."""
    tree, messages = warned(lambda: opened(first, second))
    assert len(messages) == 1, messages
    for named in (first, second, "events_2.root", "adler32", adler(right), adler(wrong)):
        assert named in messages[0]
    assert read(tree) == expected(right)
    one.kill()
    error = outcome(lambda: tree.read(["Muon_pt"], 0, ENTRIES, control()))
    assert isinstance(error, tm.SourceError), error
    for named in (first, second, adler(right), adler(wrong)):
        assert named in str(error)


def control():
    from treemill import _core

    return _core.Control()


def questions(server):
    return [line for line in server.requests() if " HEAD " in line]


def test_a_server_of_http_tells_that_it_has_other_bytes(right, wrong):
    with nginx(right, both_digests(right)) as one, nginx(wrong, both_digests(wrong)) as other:
        assert_refused(one, right, wrong, one.url(PATH), other.url(PATH))
        assert len(questions(one)) == len(questions(other)) == 1


def test_equal_checksums_are_read_however_they_are_written(right):
    short, md5 = f"ADLER32={adler(right).lstrip('0').upper()}", "MD5=ab"
    with (
        nginx(right, both_digests(right)) as one,
        nginx(right, f"{short},{md5}") as other,
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("error")
        tree = opened(one.url(PATH), other.url(PATH))
        until = time.monotonic() + PATIENCE
        while not questions(other) and time.monotonic() < until:
            time.sleep(0.01)
        assert read(tree) == expected(right)
        one.kill()
        assert outcome(lambda: read(tree)) == expected(right)


def test_a_file_of_one_place_is_not_asked_for_its_checksum(right):
    with nginx(right, both_digests(right)) as server:
        assert len(tm.dataset(server.url(PATH), tree="Events")) == ENTRIES
        assert not questions(server)


@pytest.mark.slow
@pytest.mark.parametrize("schemes", [("root", "root"), ("root", "http"), ("http", "http")])
def test_xrootd_is_asked_to_compute_checksums_if_that_is_wanted(right, wrong, schemes, monkeypatch):
    monkeypatch.setenv("TREEMILL_REPLICA_CHECKSUMS", "computed")
    with xrootd(right) as one, xrootd(wrong) as other:
        servers = zip((one, other), schemes, strict=True)
        urls = [it.url(PATH) if scheme == "root" else it.http_url(PATH) for it, scheme in servers]
        assert_refused(one, right, wrong, *urls)


def test_a_document_says_which_place_has_the_file(right, wrong, tmp_path):
    with nginx(wrong, both_digests(wrong)) as bad, nginx(right, both_digests(right)) as good:
        document = tmp_path / "events.root.meta4"

        def described(checksum):
            places = {"first": bad.url(PATH), "second": good.url(PATH)}
            document.write_text(DOCUMENT.format(adler=checksum, **places))
            return good.put(document, f"{checksum}.meta4")

        found = tm.dataset(described(adler(right)), tree="Events").sum("nJet").value
        assert found == tm.dataset(str(right), tree="Events").sum("nJet").value
        neither = described("1")
        error = outcome(lambda: len(tm.dataset(neither, tree="Events")))
    assert isinstance(error, tm.SourceError), error
    for named in (bad.url(PATH), good.url(PATH), neither, "adler32", adler(wrong), "00000001"):
        assert named in str(error)
