"""Sheets to print: fiducials, boards and the lens target."""
