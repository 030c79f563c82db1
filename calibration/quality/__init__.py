"""How good a calibration is, in mm."""
