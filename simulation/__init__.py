"""Games that are drawn and played by the computer: the demo, and test data."""
