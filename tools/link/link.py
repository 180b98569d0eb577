"""Hosts in network namespaces, and the wires between them.

>>> with Link(["client", "server"]) as link:                          # doctest: +SKIP
...     link.set("server", Wire(delay_ms=68.5, mbit=160))
...     subprocess.run(link.hosts["client"].command(["ping", "-c1", link.hosts["server"].address]))

Nothing is left behind when this process is killed: the hub and what holds the namespaces end with
their standard input.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .host import Host

__all__ = ["Link", "LinkError", "Wire", "missing"]

DOMAIN = "wan.test"
_TOOLS = ("cc", "ip", "mount", "nsenter", "sysctl", "unshare")
# Windows as far as they are needed for 10 Gbit/s over 137 ms.
_TCP = (
    "net.ipv4.tcp_rmem=4096 131072 134217728",
    "net.ipv4.tcp_wmem=4096 65536 134217728",
    "net.ipv6.conf.all.disable_ipv6=1",
)
_HOLD = 'hostname "$0"; mount --bind "$1" /etc/hosts; echo held; exec cat >/dev/null'
"""Keeps a namespace until the end of input."""


class LinkError(Exception):
    """The link cannot be set up."""


@dataclass(frozen=True)
class Wire:
    """A host's wire to the hub. The way between two hosts is both hosts' wires, one after the
    other; the round trip is twice that."""

    delay_ms: float = 0.0
    """One way."""
    mbit: float = 0.0
    """Of all that passes, in each direction; 0: no limit."""
    stream_mbit: float = 0.0
    """Of each connection in each direction; 0: no limit."""
    loss: float = 0.0
    """Per cent of packets; 100 cuts the wire."""


def missing() -> str | None:
    """Why there can be no link here; None if there can."""
    if os.geteuid() != 0:
        return "an emulated link needs root"
    if not os.access("/dev/net/tun", os.R_OK | os.W_OK):
        return "an emulated link needs /dev/net/tun"
    absent = [tool for tool in _TOOLS if shutil.which(tool) is None]
    return f"an emulated link needs {', '.join(absent)}" if absent else None


class Link:
    """Hosts and their wires, which delay and limit nothing at first. A host named by `here` is this
    process's own network instead of a namespace: it alone has no name among the others' hosts.
    Raises LinkError if the system refuses."""

    def __init__(self, names: Sequence[str], here: str | None = None) -> None:
        if reason := missing():
            raise LinkError(reason)
        self.hosts: dict[str, Host] = {}
        self._names = list(names)
        self._folder = Path(tempfile.mkdtemp(prefix="link-"))
        self._children: list[subprocess.Popen[str]] = []
        try:
            self._hub = self._child([str(self._built()), str(len(names))])
            devices = self._said(self._hub).split()
            # The name of a device is taken as long as it is there, nor is the network.
            number = int(devices[self._names.index(here)][len("wire") :]) % 256 if here else 0
            addresses = [f"10.77.{number}.{i}" for i, _ in enumerate(names, 1)]
            self._write_hosts(addresses)
            for name, device, address in zip(names, devices, addresses, strict=True):
                self.hosts[name] = self._host(name, device, address, name == here)
        except BaseException:
            self.close()
            raise

    def set(self, name: str, wire: Wire) -> None:
        """Changes a host's wire while it is used. It holds for packets that are sent from now on; a
        wire that is cut delivers none of those that are under way."""
        values = wire.delay_ms, wire.mbit, wire.stream_mbit, wire.loss
        line = " ".join(map(str, (self._names.index(name) + 1, *values)))
        assert self._hub.stdin is not None
        self._hub.stdin.write(line + "\n")
        self._hub.stdin.flush()
        if (said := self._said(self._hub).strip()) != "ok":
            raise LinkError(f"the hub does not take {line!r}: {said}")

    def close(self) -> None:
        """Ends the hub and the hosts. Programs that still run there lose their network."""
        for child in reversed(self._children):
            for pipe in (child.stdin, child.stdout):
                if pipe is not None:
                    pipe.close()
            child.wait()
        self._children.clear()
        shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self) -> Link:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _built(self) -> Path:
        program = self._folder / "hub"
        _run("cc", "-O2", "-o", str(program), str(Path(__file__).with_name("hub.c")), "-lm")
        return program

    def _write_hosts(self, addresses: Sequence[str]) -> None:
        lines = ["127.0.0.1 localhost"]
        lines += [f"{a} {n}.{DOMAIN} {n}" for n, a in zip(self._names, addresses, strict=True)]
        (self._folder / "hosts").write_text("\n".join(lines) + "\n")
        self._folder.chmod(0o755)

    def _host(self, name: str, device: str, address: str, is_here: bool) -> Host:
        enter: tuple[str, ...] = ()
        if not is_here:
            hold = ["sh", "-c", _HOLD, f"{name}.{DOMAIN}", str(self._folder / "hosts")]
            holder = self._child(["unshare", "--net", "--uts", "--mount", *hold])
            self._said(holder)
            enter = ("nsenter", f"--target={holder.pid}", "--net", "--uts", "--mount", "--")
            _run("ip", "link", "set", device, "netns", str(holder.pid))
            _run(*enter, "ip", "link", "set", "lo", "up")
            _run(*enter, "sysctl", "-qw", *_TCP)
        _run(*enter, "ip", "address", "add", f"{address}/24", "dev", device)
        _run(*enter, "ip", "link", "set", device, "mtu", "1500", "txqueuelen", "10000", "up")
        return Host(f"{name}.{DOMAIN}", address, enter)

    def _child(self, command: list[str]) -> subprocess.Popen[str]:
        pipe = subprocess.PIPE
        # A session of its own: Ctrl-C is for this process, which then closes the link.
        child = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, text=True, bufsize=1, start_new_session=True
        )
        self._children.append(child)
        return child

    def _said(self, child: subprocess.Popen[str]) -> str:
        assert child.stdout is not None
        line = child.stdout.readline()
        if not line:
            raise LinkError(f"{child.args!r} ended: {child.wait()}")
        return line


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise LinkError(f"{' '.join(command)}: {done.stderr.strip()}")
