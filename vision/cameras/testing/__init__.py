"""Doubles of cameras."""
