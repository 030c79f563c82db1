"""Stand-ins for hardware: they keep what they were told."""
