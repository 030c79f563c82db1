"""Annotated photographs, and images of the stages of reading."""
