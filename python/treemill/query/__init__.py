"""What is asked, as data: filters, columns, variations, bookings, and the core's specification of
them.

Nothing here reads, computes or draws; what does is given to a query's origin from outside.
"""
