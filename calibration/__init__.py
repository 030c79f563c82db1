"""Calibration: lens, table and colours, as vision needs them, and their accuracy."""
