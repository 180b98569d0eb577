"""The comparison of storages after the DESY studies of NFSv4.1: which cells are measured, what
readers' outcomes say together, figures, tables and findings. Plain values in and out; opens no file
and starts no process."""
