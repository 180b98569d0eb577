"""Filesets whose files were looked at: what each is, what is wrong with it, and the list of the
sound ones for later runs.

Knows files and trees; knows no query, no session and no terminal.
"""
