"""Workers as Slurm jobs: `python slurm.py PARTITION FILE…`, with `pip install dask-jobqueue`."""

import sys

import treemill as tm
from analysis import analyse
from dask_jobqueue import SLURMCluster


def cluster(partition, **options):
    """A cluster without workers. `options` are those of SLURMCluster."""
    settings = {
        "queue": partition,
        "cores": 4,  # of one job
        "processes": 1,  # threads of one process share files and caches
        "memory": "8GB",
        "walltime": "02:00:00",
        "death_timeout": 120,  # seconds after which a job that finds no scheduler ends
    }
    return SLURMCluster(**settings | options)


def main():
    with cluster(sys.argv[1]) as made:
        made.scale(jobs=10)  # or made.adapt(minimum_jobs=1, maximum_jobs=100)
        with tm.connect(made) as session:
            analyse(session, sys.argv[2:])


if __name__ == "__main__":
    main()
