"""What expressions call that is no function of the language: corrections and trained models from
documents that others have written, and the user's own functions, by numba or over batches.

Documents are read here; the core evaluates them, and calls users' functions. Knows no query.
"""
