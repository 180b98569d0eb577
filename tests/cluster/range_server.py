"""An HTTP server of a folder that can refuse what lies inside files: they open, and cannot be
read."""

import contextlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


@contextlib.contextmanager
def serving(folder: Path):
    """The server, with its `url`. It refuses ranges while `fails`."""

    class Answer(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *words):
            pass

        def do_HEAD(self):
            self.do_GET()

        def do_GET(self):
            data = (folder / self.path.lstrip("/")).read_bytes()
            first, last = 0, len(data) - 1
            asked = self.headers.get("Range")
            if asked is not None:
                start, _, stop = asked.removeprefix("bytes=").partition("-")
                first = int(start) if start else len(data) - int(stop)
                last = min(int(stop), last) if start and stop else last
            refused = server.fails and first > 0 and last < 0.8 * len(data)
            body = b"" if refused else data[first : last + 1]
            self.send_response(403 if refused else 200 if asked is None else 206)
            if asked is not None and not refused:
                self.send_header("Content-Range", f"bytes {first}-{last}/{len(data)}")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    server.fails = False
    server.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
