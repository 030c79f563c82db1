"""Cameras, poses and colours as geometry: projection, rectified views, uncertainty."""
