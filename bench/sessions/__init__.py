"""What sessions and selectors cost: starts, packets, memory, reading, beside coffea."""
