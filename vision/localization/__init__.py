"""Where the camera is: fiducials, their edges and corners, and the pose that they give."""
