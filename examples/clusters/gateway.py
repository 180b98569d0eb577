"""A cluster of an analysis facility with dask-gateway: `python gateway.py FILE…`.

In a notebook of the facility, Gateway() knows the address and how to log in. Elsewhere:
Gateway("https://…", auth="jupyterhub").
"""

import sys

import treemill as tm
from analysis import analyse
from dask_gateway import Gateway

gateway = Gateway()
with gateway.new_cluster() as cluster:
    cluster.adapt(minimum=1, maximum=50)
    with cluster.get_client() as client, tm.connect(client) as session:
        analyse(session, sys.argv[1:])
