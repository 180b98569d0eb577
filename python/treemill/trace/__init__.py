"""The trace of a query as a table of events, which is written to ROOT, Parquet and Chrome's JSON,
summed up as tables and figures, and made one page.

Knows the packetizer's records and the names that it is given; knows no session, no worker and no
dataset.
"""
