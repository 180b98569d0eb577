"""A page in the browser that shows a session's queries while they run, and lets the user stop them.

`guard.py`, `samples.py`, `figure.py`, `view.py` and `page.py` are pure; `server.py` has the socket
and the threads. Nothing here knows sessions: `board.py` says what it wants of a query."""
