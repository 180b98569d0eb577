"""What is seen of a query: progress, feedback, the report, the trace with its files and figures,
and the page in the browser.

Looks at plain values that it is given; knows no session, no dataset and no worker.
"""
