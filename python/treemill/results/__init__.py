"""Makes what the user gets: histograms, numbers, arrays, variations, files.

Knows no session and no worker.
"""
