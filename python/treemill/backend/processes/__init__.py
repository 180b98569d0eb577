"""Workers that are processes: a template that forks them, sockets to them, and who talks to both.

Knows no query and no session.
"""
