"""Whether cards, board and camera are where `table.json` says, all through a game; and the table
measured anew when people want it.
"""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path
from typing import Literal, Protocol, get_args

from calibration.lens.file import keep_last
from calibration.table.drift import Checked
from referee.sessions.events import TableChecked
from table.errors import InputError
from table.observation import Camera, Observation, Unusable
from table.table_config import Setup, save_table, table_document
from vision.cameras.frame import Image

HOLDS = "Nothing is ruled until that is put back, or the table is measured anew."
PLAYED_ON = "Played on all the same: lengths may be wrong by as much."
HARMLESS = "That does no harm: the fiducials tell its new place, and lengths hold."
SOON = "The table is measured anew as soon as it is at rest and no hand is over it."
DECIDED_BY = "players"

TableRequest = Literal["redo", "play on"]
TABLE_REQUESTS: tuple[TableRequest, ...] = get_args(TableRequest)


class Check(Protocol):
    """`calibration.table.drift.recheck`."""

    def __call__(self, image: Image, setup: Setup, before: Camera | None = None) -> Checked: ...


class Redo(Protocol):
    """`calibration.table.remeasure.redo`."""

    def __call__(self, image: Image, setup: Setup) -> tuple[Setup, Checked]: ...


class TableMonitor:
    """Looks whenever the camera's place had to be found anew, for then it has moved, or a card has,
    or one was covered.

    `setup` is the table as it is to be read now.  What people wish is done at the next table at
    rest.  `look` belongs to one thread; everything else is safe from any.
    """

    def __init__(self, setup: Setup, path: Path, check: Check, redo: Redo) -> None:
        """A table that is measured anew is written to `path`; what was there is kept beside it."""
        self.setup = setup
        self._path, self._check, self._redo = path, check, redo
        self._looked_at: Camera | str | None = None
        self._last = Checked()
        self._base: Camera | None = None
        self._accepted: frozenset[int | str] = frozenset()
        self._refusal = ""
        self._lock = threading.Lock()
        self._wish: TableRequest | None = None

    def wish(self, wish: TableRequest) -> None:
        """People want the table measured anew, or to play on although something lies elsewhere."""
        with self._lock:
            self._wish = wish

    @property
    def holds(self) -> bool:
        """Does something lie elsewhere that people have not taken as it is?  Lengths cannot be
        trusted then.
        """
        return bool(_things(self._last) - self._accepted)

    @property
    def said(self) -> tuple[str, ...]:
        """What is not where it was, and what that means, in sentences."""
        elsewhere = tuple(map(_sentence, self._last.elsewhere))
        meaning = (HOLDS if self.holds else PLAYED_ON,) if elsewhere else ()
        camera = (
            (
                *map(_sentence, replace(self._last, cards_mm={}, board_mm=None, reason="").said),
                HARMLESS,
            )
            if self._last.camera_mm
            else ()
        )
        soon = (SOON,) if self._wish == "redo" else ()
        return (*elsewhere, *meaning, *camera, *((self._refusal,) if self._refusal else ()), *soon)

    def look(self, image: Image, seen: Observation | Unusable) -> TableChecked | None:
        """The fact that follows from a table at rest, or from one that cannot be read: something
        lies elsewhere, or no longer; or a wish was done.
        """
        with self._lock:
            wish, self._wish = self._wish, None
        place = seen.camera if isinstance(seen, Observation) else seen.reason
        known = place is self._looked_at or (isinstance(place, str) and place == self._looked_at)
        if wish is None and known:
            return None
        self._looked_at = place
        if wish == "play on":
            return self._play_on()
        news = self._look(image)
        return self._measure_anew(image) if wish == "redo" else news

    def _look(self, image: Image) -> TableChecked | None:
        before, now = self._last, self._check(image, self.setup, self._base)
        if now.camera is None and not now.elsewhere:
            return None
        self._last, self._refusal = _with_covered(before, now), ""
        self._base = self._base or now.camera
        things = _things(self._last)
        self._accepted &= things
        if things == _things(before):
            return None
        said = self.said if things else ("Cards and board lie where they did again.",)
        return TableChecked(said=" ".join(said))

    def _play_on(self) -> TableChecked | None:
        if not self.holds:
            return None
        self._accepted, self._refusal = _things(self._last), ""
        return TableChecked(said=" ".join(self.said), decided_by=DECIDED_BY)

    def _measure_anew(self, image: Image) -> TableChecked | None:
        """Cards and board measured anew; where nothing lies elsewhere, the camera's place alone is
        taken for the usual one.
        """
        if not self._last.elsewhere:
            self._base = self._last.camera
            self._last = replace(self._last, camera_mm=None)
            return None
        try:
            setup, moved = self._redo(image, self.setup)
            keep_last(self._path)
            save_table(setup, self._path)
        except InputError as error:
            self._refusal = f"The table could not be measured anew and stays as it was: {error}."
            return None
        self.setup, self._base = setup, moved.camera
        self._last, self._accepted, self._refusal = Checked(camera=moved.camera), frozenset(), ""
        changed = (
            ", and ".join(moved.elsewhere)
            or "nothing lies farther from where it was than can be told"
        )
        said = f"The table was measured anew: {changed}. It is read by the new places from here on."
        return TableChecked(said=said, table=table_document(setup), decided_by=DECIDED_BY)


def _things(checked: Checked) -> frozenset[int | str]:
    """What lies elsewhere: cards by id, the board."""
    return frozenset((*checked.cards_mm, *(("board",) if checked.board_mm is not None else ())))


def _with_covered(before: Checked, now: Checked) -> Checked:
    """What is not where it was: a card that is covered now is taken to lie as it lay."""
    shown = now.camera.fiducials_seen if now.camera else ()
    covered = {
        card: by_mm
        for card, by_mm in before.cards_mm.items()
        if card not in now.cards_mm and card not in shown
    }
    return replace(now, cards_mm=now.cards_mm | covered)


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}."
