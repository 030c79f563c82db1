"""The panel: what the players look at and touch.  It changes nothing but by sending the session a command."""

from webui.app import create_app
from webui.guides import create_corners_app, create_lens_app

__all__ = ["create_app", "create_corners_app", "create_lens_app"]
