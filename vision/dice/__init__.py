"""Dice read in the picture."""
