"""Pages of the hub."""
