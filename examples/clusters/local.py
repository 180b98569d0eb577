"""A cluster of this machine's cores: `python local.py FILE…`."""

import sys

import treemill as tm
from analysis import analyse
from distributed import LocalCluster


def main():
    with LocalCluster(n_workers=2, threads_per_worker=1) as cluster, tm.connect(cluster) as session:
        analyse(session, sys.argv[1:])


if __name__ == "__main__":  # worker processes import this file
    main()
