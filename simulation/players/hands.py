"""People at a simulated table, in any game: moving arms, and messages to the referee.

Everything happens one step a frame.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, Protocol

import numpy as np

from referee.sessions.commands import Command
from simulation.render.scene import ALBEDO, SKINS, Limb, Rgb, reaching_arm
from table.errors import InputError
from table.solids import Array
from table.table_config import Setup

logger = logging.getLogger(__name__)

REACH_MS = 450
"""Time in which an arm comes or goes."""
WHO = "simulated players"

Steps = Iterator[None]


class SessionInput(Protocol):
    """Receives input that the camera cannot see: a `referee.sessions.session.Session`."""

    def command(self, command: Command) -> Any:
        """Send a command to the referee; raises InputError."""


class PlayerHands:
    """The players' arms and their clock, which is the camera's.

    A script of acts is an iterator that is advanced once a frame, after `look_up`.
    """

    def __init__(self, session_input: SessionInput, setup: Setup) -> None:
        self.setup, self._input = setup, session_input
        self.limbs: tuple[Limb, ...] = ()
        self.now_ms = 0
        self._last_ms = 0
        self._hand_mm: Array | None = None

    def look_up(self, at_ms: int) -> None:
        """Set the time; times must not go back."""
        self._last_ms, self.now_ms = self.now_ms, at_ms

    def go_on(self, script: Steps, again: Callable[[], Steps]) -> Steps:
        """Take one step of a script, and return the script to continue with.

        If it fails, all arms go and the script `again` begins, so that the referee goes on.
        """
        try:
            next(script)
        except Exception:
            logger.info("the simulated players failed", exc_info=True)
            self.leave()
            return again()
        return script

    def say(self, command: Command) -> None:
        """Send a command to the referee.

        A command that no longer fits, because people at the panel were faster, is dropped.
        """
        with suppress(InputError):
            self._input.command(command)

    def wait(self, wait_ms: int) -> Steps:
        """Do nothing for this time."""
        began_ms = self.now_ms
        while self.now_ms - began_ms < wait_ms:
            yield

    def seat_mm(self, player: str) -> Array:
        """The player's place at the near edge, (2,)."""
        colours = self.setup.game.colours
        low, high = self.setup.outline_mm().min(axis=0), self.setup.outline_mm().max(axis=0)
        share = (colours.index(player) + 1) / (len(colours) + 1)
        return np.array([low[0] + share * (high[0] - low[0]), low[1]])

    def reach(self, player: str, to_mm: Array | None, lasting_ms: int = REACH_MS) -> Steps:
        """Move an arm to a place (3,), or away, from its present place or from outside.

        The step in which it arrives is not taken.
        """
        seat = self.seat_mm(player)
        away = np.array([seat[0], seat[1] - 330.0, 90.0])
        start = away if self._hand_mm is None else self._hand_mm
        goal = away if to_mm is None else to_mm
        began_ms = self._last_ms
        while (share := (self.now_ms - began_ms) / lasting_ms) < 1:
            eased = share * share * (3 - 2 * share)
            self.limbs = self.arm(player, start + eased * (goal - start))
            yield
        if to_mm is None:
            self.leave()
        else:
            self.limbs, self._hand_mm = self.arm(player, goal), goal

    def leave(self) -> None:
        """Remove every arm at once."""
        self.limbs, self._hand_mm = (), None

    def arm(self, player: str, tip_mm: Array) -> tuple[Limb, ...]:
        """The arm of a player from the player's seat, with the hand at a place (3,)."""
        index = self.setup.game.colours.index(player)
        seat = self.seat_mm(player)
        heading = math.degrees(
            math.atan2(float(tip_mm[1] - seat[1] + 700), float(tip_mm[0] - seat[0]))
        )
        r, g, b = (0.25 * share + 0.02 for share in ALBEDO[player])
        sleeve: Rgb = (r, g, b)
        return reaching_arm(tip_mm, heading, SKINS[index % len(SKINS)], sleeve)
