"""Queries as data: filters, columns, variations, bookings, and the core's specification of them.

Nothing here reads, computes or draws. The services that do are given to a query's origin from
outside.
"""
