"""The user's handle: what is asked runs on workers, is waited for and reported.

Knows backends by their pool only; nothing below knows a session.
"""
