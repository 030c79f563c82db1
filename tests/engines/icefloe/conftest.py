"""Tables of IceFloe, for all its tests."""

from tests.support.icefloe import pond, tables

__all__ = ["pond", "tables"]
