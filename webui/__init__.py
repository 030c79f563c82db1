"""The panel: what the players look at and touch; it changes the session by commands only."""

from webui.app import create_app, create_history_app
from webui.pages.calibration import create_corners_app, create_lens_app
from webui.pages.game_setup import create_set_up_app
from webui.pages.measurement import create_ruler_app
from webui.pages.photo import create_photo_app

__all__ = [
    "create_app",
    "create_corners_app",
    "create_history_app",
    "create_lens_app",
    "create_photo_app",
    "create_ruler_app",
    "create_set_up_app",
]
