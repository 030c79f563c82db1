"""Accuracy of a calibration, in mm."""
