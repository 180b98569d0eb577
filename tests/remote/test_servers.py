"""The servers and the emulated link are what they say: real, with folders of their own, stopped by
their own ids. treemill is not needed."""

import os
import shutil
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from tests.remote.conftest import TOKEN, skip_without
from tools.link.host import HERE
from tools.link.link import Link, LinkError, Wire
from tools.servers.nginx import Nginx
from tools.servers.process import Process, ServerError, free_ports
from tools.servers.xrootd import XRootD


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "a text.txt"
    path.write_text("0123456789")
    return path


def got(url, **headers):
    request = urllib.request.Request(url, headers={k.capitalize(): v for k, v in headers.items()})
    with urllib.request.urlopen(request, timeout=20) as answer:
        return answer.status, answer.read()


def copied(url, tmp_path):
    """What XRootD's own client copies."""
    if shutil.which("xrdcp") is None:
        pytest.skip("xrdcp is not installed")
    target = tmp_path / "copied"
    command = ["xrdcp", "--force", "--nopbar", url, str(target)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return target.read_text()


def connects(host, port):
    try:
        socket.create_connection((host, port), timeout=20).close()
    except ConnectionRefusedError:
        return False
    return True


@pytest.mark.parametrize("security", ["none", "host", "unix"])
def test_xrootd_serves_both_protocols(text, tmp_path, security):
    skip_without(XRootD.missing())
    with XRootD(security=security) as server:
        url = server.put(text, "folder/a.txt")
        assert copied(url, tmp_path) == "0123456789"
        assert got(server.http_url("folder/a.txt"), range="bytes=2-4") == (206, b"234")
        folder, (port,) = server.folder, server.ports
    assert not folder.exists()
    assert not connects("127.0.0.1", port)


def test_nginx_serves_ranges_redirects_and_lists(text):
    skip_without(Nginx.missing())
    with Nginx() as server:
        url = server.put(text, "folder/a.txt")
        assert got(url, range="bytes=0-1") == (206, b"01")
        assert got(server.url("moved/folder/a.txt"), range="bytes=8-") == (206, b"89")
        assert b'"a.txt"' in got(server.url("folder/"))[1]
        assert "206 GET /folder/a.txt range=bytes=0-1 sent=2" in server.requests()


def test_nginx_with_tls_wants_a_token(text, authority, certificate, monkeypatch):
    skip_without(Nginx.missing())
    monkeypatch.setenv("SSL_CERT_FILE", str(authority))
    with Nginx(certificate=certificate, token=TOKEN) as server:
        url = server.put(text, "a.txt")
        assert url.startswith("https://")
        with pytest.raises(urllib.error.HTTPError, match="401"):
            got(url)
        assert got(url, authorization=f"Bearer {TOKEN}") == (200, b"0123456789")


def test_s3_keeps_objects(s3, text):
    s3.put(text, "some/where.txt")
    with pytest.raises(urllib.error.HTTPError, match="403"):  # it is no open bucket
        got(f"{s3.endpoint}/{s3.BUCKET}/some/where.txt")


def test_a_server_dies_comes_back_and_sleeps(text, tmp_path):
    skip_without(XRootD.missing())
    with XRootD() as server:
        url = server.put(text, "a.txt")
        server.kill()
        assert not connects("127.0.0.1", server.ports[0])
        server.restart()
        assert copied(url, tmp_path) == "0123456789"
        server.freeze()
        process = server.processes[0].pid
        assert Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "T"
        server.thaw()
        assert copied(url, tmp_path) == "0123456789"


def test_what_cannot_start_says_why(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ServerError, match="xrootd is not installed"):
        XRootD()


def test_a_program_that_ends_is_not_waited_for(tmp_path):
    from tools.link.host import HERE

    process = Process(["sh", "-c", "echo the reason; exit 3"], HERE, tmp_path / "log", is_ours=True)
    with pytest.raises(ServerError, match="the reason"):
        process.wait_until(lambda: False, "it answers")


def test_ports_are_free():
    ports = free_ports(3)
    assert len(set(ports)) == 3
    assert not any(connects("127.0.0.1", port) for port in ports)


def test_a_federation_sends_clients_to_who_has_the_file(federation, text, tmp_path):
    assert copied(federation.put(text, "both.txt"), tmp_path) == "0123456789"
    assert copied(federation.put(text, "only-s2.txt", 1), tmp_path) == "0123456789"
    second = federation.servers[1]
    # By HTTP too: the redirector names another host.
    opener = urllib.request.urlopen(federation.redirector.http_url("only-s2.txt"), timeout=20)
    with opener as answer:
        assert answer.url.startswith(second.http_url("only-s2.txt"))
        assert answer.read() == b"0123456789"


def test_a_wire_delays_and_cuts(link):
    address = link.hosts["s1"].address
    try:
        link.set("s1", Wire(delay_ms=20))
        assert not connects(address, 9)  # refused, by a real kernel, after a real round trip
        link.set("s1", Wire(loss=100))
        with pytest.raises(OSError, match="timed out"):
            socket.create_connection((address, 9), timeout=0.2)
    finally:
        link.set("s1", Wire())
    with pytest.raises(LinkError, match="no such setting"):
        link.set("s1", Wire(delay_ms="soon"))


def test_hosts_know_one_another(link):
    words = link.hosts["s1"].command(["sh", "-c", "hostname; getent hosts s2.wan.test"])
    said = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    assert said.split()[:2] == ["s1.wan.test", link.hosts["s2"].address]


def test_a_link_leaves_nothing_behind(link):
    with Link(["a", "b"]) as other:
        pids = [child.pid for child in other._children]
        assert other.hosts["a"].address == "10.77.0.1"
    assert not any(os.path.exists(f"/proc/{pid}") for pid in pids)
    assert not other._folder.exists()


def test_the_processor_time_of_a_program_and_of_what_it_has_started(tmp_path):
    child = "import time\nwhile time.process_time() < 0.2: pass\nprint('!', flush=True)\ninput()"
    # The child ends with the pipe.
    run = "subprocess.Popen([sys.executable, '-c', sys.argv[1]], stdin=-1).wait()"
    parent = f"import subprocess, sys\n{run}"
    words = [sys.executable, "-c", parent, child]
    process = Process(words, HERE, tmp_path / "log", is_ours=True)
    try:
        process.wait_until(lambda: "!" in process.said(), "the child has worked")
        assert process.cpu >= 0.2
    finally:
        process.end()
