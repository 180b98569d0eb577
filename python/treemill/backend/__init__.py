"""Where workers run. Each module drives the same packetizer and the same worker."""
