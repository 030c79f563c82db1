"""Fake devices that record what they are told."""
