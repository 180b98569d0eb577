"""What a test peer and its clients have said, as another program (tshark, of Wireshark) reads it:
a capture with packets made up around the messages. Knows no protocol but TCP's header.
"""

import collections
import shutil
import struct
import subprocess
from xml.etree import ElementTree

RAW = 101  # the link type of packets that begin with IP
MOST = 60_000  # bytes of a message: it has one packet
FRONT = 40  # bytes of a packet before its message


def missing():
    """Why captures cannot be read here; None if they can."""
    return None if shutil.which("tshark") else "tshark is not installed"


def _packet(source, target, sequence, acknowledged, data):
    assert len(data) <= MOST
    here = bytes([127, 0, 0, 1])
    ip = struct.pack(">BBHHHBBH", 0x45, 0, FRONT + len(data), 0, 0, 64, 6, 0) + here * 2
    tcp = struct.pack(">HHIIBBHHH", source, target, sequence, acknowledged, 0x50, 0x18, 65535, 0, 0)
    return ip + tcp + data


def write(path, port, messages):
    """Writes a capture of a server at a port. messages: the port of the client, whether the client
    says it, and the bytes, in their order."""
    with open(path, "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 1 << 18, RAW))
        said = collections.defaultdict(lambda: 1)  # the next number of TCP, by the way
        for number, (client, is_client, message) in enumerate(messages):
            way = (client, port) if is_client else (port, client)
            packet = _packet(*way, said[way], said[way[::-1]], message)
            said[way] += len(message)
            file.write(struct.pack("<IIII", 0, number, len(packet), len(packet)) + packet)


def _parts(field):
    """The fields that a field consists of: a remark on it has no bytes."""
    return [each for each in field.findall("field") if int(each.get("size", 0))]


class Message:
    """A message as tshark reads it. protocol: the innermost one. fields: names and values."""

    def __init__(self, packet):
        protocols = packet.findall("proto")
        self.protocol = protocols[-1].get("name")
        inside = list(protocols[-1].iter("field"))
        self.fields = [(field.get("name"), field.get("show")) for field in inside]
        leaves = [each for each in inside if each.get("pos") and not _parts(each)]
        ends = [int(each.get("pos")) + int(each.get("size")) for each in leaves]
        size = next(int(p.get("size")) for p in protocols if p.get("name") == "frame")
        self.is_whole = size - max(ends) <= 4
        """It is read to its end: what fills four bytes, or an empty list's length, is no field."""

    def all(self, name):
        """The values of a field, in order."""
        return [value for field, value in self.fields if field == name]


def read(path, port):
    """The messages of a capture, which are of RPC. What is malformed has the protocol
    `_ws.malformed`."""
    words = ["tshark", "-r", str(path), "-d", f"tcp.port=={port},rpc", "-T", "pdml", "-n"]
    done = subprocess.run(words, capture_output=True, check=True, timeout=60)
    return [Message(packet) for packet in ElementTree.fromstring(done.stdout)]
