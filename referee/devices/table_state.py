"""State of a table for home automation: whose turn it is, scores, the last ruling, errors.

It contains only what the panel shows to everybody: no hidden vote, no record, no picture. The
format is version 1 of docs/MQTT.md. Removing or redefining a field makes a new version, adding one
does not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

import msgspec

from hardware.scoreboard import Score, Scoreboard
from referee.presentation.headlines import headline_sentence, layers
from referee.presentation.session_view import Phase, Ruling, SessionView, Verdict
from referee.presentation.shown_games import title
from referee.sessions.status import TROUBLE, RefereeStatus
from table.languages import Language, translation
from table.messages import Message, Word, split_first


class Points(msgspec.Struct, frozen=True, kw_only=True):
    """A player, by colour, and their points in this game."""

    player: str
    name: str
    points: int | float


class LastRuling(msgspec.Struct, frozen=True, kw_only=True):
    """The last ruling: its headline, and the whole text.

    `seq` is its record, 0 before the first; `by_hand`: people decided it.
    """

    seq: int = 0
    verdict: Ruling | Literal[""] = ""
    player: str = ""
    headline: str = ""
    text: str = ""
    by_hand: bool = False


class TableState(msgspec.Struct, frozen=True, kw_only=True):
    """A table. Texts are in its language, `player` and `players` are colours in English.

    `turn` is empty where it is nobody's turn, `question` where none is open, `trouble` where
    everything can be seen, `outcome` until the game is over.
    """

    version: int = 1
    game: str
    game_number: int
    phase: Phase
    player: str
    turn: str
    scores: tuple[Points, ...]
    ruling: LastRuling
    question: str
    trouble: str
    outcome: str


class RulingEvent(LastRuling, frozen=True, kw_only=True):
    """A ruling as it is made; `event_type` is its `verdict`, as Home Assistant asks for it."""

    event_type: str


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a command; `text` says why it was not done."""

    command: str
    done: bool
    text: str = ""


def table_state(
    view: SessionView, status: RefereeStatus, language: Language, names: bool
) -> TableState:
    """Return the state of a table in a language; players by their own `names`, or by colour."""
    people = view.names if names else {}
    player = "" if view.phase in ("over", "ended") else (view.next or "")
    return TableState(
        game=title(view.game),
        game_number=view.game_number,
        phase=view.phase,
        player=player,
        turn=_player_name(player, people, language),
        scores=tuple(
            Points(
                player=one, name=_player_name(one, people, language), points=view.scores.get(one, 0)
            )
            for one in (view.players if view.scores else ())
        ),
        ruling=_ruling(view.verdicts[0], view, language) if view.verdicts else LastRuling(),
        question=translation(view.question.message, language) if view.question else "",
        trouble=translation(_problem_text(status), language),
        outcome=translation(view.outcome or "", language),
    )


def scoreboard(view: SessionView, status: RefereeStatus, language: Language) -> Scoreboard:
    """Return the scoreboard for an output, with people's names."""
    now = table_state(view, status, language, names=True)
    scores = tuple(Score(one.player, one.name, one.points) for one in now.scores)
    headline = now.ruling.headline
    return Scoreboard(now.game, scores, now.player, headline, now.outcome, now.trouble)


def ruling_events(view: SessionView, after: int, language: Language) -> Iterator[RulingEvent]:
    """Return the rulings after record `after`, oldest first."""
    for verdict in reversed(view.verdicts):
        if verdict.seq > after:
            ruling = _ruling(verdict, view, language)
            yield RulingEvent(event_type=verdict.verdict, **msgspec.structs.asdict(ruling))


def _ruling(verdict: Verdict, view: SessionView, language: Language) -> LastRuling:
    # The headline of an older ruling is unknown, as the state has changed since.
    newest = verdict is view.verdicts[0]
    headline = layers(verdict, view)[0] if newest else split_first(headline_sentence(verdict))[0]
    return LastRuling(
        seq=verdict.seq,
        verdict=verdict.verdict,
        player=verdict.player or "",
        headline=translation(headline, language),
        text=translation(verdict.message, language),
        by_hand=verdict.decided_by is not None,
    )


def _problem_text(status: RefereeStatus) -> str:
    if status.error:
        return status.error
    return status.message if status.status in TROUBLE else ""


def _player_name(player: str, people: Mapping[str, str], language: Language) -> str:
    """A player's own name, or else the capitalized colour."""
    if not player:
        return ""
    word = translation(Message(Word(player)), language)
    return people.get(player) or word[:1].upper() + word[1:]
