"""What lies on boards besides pyramids: tiles and counters."""
