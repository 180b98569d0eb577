"""nfs-ganesha: a server of NFSv4.1 and 4.2. Debian: `nfs-ganesha`, `nfs-ganesha-vfs`.
It runs as root, because it finds files by the kernel's handles.
"""

from __future__ import annotations

import os

from ..link.host import HERE, Host
from .process import Server

__all__ = ["Ganesha"]

_CONFIGURATION = """\
NFS_CORE_PARAM {{
    Protocols = 4;
    Bind_addr = {address};
    NFS_Port = {port};
    Enable_NLM = false;
    Enable_RQUOTA = false;
    Enable_UDP = false;
}}
NFSv4 {{
    Minor_Versions = 1, 2;
    Graceless = {graceless};
    Grace_Period = {grace};
    Lease_Lifetime = {lease};
    RecoveryBackend = fs;
    RecoveryRoot = {folder}/recovery;
    Only_Numeric_Owners = true;
}}
MDCACHE {{ Attr_Expiration_Time = 0; }}
EXPORT {{
    Export_Id = 1;
    Path = {data};
    Pseudo = /export;
    Access_Type = RO;
    Squash = No_Root_Squash;
    SecType = sys;
    Attr_Expiration_Time = 0;
    FSAL {{ Name = VFS; }}
}}
LOG {{ Default_Log_Level = EVENT; }}
"""


class Ganesha(Server):
    """A server that exports `data` as `/export`.

    grace: seconds for which it takes nothing new after its start, while its former clients claim
        what they had; 0: it knows no former clients.
    lease: seconds after which a silent client is forgotten.
    """

    program = "ganesha.nfsd"

    def __init__(self, host: Host = HERE, *, grace: int = 0, lease: int = 60) -> None:
        self._grace = grace
        self._lease = lease
        super().__init__(host)

    @classmethod
    def missing(cls) -> str | None:
        """See Server."""
        if (reason := super().missing()) is not None:
            return reason
        return None if os.geteuid() == 0 else "ganesha.nfsd needs root"

    def url(self, path: str) -> str:
        """`nfs://`"""
        return f"nfs://{self.host.address}:{self.ports[0]}/export/{path}"

    def _start(self) -> None:
        (port,) = self.ports
        (self.folder / "recovery").mkdir(exist_ok=True)
        configuration = _CONFIGURATION.format(
            address=self.host.address,
            port=port,
            data=self.data,
            folder=self.folder,
            graceless="false" if self._grace else "true",
            grace=self._grace or 1,
            lease=self._lease,
        )
        path = self.folder / "ganesha.conf"
        path.write_text(configuration)
        words = [self.program, "-F", "-f", str(path), "-L", str(self.folder / "nfs.log")]
        words += ["-p", str(self.folder / "pid")]
        process = self._run(words, "ganesha", is_ours=True)
        self._wait_for_port(process, port)
