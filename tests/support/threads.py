"""Threads of the product, by their names."""

from __future__ import annotations

import threading


def running(name: str) -> bool:
    """Does a thread of this name run?"""
    return any(thread.name == name for thread in threading.enumerate())
