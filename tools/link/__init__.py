"""An emulated distance: hosts in network namespaces, joined by a hub that delays, limits and drops
real IP packets, so that every protocol, redirects and TCP itself behave as they do far away. Linux
and root only. Tests and measurements use it; it knows neither, and no server.
"""
