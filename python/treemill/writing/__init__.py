"""Writes ROOT files with trees: the file (`file.py`), its trees (`tree.py`), their branches
(`branches.py`). ROOT, uproot and treemill read them.

Knows NumPy, columns and uproot's codecs; knows no dataset, no query and no session.
"""
