"""An event of a club for tests, and what is played at its tables."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from hub.event_standings import Participant
from hub.events import Event, Events
from hub.forwarder import Forwarder
from hub.match_desk import MatchDesk, PlayersView
from hub.matches import MatchResult, Settled
from hub.standings import Results
from referee.sessions.commands import Resign
from referee.sessions.event_store import Log
from referee.sessions.events import SessionStarted
from referee.sessions.session import Session
from tests.support.hubs import Club, DirectHub

COLOURS = ("yellow", "blue", "red")
"""Who plays, in turn order."""
FIRST, SECOND = MatchResult((1, 0)), MatchResult((0, 1))
"""The one who begins wins, or the other one."""


class Evening:
    """An event with as many tables as wanted."""

    def __init__(
        self,
        club: Club,
        folder: Path,
        format_: str = "round_robin",
        names: Sequence[str] = ("Anna", "Ben"),
        tables: int = 1,
        game: str = "icebreaker",
    ) -> None:
        self.club, self.folder, self.actor = club, folder, club.actor
        self._logs: dict[str, Log] = {}
        self.results = Results(club.store)
        self.events = Events(club.store, self.results, club.now_ms)
        self.desk = MatchDesk(club.store, self.events, club.now_ms)
        self.tokens = {f"Table {n + 1}": club.enrol(f"Table {n + 1}") for n in range(tables)}
        self.id = self.events.make(self.actor, "Cup", game, format_, "to 5", 3)
        self.events.add_players(self.actor, self.id, names)
        self.events.use_tables(self.actor, self.id, [one.id for one in self.event.tables])

    @property
    def event(self) -> Event:
        return self.events.event(self.actor.club_id, self.id)

    @property
    def matches(self) -> tuple[Settled, ...]:
        return self.event.matches

    def pair(self) -> None:
        self.events.pair(self.actor, self.id, self.event.paired)
        self.club.at_ms += 1000

    def began(
        self, *names: str, table: str = "Table 1", game: str = "icebreaker", simulated: bool = False
    ) -> Session:
        """The session of a new game at a table, of people with these names."""
        players = COLOURS[: len(names)]
        named = dict(zip(players, names, strict=True))
        started = SessionStarted(game=game, players=players, names=named, simulated=simulated)
        return Session.begin(self.log(table), started)

    def log(self, table: str = "Table 1") -> Log:
        """The log of a table, open."""
        if table not in self._logs:
            self._logs[table] = Log(self.folder / f"{table}.sqlite")
        return self._logs[table]

    def send(self, table: str = "Table 1") -> None:
        hub = DirectHub(self.club, self.tokens[table])
        with closing(Forwarder(self.folder / f"{table}.sqlite", hub, print)) as forwarder:
            while forwarder.round().more:
                pass

    def play(self, *names: str, lost: str, table: str = "Table 1") -> Session:
        """A game that one of these people gives up."""
        session = self.began(*names, table=table)
        session.command(Resign(player=COLOURS[names.index(lost)]))
        self.send(table)
        return session

    def decide(self, result: MatchResult, number: int = 0) -> None:
        self.desk.decide(self.actor, self.id, self.matches[number].match.id, result)

    def decide_all(self) -> None:
        """The one who begins wins everything that is open."""
        for one in self.matches:
            if one.status == "waiting":
                self.desk.decide(self.actor, self.id, one.match.id, FIRST)

    def player(self, name: str) -> Participant:
        (player,) = (one for one in self.event.players if one.name == name)
        return player

    def view(self, name: str) -> PlayersView:
        return self.desk.player(self.player(name).code, "test")

    def players_of(self, round_: int) -> list[list[str]]:
        return [
            [seat.name for seat in one.match.seats]
            for one in self.matches
            if one.match.round == round_
        ]
