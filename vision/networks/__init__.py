"""Neural networks: detector, keypoints, pose refinement and verification, and their runtime."""
