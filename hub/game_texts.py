"""Games of a club or an event as replayable text (docs/FORMATS.md)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from hub.events import Event
from hub.matches import Settled
from hub.played import PlayedGames
from hub.standings import HubGame
from referee.sessions.game_text import GameText, write_games
from table.measured_text import time_utc


def event_text(event: Event, played: PlayedGames) -> str:
    """Games played at tables for an event's matches, in match order."""
    return write_games(_event_texts(event, played))


def match_text(event: Event, one: Settled, played: PlayedGames) -> str:
    """The game of a match; empty if there is none."""
    return write_games(_match_texts(event, [one], played))


def club_text(events: Iterable[Event], games: Iterable[HubGame], played: PlayedGames) -> str:
    """All finished games of a club, those of events first, newest event first."""
    found: list[GameText] = []
    counted: set[tuple[str, int]] = set()
    for event in events:
        found += _event_texts(event, played)
        own = (one.game for one in event.matches if one.game is not None)
        counted |= {(game.log_id, game.result.seq) for game in own}
    others = (one for one in games if (one.log_id, one.result.seq) not in counted)
    found += [text for one in others if (text := _text(one, played)) is not None]
    return write_games(found)


def _event_texts(event: Event, played: PlayedGames) -> list[GameText]:
    return _match_texts(event, event.matches, played)


def _match_texts(event: Event, matches: Iterable[Settled], played: PlayedGames) -> list[GameText]:
    found = []
    for one in matches:
        text = _text(one.game, played) if one.game is not None else None
        if text is not None:
            round_ = "" if event.format == "free" else str(one.match.round)
            found.append(replace(text, event=event.name, round=round_))
    return found


def _text(game: HubGame, played: PlayedGames) -> GameText | None:
    """Text of a finished game, with its players' current names."""
    again = played.of(game) if game.result.over else None
    if again is None or again.text is None:
        return None
    return replace(
        again.text,
        names=dict(game.result.names),
        site=game.table,
        date=time_utc(game.began_ms)[:10],
    )
