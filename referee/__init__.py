"""From observations to verdicts that are on record."""
