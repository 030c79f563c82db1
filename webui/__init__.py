"""The panel: what the players look at and touch.  It changes nothing but by sending the session a command."""

from webui.app import create_app

__all__ = ["create_app"]
