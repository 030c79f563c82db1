"""Tables of Icebreaker, for all its tests."""

from tests.support.icebreaker import tables

__all__ = ["tables"]
