"""Lens calibration: views of a target, the fit, its file, and live guidance."""
