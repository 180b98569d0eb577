"""An S3 server: moto, from PyPI (dependency group `servers`, in an environment of its own). It has
its buckets in memory, verifies no signature, and ignores requests for several ranges, as S3 does.
"""

from __future__ import annotations

import os
import shutil
import sys
import urllib.request
from pathlib import Path

from .process import Server

__all__ = ["S3"]


def _program() -> str | None:
    """In the environment that `make test` makes within its own, or anywhere."""
    return shutil.which(f"{sys.prefix}/servers/bin/moto_server") or shutil.which("moto_server")


class S3(Server):
    """A server with one bucket, `data`. `endpoint` is what clients need beside the URL."""

    program = "moto_server"
    BUCKET = "data"

    @classmethod
    def missing(cls) -> str | None:
        """See Server."""
        return None if _program() else "moto_server is not installed (requirements/servers.txt)"

    @property
    def endpoint(self) -> str:
        """`http://…`, for `AWS_ENDPOINT_URL`."""
        return f"http://{self.host.address}:{self.ports[0]}"

    @property
    def environment(self) -> dict[str, str]:
        """What a client's process must find."""
        return {
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_ALLOW_HTTP": "true",
            "AWS_ACCESS_KEY_ID": "someone",
            "AWS_SECRET_ACCESS_KEY": "not-to-be-shown",
            "AWS_REGION": "us-east-1",
        }

    def url(self, path: str) -> str:
        """`s3://data/…`: clients need the `environment` too."""
        return f"s3://{self.BUCKET}/{path}"

    def put(self, source: str | os.PathLike[str], path: str) -> str:
        """See Server."""
        self._request("PUT", f"{self.BUCKET}/{path}", Path(source).read_bytes())
        return self.url(path)

    def _start(self) -> None:
        # Another user may not be able to read the packages of this environment.
        (port,) = self.ports
        words = [_program() or "", "-H", self.host.address, "-p", str(port)]
        self._wait_for_port(self._run(words, "moto", is_ours=True), port)
        self._request("PUT", self.BUCKET, b"")

    def _request(self, method: str, path: str, body: bytes) -> None:
        request = urllib.request.Request(f"{self.endpoint}/{path}", body, method=method)
        signed = "AWS4-HMAC-SHA256 Credential=someone/20200101/us-east-1/s3/aws4_request"
        request.add_header("Authorization", signed)
        # urllib's own is that of a form, which moto parses: the object would be empty.
        request.add_header("Content-Type", "application/octet-stream")
        with urllib.request.urlopen(request):
            pass
