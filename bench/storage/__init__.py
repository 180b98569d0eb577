"""Storages beside each other, and for long: real servers with the same files, read by treemill's
own commands `bench storage` and `bench hammer`, whose reports are published.
"""
