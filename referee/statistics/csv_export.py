"""Export games and throws as CSV, for spreadsheets: one row per game, one per throw."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path

from referee.sessions.private_files import OWNER_FILE
from referee.statistics.results import PlayedGame
from table.errors import InputError
from table.files import write_whole
from table.measured_text import called, time_utc
from table.messages import msg
from table.pieces import COLOURS
from table.text import printable

Cell = str | int | float | None
FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""Prefixes of formulas in a spreadsheet, with their full-width forms; they may do harm (OWASP, "CSV
Injection").
"""
GAMES = (
    "session",
    "game",
    "game_number",
    "begun_utc",
    "players",
    "winner",
    "finished",
    "simulated",
)
THROWS = (
    "session",
    "game_number",
    "record",
    "time_utc",
    "clock_ms",
    "player",
    "size",
    "came_to_rest",
    "gap_mm",
    "sigma_mm",
    "leading",
    "decided_by",
)


def write_scores(path: Path, games: Sequence[PlayedGame]) -> None:
    """Write one row per game, with a column of points for every colour played.

    Raises InputError.
    """
    colours = [colour for colour in COLOURS if any(colour in played.players for played in games)]
    points = (f"score_{colour}_points" for colour in colours)
    _write(path, (*GAMES, *points), (_game(played, colours) for played in games))


def write_gaps(path: Path, games: Sequence[PlayedGame]) -> int:
    """Write one row per throw whose distance counts; returns their number.

    sigma_mm is one standard deviation. Raises InputError.
    """
    rows = [row for played in games for row in _throws(played)]
    _write(path, THROWS, rows)
    return len(rows)


def _game(played: PlayedGame, colours: Iterable[str]) -> list[Cell]:
    players, winners = (
        ", ".join(called(colour, played.names) for colour in group)
        for group in (played.players, played.winners)
    )
    row: list[Cell] = [
        played.session,
        played.game,
        played.number,
        played.begun_utc,
        players,
        winners,
    ]
    return [
        *row,
        _yes_or_no(played.over),
        _yes_or_no(played.simulated),
        *(played.scores.get(colour) for colour in colours),
    ]


def _throws(played: PlayedGame) -> Iterable[list[Cell]]:
    for thrown in played.throws:
        lie = thrown.lie
        rest = (
            "out of play"
            if lie is None
            else "on the target"
            if lie.on_target
            else "touching"
            if not lie.gap_mm
            else "in play"
        )
        gap_mm = None if lie is None or lie.on_target or not lie.measured else f"{lie.gap_mm:.2f}"
        sigma_mm = None if thrown.sigma_mm is None else f"{thrown.sigma_mm:.3f}"
        place: list[Cell] = [
            played.session,
            played.number,
            thrown.record,
            time_utc(thrown.at_ms),
            thrown.at_ms,
        ]
        leading = called(thrown.leading, played.names) if thrown.leading else None
        decided_by = "people" if thrown.by_people else "camera"
        yield [
            *place,
            called(thrown.player, played.names),
            thrown.size,
            rest,
            gap_mm,
            sigma_mm,
            leading,
            decided_by,
        ]


def _yes_or_no(value: bool) -> str:
    return "yes" if value else "no"


def csv_bytes(headings: Sequence[str], rows: Iterable[Sequence[Cell]]) -> bytes:
    """Return a table as CSV in UTF-8, with the byte order mark that spreadsheets expect."""
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(headings)
    writer.writerows([_harmless(cell) for cell in row] for row in rows)
    return text.getvalue().encode("utf-8-sig")


def _write(path: Path, headings: Sequence[str], rows: Iterable[Sequence[Cell]]) -> None:
    """Write a file whole or not at all."""
    if path.suffix.lower() != ".csv":
        raise InputError(
            msg(
                "{path}: expected a name that ends in {raw}, got {raw2}",
                path=path,
                raw=".csv",
                raw2=repr(path.name),
            )
        )
    write_whole(path, csv_bytes(headings, rows), OWNER_FILE)


def _harmless(cell: Cell) -> Cell:
    if not isinstance(cell, str):
        return cell
    text = printable(cell)  # first, as a spreadsheet may ignore control characters before a formula
    return f"'{text}" if text.lstrip(" \u00a0\ufeff\ufffd").startswith(FORMULA) else text
