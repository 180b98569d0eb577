"""Sessions on a Dask cluster beside what else runs there: coffea's processor, distributed
RDataFrame."""
