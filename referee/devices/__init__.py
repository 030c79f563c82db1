"""Lamps, dice and buttons wired to a session."""
