"""Writes ROOT files with trees: the file (`file.py`), its trees (`tree.py`), their columns
(`columns.py`). What is written is read by ROOT, uproot and treemill.

Knows numpy, columns and the codecs that uproot has; knows no dataset, no query and no session.
"""
