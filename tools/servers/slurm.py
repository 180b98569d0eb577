"""A batch system: Slurm on this machine alone, as a cluster of one node, with an authentication
service, a controller and a node's daemon of its own. Debian's packages slurmctld, slurmd,
slurm-client and munge; root only, because jobs run as their users.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path

from ..link.host import HERE
from .process import Process, ServerError, free_ports

__all__ = ["Slurm"]

_PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "sinfo")
_PATHS = "/usr/sbin:/sbin"

_CONFIGURATION = """\
ClusterName=treemill
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmdPort={node}
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
SchedulerParameters=sched_interval=1,bf_interval=1
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory={memory} State=UNKNOWN
PartitionName=short Nodes=ALL Default=YES MaxTime=01:00:00 State=UP OverSubscribe=FORCE:8
"""


class Slurm:
    """A cluster with one partition, `short`. Its commands need `environment`."""

    partition = "short"

    def __init__(self, cpus: int = 2, memory: int = 4000) -> None:
        """`memory` in MB. Raises ServerError if it cannot be started."""
        if reason := self.missing():
            raise ServerError(reason)
        self.folder = Path(tempfile.mkdtemp(prefix="slurm-"))
        self.folder.chmod(0o755)
        self.processes: list[Process] = []
        self.environment = {
            "SLURM_CONF": str(self.folder / "slurm.conf"),
            "PATH": f"{os.environ.get('PATH', '')}:{_PATHS}",
        }
        try:
            self._start(cpus, memory)
        except BaseException:
            self.stop()
            raise

    @classmethod
    def missing(cls) -> str | None:
        """Why there can be no Slurm here; None if there can."""
        if os.geteuid() != 0:
            return "Slurm needs root: jobs run as their users"
        path = f"{os.environ.get('PATH', '')}:{_PATHS}"
        gone = [name for name in _PROGRAMS if shutil.which(name, path=path) is None]
        return f"{', '.join(gone)} not installed" if gone else None

    def said(self, *words: str) -> str:
        """What one of its commands prints."""
        done = subprocess.run(
            words,
            env=os.environ | self.environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=30,
        )
        return done.stdout

    def stop(self) -> None:
        """Ends jobs and daemons, and removes the folder. To be called once more does nothing."""
        if len(self.processes) > 1:
            self.said("scancel", "--full", "--signal=KILL", "--user=root")
        for process in reversed(self.processes):
            process.end()
        self.processes = []
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> Slurm:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _start(self, cpus: int, memory: int) -> None:
        munge, (controller, node) = self.folder / "munge", free_ports(2)
        for folder in (munge, self.folder / "state", self.folder / "spool"):
            folder.mkdir()
        key = munge / "key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)
        words = ["munged", "--foreground", "--force", f"--key-file={key}"]
        words += [f"--{name}-file={munge / name}" for name in ("log", "pid", "seed")]
        process = self._run([*words, f"--socket={munge / 'socket'}"], "munged")
        process.wait_until((munge / "socket").exists, "munge answers")
        configuration = self.folder / "slurm.conf"
        configuration.write_text(
            _CONFIGURATION.format(
                host=socket.gethostname().partition(".")[0],
                folder=self.folder,
                controller=controller,
                node=node,
                cpus=cpus,
                memory=memory,
            )
        )
        self._run(["slurmctld", "-D", "-f", str(configuration)], "slurmctld")
        process = self._run(["slurmd", "-D", "-f", str(configuration)], "slurmd")
        process.wait_until(lambda: "idle" in self.said("sinfo", "-h", "-o", "%T"), "a node is idle")

    def _run(self, words: list[str], name: str) -> Process:
        program = shutil.which(words[0], path=self.environment["PATH"])
        process = Process(
            [program or words[0], *words[1:]], HERE, self.folder / f"{name}.out", True
        )
        self.processes.append(process)
        return process
