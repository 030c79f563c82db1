"""Tables with people's corrections, for pieces that the camera reads wrongly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from referee.sessions.judged_tables import JudgedTables
from referee.sessions.misreadings import Misread, apply_corrections
from referee.sessions.state import SessionState
from table.observation import Observation, SeenPiece
from table.table_config import Setup


def table_before(
    ruled_on: JudgedTables[Observation], ledger: SessionState, setup: Setup
) -> Observation | None:
    """Return the table of the last ruling, with people's corrections.

    None as in `JudgedTables.before`.
    """
    before = ruled_on.before(ledger)
    return (
        before
        if before is None or not ledger.misread
        else apply_corrections(before, ledger.misread, {}, setup).table
    )


class PieceCorrections:
    """Applies people's corrections to every observation.

    A reading that the change gate repeats stays the same object.
    """

    def __init__(self) -> None:
        self._ledger: SessionState | None = None
        self._misread: tuple[Misread, ...] = ()
        self._colours: Mapping[str, str] = {}
        self._read: tuple[SeenPiece, ...] | None = None
        self._pieces: tuple[SeenPiece, ...] = ()
        self.there: tuple[Misread, ...] = ()
        """Corrections of pieces on the current table, at their current places."""
        self.lost: tuple[Misread, ...] = ()
        """Corrections of pieces that have left the place of the last ruling."""

    @property
    def has_corrections(self) -> bool:
        """True if people corrected any piece."""
        return bool(self._misread)

    def on(self, seen: Observation, ledger: SessionState, setup: Setup) -> Observation:
        """Return the observation with people's corrections."""
        if ledger is not self._ledger:
            misread, colours = ledger.misread, ledger.colours_misread
            if (misread, colours) != (self._misread, self._colours):
                self._read = None
            self._ledger, self._misread, self._colours = ledger, misread, colours
        if not (self._misread or self._colours):
            self.there = self.lost = ()
            return seen
        if seen.pieces is not self._read:
            found = apply_corrections(seen, self._misread, self._colours, setup)
            self._read, self._pieces, self.there, self.lost = (
                seen.pieces,
                found.table.pieces,
                found.there,
                found.lost,
            )
        return replace(seen, pieces=self._pieces)
