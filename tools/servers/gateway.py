"""An analysis facility: dask-gateway on this machine, whose clusters are processes of the user that
starts it, behind its proxy and with TLS. Its packages are installed into a folder of their own,
from requirements/gateway.txt: nothing else needs them.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from pathlib import Path

from ..link.host import HERE
from .process import Process, ServerError, free_ports

__all__ = ["Gateway"]

_ROOT = Path(__file__).parents[2]
_PACKAGES = _ROOT / "requirements" / "gateway.txt"
_INSTALLATION = _ROOT / "target" / "gateway"
_PATIENCE = 300.0

_CONFIGURATION = """\
c.DaskGateway.backend_class = "dask_gateway_server.backends.local.UnsafeLocalBackend"
c.DaskGateway.address = "127.0.0.1:{server}"
c.Proxy.address = "127.0.0.1:{http}"
c.Proxy.tcp_address = "127.0.0.1:{tcp}"
c.UnsafeLocalBackend.clusters_directory = {folder!r}
c.UnsafeLocalBackend.sigint_timeout = 2
c.ClusterConfig.scheduler_cmd = [{python!r}, "-m", "distributed.cli.dask_scheduler"]
c.ClusterConfig.worker_cmd = [{python!r}, "-m", "distributed.cli.dask_worker"]
c.ClusterConfig.worker_cores = 1
c.ClusterConfig.adaptive_period = 0.2
"""


class Gateway:
    """A gateway. `environment` is what a program needs to meet it: its address, and the path with
    its client's package."""

    def __init__(self) -> None:
        """Raises ServerError if it cannot be started."""
        if reason := self.missing():
            raise ServerError(reason)
        self.folder = Path(tempfile.mkdtemp(prefix="gateway-"))
        self.processes: list[Process] = []
        try:
            self._start()
        except BaseException:
            self.stop()
            raise

    @classmethod
    def missing(cls) -> str | None:
        """Why there can be no gateway here; None if there can. Installs its packages once."""
        wanted = _PACKAGES.read_text()
        mark = _INSTALLATION / "installed.txt"
        if mark.exists() and mark.read_text() == wanted:
            return None
        words = ["--quiet", "--no-deps", "--disable-pip-version-check", "--require-hashes"]
        words += ["--requirement", str(_PACKAGES), "--target", str(_INSTALLATION)]
        shutil.rmtree(_INSTALLATION, ignore_errors=True)
        try:
            done = subprocess.run(
                [sys.executable, "-m", "pip", "install", *words],
                capture_output=True,
                text=True,
                check=False,
                timeout=_PATIENCE,
            )
        except subprocess.TimeoutExpired:
            return f"pip has not installed dask-gateway within {_PATIENCE:g} s"
        if done.returncode:
            return f"dask-gateway cannot be installed: {done.stderr.strip()[-300:]}"
        mark.write_text(wanted)
        return None

    def stop(self) -> None:
        """Ends it with its clusters, and removes its folder. May be called again."""
        for process in reversed(self.processes):
            process.end()
        self.processes = []
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> Gateway:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _start(self) -> None:
        server, http, tcp = free_ports(3)
        self.address = f"http://{HERE.address}:{http}"
        path = os.pathsep.join([*filter(None, sys.path), str(_INSTALLATION)])
        self.environment = {
            "PYTHONPATH": path,
            "DASK_GATEWAY__ADDRESS": self.address,
            "DASK_GATEWAY__PROXY_ADDRESS": f"gateway://{HERE.address}:{tcp}",
        }
        configuration = self.folder / "gateway.py"
        configuration.write_text(
            _CONFIGURATION.format(
                server=server, http=http, tcp=tcp, folder=str(self.folder), python=sys.executable
            )
        )
        words = ["env", f"PYTHONPATH={path}", sys.executable, "-m", "dask_gateway_server"]
        words += ["--config", str(configuration)]
        process = Process(words, HERE, self.folder / "gateway.out", True)
        self.processes.append(process)
        process.wait_until(self._answers, "the gateway answers")

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.address}/api/health", timeout=5) as answer:
                return bool(answer.status == 200)
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            return False
