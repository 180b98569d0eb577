"""Remote reading over an emulated link: treemill, ROOT, uproot and XRootD's copy, on the same
servers and files.
"""
