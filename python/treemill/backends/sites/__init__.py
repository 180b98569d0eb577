"""Several pools of workers as one: sites with data of their own, or with replicas. A scheduler of
leases in this process leases parts of the dataset to them; a site runs one pass on its pool for
each lease. Knows pools and passes by their base classes only."""
