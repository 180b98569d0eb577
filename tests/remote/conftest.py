"""Real servers with the same small files, and what is in the files. A test of a server that cannot
be started here is skipped and says why.
"""

import contextlib
import shutil
import time

import pytest

from tests.corpus_files import corpus
from tests.remote.dcap_door import DcapDoor
from tools.link.link import Link
from tools.link.link import missing as link_missing
from tools.servers import certificates
from tools.servers.ftp import FTP
from tools.servers.ganesha import Ganesha
from tools.servers.nginx import Nginx
from tools.servers.s3 import S3
from tools.servers.xrootd import Federation, XRootD

TOKEN = "eyJhbGciOiJub25lIn0.a-secret-of-the-user.x"
NTUPLE = "ntpl001_staff_rntuple_v1-0-1-0.root"
TINY = "test_split_3e4_rntuple_v1-0-0-0.root"
"""Of the corpus, written by ROOT. The second is shorter than the first request for a file."""


def skip_without(reason):
    if reason is not None:
        pytest.skip(reason)


@pytest.fixture(scope="session")
def core():
    return pytest.importorskip("treemill._core", reason="the native core is not built")


@pytest.fixture(scope="session")
def files(core, tmp_path_factory):
    """Trees of different sizes and an RNTuple, by the path that they have on each server."""
    from treemill.facility.generate import write

    folder = tmp_path_factory.mktemp("files")
    made = {f"store/trees/events_{i}.root": folder / f"events_{i}.root" for i in range(3)}
    for i, (path, events) in enumerate(zip(made.values(), (5000, 1, 7321), strict=True)):
        write(path, events=events, index=i, cluster=1000, codec="zstd")
    for name, original in (("staff", NTUPLE), ("tiny", TINY)):
        made[f"store/ntuples/{name}.root"] = folder / f"{name}.root"
        shutil.copyfile(corpus(original), folder / f"{name}.root")
    return made


@pytest.fixture(scope="session", autouse=True)
def trust(tmp_path_factory):
    """`ca.pem` of an authority that this process trusts. None if openssl is not here."""
    if certificates.missing() is not None:
        yield None
        return
    with pytest.MonkeyPatch.context() as patch:
        made = certificates.make_authority(tmp_path_factory.mktemp("authority"))
        patch.setenv("SSL_CERT_FILE", str(made))
        yield made


@pytest.fixture(scope="session")
def authority(trust):
    """The authority that signs the servers' certificates."""
    skip_without(certificates.missing())
    return trust


@pytest.fixture(scope="session")
def certificate(authority, tmp_path_factory):
    """Folder with the certificate and key of a server on this machine."""
    folder = tmp_path_factory.mktemp("certificate")
    return certificates.make_certificate(authority, folder, "IP:127.0.0.1", "DNS:localhost")


def serve(server, files):
    for path, source in files.items():
        server.put(source, path)
    return server


@contextlib.contextmanager
def to_be_frozen(kind, files):
    """A server of its own with the files, for a test that freezes it."""
    skip_without(kind.missing())
    with kind() as made:
        yield serve(made, files)
        made.thaw()


def settle(*urls):
    """Waits until files on servers have identities: those that have just been written have none."""
    from treemill import _core

    until = time.monotonic() + 30
    for url in urls:
        while _core.remote_stat(url)[-1] is None and time.monotonic() < until:
            pass


def asked_of(io, url):
    """What a run has asked of an address's server, as a tuple of one report or of none.

    Runs count what the whole process has asked for, so that the last requests of a test before are
    among the sources now and then."""
    origin = "/".join(url.split("/")[:3])
    return tuple(source for source in io.sources if source.source == origin)


@pytest.fixture(scope="session")
def xrootd(files):
    skip_without(XRootD.missing())
    with XRootD() as server:
        yield serve(server, files)


@pytest.fixture(scope="session")
def nginx(files):
    skip_without(Nginx.missing())
    with Nginx() as server:
        yield serve(server, files)


@pytest.fixture(scope="session")
def nginx_tls(files, certificate):
    skip_without(Nginx.missing())
    with Nginx(certificate=certificate, token=TOKEN) as server:
        yield serve(server, files)


@pytest.fixture(scope="session")
def s3(files):
    skip_without(S3.missing())
    with S3() as server:
        yield serve(server, files)


@pytest.fixture(scope="session")
def ganesha(files):
    skip_without(Ganesha.missing())
    with Ganesha() as server:
        yield serve(server, files)


@pytest.fixture(scope="session")
def ftp(files):
    skip_without(FTP.missing())
    with FTP() as server:
        yield serve(server, files)


@pytest.fixture(scope="session")
def dcap(files, tmp_path_factory):
    with DcapDoor(tmp_path_factory.mktemp("dcap")) as server:
        yield serve(server, files)


@pytest.fixture(scope="session")
def link():
    """A client, which is this process, and hosts for a federation, without any delay."""
    skip_without(link_missing())
    with Link(["client", "r", "s1", "s2"], here="client") as made:
        yield made


@pytest.fixture(scope="session")
def federation(link, files):
    skip_without(Federation.missing())
    hosts = link.hosts
    with Federation(hosts["r"], [hosts["s1"], hosts["s2"]]) as made:
        yield serve(made, files)


@pytest.fixture
def token(monkeypatch):
    """The user has a token."""
    monkeypatch.setenv("BEARER_TOKEN", TOKEN)


@pytest.fixture
def paths(files):
    """Local paths of the trees."""
    return [str(path) for name, path in sorted(files.items()) if "/trees/" in name]


@pytest.fixture
def ntuple(files):
    """The local path of the RNTuple."""
    return str(files["store/ntuples/staff.root"])


@pytest.fixture
def nothing_remembered(core):
    """Each query reads its files."""
    import treemill as tm

    before = tm.cache.limit
    tm.cache.limit = 0
    yield
    tm.cache.limit = before
