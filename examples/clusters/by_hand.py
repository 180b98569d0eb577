"""A cluster that you have started by hand: `python by_hand.py tcp://HOST:8786 FILE…`.

On one host:     dask scheduler
On each worker:  dask worker tcp://HOST:8786 --nworkers 1 --nthreads 8
"""

import sys

import treemill as tm
from analysis import analyse

with tm.connect(sys.argv[1]) as session:
    analyse(session, sys.argv[2:])
