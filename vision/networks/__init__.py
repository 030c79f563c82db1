"""The neural networks: what finds pieces, their keypoints and poses, and the runtime that runs
them.
"""
