"""Serial devices for the commands that use them."""

from tests.support.serial_devices import plugged, wled

__all__ = ["plugged", "wled"]
