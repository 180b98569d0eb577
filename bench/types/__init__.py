"""Every kind of branch: treemill beside uproot, and beside what it takes to decompress its bytes.

`python -m bench types` writes `bench/results/<date>-<machine>-types.{json,md}`.
"""
