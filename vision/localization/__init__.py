"""Camera localization: fiducials, their edges and corners, and the pose."""
