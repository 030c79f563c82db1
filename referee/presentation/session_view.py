"""What pages and programs are shown of a session: the shape of `/api/v1/state`.

Sentences are in English; those that are a `Message` can be written in other languages too.  Lengths
are in mm, `sigma_mm` is one standard deviation, `seq` the number of a record in the log, and
`at_ms` the camera's clock at that record.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from engines import GAMES
from engines.board_marks import Mark, Option
from engines.game_document import Announcement, EndDocument, GameDocument
from engines.house_rules import HouseRule
from hardware.cues import Signal
from table.json_data import JsonObject
from table.messages import Message
from table.observation_document import Gap, ObservationDocument

__all__ = ["Announcement", "GameDocument", "Mark", "Option", "SessionView"]

Phase = Literal["playing", "asking", "paused", "over", "ended"]
"""`over`: this game is; `ended`: the session is."""
Kind = Literal[
    "ruled",
    "noted",
    "asked",
    "answered",
    "corrected",
    "undone",
    "declared",
    "appealed",
    "upheld",
    "resigned",
    "table",
    "begun",
]
Ruling = Literal[
    "accepted",
    "refused",
    "cannot_see",
    "out_of_sync",
    "waiting",
    "noted",
    "ambiguous",
    "by hand",
    "table",
]
"""What the referee decided; `ambiguous`: it asks; `by hand`: people decided; `table`: something
lies elsewhere.
"""


class Clause(msgspec.Struct, frozen=True, kw_only=True, rename={"text": "said"}):
    """A section of the printed rules, or a ruling, in our own words."""

    name: str
    text: str


class Alternative(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that may have happened, and the moves that it stands for."""

    label: Message
    moves: tuple[str, ...]


class Question(msgspec.Struct, frozen=True, kw_only=True, rename={"message": "said"}):
    """What only people can decide; `frame` is the record whose picture it rests on."""

    seq: int
    at_ms: int
    code: str
    player: str | None
    message: Message
    rests_on: str
    clauses: tuple[Clause, ...]
    choices: tuple[Alternative, ...]
    evidence: JsonObject
    frame: int | None


class Decision(msgspec.Struct, frozen=True, kw_only=True, rename={"message": "said"}):
    """What an event decides, by itself.

    `call` is what a caller says, `decided_by` who decided where it was people, and `refers_to` the
    record that was answered, corrected, undone, appealed against or upheld.
    """

    kind: Kind
    verdict: Ruling
    message: Message
    call: str
    code: str = ""
    player: str | None = None
    rests_on: str = ""
    moves: tuple[str, ...] = ()
    evidence: JsonObject = {}
    decided_by: str | None = None
    refers_to: int | None = None


class Verdict(Decision, frozen=True, kw_only=True):
    """What was decided, by the referee or by people.

    `frame` is the record whose picture it rests on, `overturned_by` the one that corrected it or
    took it back, and `sound` what is played with it.
    """

    seq: int
    at_ms: int
    clauses: tuple[Clause, ...]
    sound: str
    frame: int | None
    overturned_by: int | None


class OpenAppeal(msgspec.Struct, frozen=True, kw_only=True, rename={"message": "said"}):
    """An appeal that is open, against the ruling in record `appeals`."""

    seq: int
    at_ms: int
    appeals: int
    player: str
    reason: str
    message: Message


class Lamps(msgspec.Struct, frozen=True, kw_only=True):
    """What lamps show while nothing else happens: a signal, of whom, and who leads."""

    signal: Signal
    of: tuple[str, ...]
    leader: str | None


class Ranked(Gap, frozen=True, kw_only=True):
    """A gap with its place, 1 the nearest."""

    place: int


class SessionView(msgspec.Struct, frozen=True, kw_only=True):
    """All that a page shows of a session after record `seq`.

    `session` is the record of its start.  `names` are people's, by colour.  `next` is whose throw
    or turn it is (`state` may say more), `scores` are points of this game, and `ends` those of its
    ends that are over.  `may_begin` are those whom people may still name as first, before anything
    has happened.  `hidden` has the record of each vote that is not revealed yet, by player.
    `state` is the game's own document of its state.  `options` may be done now: none while a
    question is open or the game is over.  `wish` is what a computer player wants to be done
    now, and then it is the only option.  `trace` are the marks of the newest verdict.
    `observation` and `ranking` are of the last table that was ruled on.  `earlier` is the table
    before that, while the newest record takes the ruling back.  `verdicts` begin with the newest.
    """

    session: int
    seq: int
    at_ms: int
    started_utc: str
    game: str
    game_number: int
    players: tuple[str, ...]
    names: dict[str, str]
    rulings: dict[str, str]
    camera: Message
    simulated: bool
    phase: Phase
    next: str | None
    scores: dict[str, int | float]
    ends: tuple[EndDocument, ...]
    outcome: str | None
    resigned: tuple[str, ...]
    may_begin: tuple[str, ...]
    hidden: dict[str, int]
    appeals: tuple[OpenAppeal, ...]
    earlier_games: tuple[str, ...]
    state: GameDocument
    options: tuple[Option, ...]
    wish: Option | None = None
    trace: tuple[Mark, ...]
    lamps: Lamps
    observation: ObservationDocument | None
    ranking: tuple[Ranked, ...]
    earlier: ObservationDocument | None
    question: Question | None
    verdicts: tuple[Verdict, ...]

    @property
    def changed_rules(self) -> tuple[tuple[HouseRule, str], ...]:
        """The house rules that are not the usual ones, each with the value in force."""
        rules = GAMES[self.game].RULINGS if self.game in GAMES else ()
        chosen = ((rule, self.rulings.get(rule.name, rule.values[0])) for rule in rules)
        return tuple((rule, value) for rule, value in chosen if value != rule.values[0])
