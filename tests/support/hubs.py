"""Hubs and tables for tests: a club with its database, random logs, and a direct connection."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import msgspec
from argon2 import PasswordHasher

from engines import GAMES
from hub.accounts import Accounts
from hub.audit import Actor
from hub.client import HubGone, HubRefused
from hub.intake import Intake, News
from hub.store import Store
from hub.tables import Tables
from hub.wire import Batch, Cursor
from referee.sessions.commands import NextGame, Resign, Undo
from referee.sessions.event_store import Log
from referee.sessions.events import InputRecorded, SessionEnded, SessionStarted, VerdictReached
from referee.sessions.session import Session
from table.errors import InputError
from table.messages import msg
from webui.security.requests import Refusal

CHEAP = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
"""Password hasher with minimum cost, otherwise as in the hub."""
PASSWORD = "a long password"
PLAYERS = {
    "ice_storm": ("red", "yellow", "blue"),
    "icefloe": ("red", "black", "blue"),
    "zamboni_wars": ("yellow", "blue"),
}


class Club:
    """A club at a hub, without its pages."""

    def __init__(self, store: Store, name: str = "Club") -> None:
        self.store, self.at_ms = store, 1_800_000_000_000
        self.tables = Tables(store, self.now_ms)
        self.news = News()
        self.intake = Intake(store, self.news, self.now_ms)
        self.accounts = Accounts(store, self.now_ms, CHEAP)
        self.accounts.add(name, f"Host of {name}", PASSWORD, "admin")
        secret = self.accounts.log_in(f"Host of {name}", PASSWORD, "test")
        who = self.accounts.logged_in(secret)
        self.actor = Actor(who.name, who.club_id, "test")

    def now_ms(self) -> int:
        return self.at_ms

    def enrol(self, name: str = "Table 1") -> str:
        """Enrol a table, and return its token."""
        asked = self.tables.ask("test")
        self.tables.enrol(self.actor, asked.code, name)
        return self.tables.claim(asked.secret).token


class DirectHub:
    """A hub that is asked without a network; `lose` says which answers never arrive, or which
    questions: "" for none, "asked" or "answered".
    """

    def __init__(self, club: Club, token: str, lose: Callable[[], str] = str) -> None:
        self._club, self._token, self._lose = club, token, lose
        self.sent: list[Batch] = []

    def send(self, batch: Batch) -> Cursor:
        lost = self._lose()
        if lost == "asked":
            raise HubGone("lost")
        body = msgspec.json.encode(batch)
        self.sent.append(batch)
        try:
            cursor = self._club.intake.take(self._token, body)
        except Refusal as refusal:
            if refusal.status >= 500:
                raise HubGone(refusal.message) from refusal
            raise HubRefused(refusal.status, refusal.code, refusal.message) from refusal
        if lost == "answered":
            raise HubGone("lost")
        return cursor


def play(log: Log, game: str, seed: int, acts: int = 12, end: bool = True) -> Session:
    """Play a session of random legal moves, with undos, next games and resignations."""
    chance = random.Random(seed)
    players = PLAYERS.get(game, ("red", "blue"))
    names = {players[0]: "Anna", players[1]: "Ben"}
    session = Session.begin(log, SessionStarted(game=game, players=players, names=names))
    for number in range(acts):
        session.tick(1000 * number)
        state, lot = session.ledger.state, chance.random()
        try:
            if session.ledger.outcome is not None or lot < 0.05:
                session.command(NextGame())
            elif lot < 0.15:
                session.command(Undo())
            elif lot < 0.2:
                session.command(Resign(player=chance.choice(players)))
            else:
                _move(session, game, state, chance)
        except InputError:
            continue
    if end:
        session.append(SessionEnded(reason="done"))
    return session


def _move(session: Session, game: str, state: object, chance: random.Random) -> None:
    engine = GAMES[game]
    if session.ledger.rolling or not (moves := list(islice(engine.legal_moves(state), 100))):
        return
    move = chance.choice(moves)
    voter = engine.secret_voter(move)
    if voter is None:
        session.append(
            VerdictReached(
                verdict="accepted", code="test.move", message=msg("Ok."), moves=(str(move),)
            )
        )
    else:
        session.append(
            InputRecorded(
                code="test.vote",
                message=msg("Voted."),
                player=voter,
                moves=(str(move),),
                secret=True,
            )
        )


def new_log(folder: Path, game: str = "icebreaker", acts: int = 6) -> Path:
    """A log with a running session."""
    path = folder / "log.sqlite"
    with Log(path) as log:
        play(log, game, 1, acts, end=False)
    return path
