"""Rinkside as a systemd service: the unit, its installation, and notifications."""
