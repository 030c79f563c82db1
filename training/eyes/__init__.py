"""One network for all that lies on the table; see docs/EYES.md."""
