"""Workers of a Dask cluster. The master of each pass lives on Dask's scheduler, as a plugin;
worker loops live in Dask's workers, beside its tasks; partials go from worker to worker.

`messages.py`, `pass_scheduler.py`, `pass_processes.py` and `scheduler_state.py` are pure: state and
messages. `pass_workers.py` and `merger.py` do the work in a worker's process by callables that they
are given. `scheduler_plugin.py` and `worker_plugin.py` meet distributed's internals, on the
scheduler and on workers. Nothing here is imported before a session on a cluster is made, or a
cluster is checked.
"""
