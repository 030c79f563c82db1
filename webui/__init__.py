"""The web panel, the players' user interface; it changes the session by commands only.

Each application is imported on demand, since most import OpenCV and SciPy.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from webui.app import create_app
    from webui.pages.calibration import create_corners_app, create_lens_app
    from webui.pages.first_setup import create_first_set_up_app
    from webui.pages.game_setup import create_set_up_app
    from webui.pages.history import create_history_app
    from webui.pages.home import create_home_app
    from webui.pages.measurement import create_ruler_app
    from webui.pages.photo import create_photo_app

__all__ = [
    "create_app",
    "create_corners_app",
    "create_first_set_up_app",
    "create_history_app",
    "create_home_app",
    "create_lens_app",
    "create_photo_app",
    "create_ruler_app",
    "create_set_up_app",
]

_MODULES = {
    "create_app": "webui.app",
    "create_corners_app": "webui.pages.calibration",
    "create_first_set_up_app": "webui.pages.first_setup",
    "create_history_app": "webui.pages.history",
    "create_home_app": "webui.pages.home",
    "create_lens_app": "webui.pages.calibration",
    "create_photo_app": "webui.pages.photo",
    "create_ruler_app": "webui.pages.measurement",
    "create_set_up_app": "webui.pages.game_setup",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'webui' has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)
