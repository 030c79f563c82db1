"""Check during a game that cards, board and camera are where `table.json` says.

Measures the table again on request.
"""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Literal, Protocol, get_args

from calibration.table.drift import DriftCheck
from referee.sessions.events import TableChecked
from table.errors import InputError
from table.messages import as_sentence, msg, phrase, sentences
from table.observation import Camera, Observation, Unusable
from table.table_config import Setup, table_document
from table.table_file import TableFile
from vision.cameras.frame import Image

NO_RULINGS = msg("No rulings until that is put back or the table is measured again.")
PLAYED_ON = msg("Playing on anyway: lengths may be wrong by that much.")
HARMLESS = msg("No harm done: the markers show its new position, and lengths stay correct.")
SOON = msg("The table will be measured again once it is at rest and no hand is over it.")
DECIDED_BY = "players"

TableRequest = Literal["redo", "play on"]
"""Measure the table again, or play on although something was moved."""
TABLE_REQUESTS: tuple[TableRequest, ...] = get_args(TableRequest)


class Check(Protocol):
    """`calibration.table.drift.recheck`."""

    def __call__(self, image: Image, setup: Setup, before: Camera | None = None) -> DriftCheck:
        """As `calibration.table.drift.recheck`."""


class Remeasure(Protocol):
    """`calibration.table.remeasure.remeasure_cards`."""

    def __call__(self, image: Image, setup: Setup) -> tuple[Setup, DriftCheck]:
        """As `calibration.table.remeasure.remeasure_cards`."""


class HardToSee(Protocol):
    """`calibration.table.ground_colours.colour_warnings`."""

    def __call__(self, image: Image, camera: Camera, setup: Setup) -> tuple[str, ...]:
        """As `calibration.table.ground_colours.colour_warnings`."""


class TableMonitor:
    """Checks the table whenever the camera's pose was estimated anew.

    Then the camera or a card has moved, or a card was covered. Requests are done at the next table
    at rest. `look` belongs to one thread; everything else may be called from any.
    """

    def __init__(
        self, file: TableFile, check: Check, remeasure: Remeasure, hard_to_see: HardToSee
    ) -> None:
        """A new measurement replaces the table of `file`."""
        self._file, self._check, self._remeasure = file, check, remeasure
        self._hard_to_see: HardToSee | None = hard_to_see
        """None after the first call."""
        self._checked_at: Camera | str | None = None
        """Camera's pose at the last check, or why the table could not be read."""
        self._last = DriftCheck()
        self._usual: Camera | None = None
        """Reference pose of the camera."""
        self._accepted: frozenset[int | str] = frozenset()
        """Moved things that people have accepted."""
        self._refusal = ""
        self._lock = threading.Lock()
        self._request: TableRequest | None = None

    @property
    def setup(self) -> Setup:
        """The table as it is to be read now."""
        return self._file.setup

    def request_table(self, request: TableRequest) -> None:
        """Set the request, in place of an earlier one."""
        with self._lock:
            self._request = request

    @property
    def has_unaccepted_change(self) -> bool:
        """True if something was moved and people have not accepted it: lengths are not reliable."""
        return bool(_moved_things(self._last) - self._accepted)

    @property
    def message(self) -> tuple[str, ...]:
        """Sentences on what was moved, and the consequences."""
        elsewhere = tuple(map(as_sentence, self._last.elsewhere))
        meaning = (NO_RULINGS if self.has_unaccepted_change else PLAYED_ON,) if elsewhere else ()
        camera: tuple[str, ...] = ()
        if self._last.camera_mm:
            of_camera = replace(self._last, cards_mm={}, board_mm=None, reason="")
            camera = (*map(as_sentence, of_camera.message), HARMLESS)
        refusal = (self._refusal,) if self._refusal else ()
        soon = (SOON,) if self._request == "redo" else ()
        return (*elsewhere, *meaning, *camera, *refusal, *soon)

    def look(self, image: Image, seen: Observation | Unusable) -> TableChecked | None:
        """Check a table at rest, or one that cannot be read, and do what was requested.

        Returns an event if something was moved or put back, or a request was done.
        """
        with self._lock:
            request, self._request = self._request, None
        place = seen.camera if isinstance(seen, Observation) else seen.reason
        known = place is self._checked_at or (isinstance(place, str) and place == self._checked_at)
        if request is None and known:
            return None
        self._checked_at = place
        if request == "play on":
            return self._accept_table()
        event = self._compare(image)
        return (self._measure_again(image) or event) if request == "redo" else event

    def look_for_hidden_colours(self, image: Image, camera: Camera) -> TableChecked | None:
        """On the first call, return an event if the board hides pieces of a colour in play."""
        ask, self._hard_to_see = self._hard_to_see, None
        message = ask(image, camera, self.setup) if ask is not None else ()
        return TableChecked(message=sentences(*message)) if message else None

    def _compare(self, image: Image) -> TableChecked | None:
        """Check the places; returns an event if other things than before are moved."""
        before, now = self._last, self._check(image, self.setup, self._usual)
        if now.camera is None and not now.elsewhere:
            return None
        self._last, self._refusal = _with_covered(before, now), ""
        self._usual = self._usual or now.camera
        things = _moved_things(self._last)
        self._accepted &= things
        if things == _moved_things(before):
            return None
        again = (msg("The corner cards and the board are back in place."),)
        return TableChecked(message=sentences(*(self.message if things else again)))

    def _accept_table(self) -> TableChecked | None:
        if not self.has_unaccepted_change:
            return None
        self._accepted, self._refusal = _moved_things(self._last), ""
        return TableChecked(message=sentences(*self.message), decided_by=DECIDED_BY)

    def _measure_again(self, image: Image) -> TableChecked | None:
        """Measure cards and board again.

        If nothing was moved, only the camera's pose becomes the reference.
        """
        if not self._last.elsewhere:
            self._usual = self._last.camera
            self._last = replace(self._last, camera_mm=None)
            return None
        try:
            setup, moved = self._remeasure(image, self.setup)
            self._file.replace(setup)
        except InputError as error:
            self._refusal = msg(
                "The table could not be measured again, so the old positions stay: {text}.",
                text=error.message,
            )
            return None
        self._usual = moved.camera
        self._last, self._accepted, self._refusal = DriftCheck(camera=moved.camera), frozenset(), ""
        nothing = phrase("nothing has moved")
        message = sentences(
            msg("The table was measured again: {text}.", text=[*moved.elsewhere] or nothing),
            msg("The new positions are used from now on."),
        )
        return TableChecked(message=message, table=table_document(setup), decided_by=DECIDED_BY)


def _moved_things(checked: DriftCheck) -> frozenset[int | str]:
    """Moved things: cards by id, the board."""
    return frozenset((*checked.cards_mm, *(("board",) if checked.board_mm is not None else ())))


def _with_covered(before: DriftCheck, now: DriftCheck) -> DriftCheck:
    """Return the check with covered cards taken to lie as they did before."""
    shown = now.camera.fiducials_seen if now.camera else ()
    covered = {
        card: by_mm
        for card, by_mm in before.cards_mm.items()
        if card not in now.cards_mm and card not in shown
    }
    return replace(now, cards_mm=now.cards_mm | covered)
