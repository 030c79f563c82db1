"""The referee at work: from frames to verdicts, with what it watches meanwhile."""
