"""Functions of the user's own code, for expressions: numba's, called by address without the GIL;
Python's callables over batches. Fits them to the types of their arguments and puts their errors in
words; the core calls them. Knows no query and no column."""
