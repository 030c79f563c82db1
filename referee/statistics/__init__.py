"""What the records of an evening add up to."""
