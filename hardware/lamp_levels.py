"""Levels of a few lamps: one per player in turn order, and one for the verdict."""

from __future__ import annotations

from typing import NamedTuple

from hardware.cues import LAMP_RGB, TUNES, Cue, Rgb

WHITE: Rgb = (255, 255, 255)
LEADER_LEVEL = 0.25
"""Level of the leader's lamp during another player's turn, 0 to 1."""


class Lantern(NamedTuple):
    """One lamp: its colour, ignored by lamps of a single colour, and its level, 0 to 1."""

    rgb: Rgb
    level: float

    @property
    def lit(self) -> Rgb:
        """The colour at this level, each channel 0 to 255."""
        red, green, blue = (round(part * self.level) for part in self.rgb)
        return red, green, blue


def lanterns(cue: Cue, since_ms: float, players: int) -> tuple[Lantern, ...]:
    """Lamps of the players, then the verdict's, `since_ms` after the cue began."""
    cue, at_ms = cue.at(since_ms)
    lit = []
    for seat in range(players):
        colour = cue.players[seat] if seat < len(cue.players) else ""
        level = LEADER_LEVEL if colour and colour == cue.leader else 0.0
        if colour in cue.of:
            level = cue.rhythm.level(at_ms + phase_ms(cue, colour))
        lit.append(Lantern(LAMP_RGB.get(colour, WHITE), level))
    level = 0.0 if cue.signal == "turn" else cue.rhythm.level(at_ms)
    return (*lit, Lantern(TUNES[cue.signal].rgb or WHITE, level))


def phase_ms(cue: Cue, colour: str) -> float:
    """Phase shift in ms of a player's lamp, so that players too close to call alternate.

    0 for all other signals.
    """
    return (
        cue.rhythm.period_ms * cue.of.index(colour) / len(cue.of)
        if cue.signal == "too close"
        else 0.0
    )
