"""Ray-based pictures of simulated tables."""
