"""Stand-ins for the ports of the home page and the set-up, which only record calls."""

from __future__ import annotations

from dataclasses import replace

from calibration.first_setup import CameraChoice, FirstSetUpNow
from table.errors import InputError
from webui.interfaces import DeviceFound, HomeNow


class StandInHome:
    """A home page port that starts nothing and records requests."""

    def __init__(self):
        self.now, self.asked = HomeNow(), []

    def look(self):
        return self.now

    def taught(self):
        return ["icebreaker"]

    def games(self):
        return ("ice_boule", "icebreaker")

    def devices(self):
        return (
            DeviceFound("camera", "HD Webcam", "", "v4l2:0"),
            DeviceFound("lamps", "wled", "no answer"),
        )

    def picture(self, camera):
        self.asked.append(("picture", camera))
        return b"\xff\xd8 picture" if camera == "v4l2:0" else None

    def start(self, activity, game=""):
        if game == "halma":
            raise InputError("expected a game, got 'halma'")
        self.asked.append((activity, game))

    def cancel(self):
        self.asked.append("cancel")

    def shut_down(self):
        self.now = HomeNow(over=True)


class StandInSetUp:
    """A set-up port that only records calls."""

    def __init__(self):
        self.now, self.asked = FirstSetUpNow("camera", (CameraChoice("v4l2:0", "Webcam <9>"),)), []

    def look(self):
        return self.now

    def become(self, **changed):
        self.now = replace(self.now, **changed)

    def jpeg(self, spec=""):
        return b"\xff\xd8 " + (spec or "chosen").encode()

    def checked(self):
        return None

    def choose_camera(self, spec):
        self._do("camera", spec)

    def choose_sheet(self, sheet):
        self._do("sheet", sheet)

    def printed(self, board):
        self._do("printed", board)

    def measure(self):
        self._do("measure")

    def back(self, step):
        self._do("back", step)

    def _do(self, *what):
        if "bad" in what:
            raise InputError("expected something else, got 'bad'")
        self.asked.append(what)
