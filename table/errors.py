"""The one exception for input that cannot be used; its text is one line made for people."""

from __future__ import annotations


class InputError(ValueError):
    """What was expected, what came, where, and what to do, in one line.  The command line exits with 2 on it."""
