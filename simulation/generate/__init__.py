"""Random tables and positions."""
