"""Workers as processes: a template process that forks them, sockets to them, and the thread that
talks to both.

Knows no query and no session.
"""
