"""Table calibration: measure where fiducials and the board lie, and watch for drift."""
