"""Hidden votes in whole games of IceFloe: nobody but the voter casts, changes, takes back or sees
one, in any state.
"""

from __future__ import annotations

import random
import re
import shutil
from dataclasses import dataclass

import msgspec
import pytest
from flask import Flask
from flask.testing import FlaskClient

import engines
from engines.icefloe.board import SUITS, VALUES
from engines.icefloe.moves import Objection, Vote
from referee.sessions.commands import Declare, Hear
from referee.sessions.event_store import Log
from referee.sessions.events import InputRecorded, SessionStarted
from referee.sessions.session import Session
from referee.statistics.history import HistoryCache
from webui import create_app
from webui.security.codes import Codes
from webui.security.permissions import Access

pytestmark = pytest.mark.slow

GAME = engines.GAMES["icefloe"]
SEATS = ("red", "blue", "yellow")
PATHS = (
    *(
        "/",
        "/play",
        "/host",
        "/host/fix",
        "/api/v1/state",
        "/api/v1/records",
        "/api/v1/observation",
        "/sessions",
        "/sessions/1",
        "/statistics",
    ),
    *("/sessions/1/statistics", "/sessions/1/session.zip"),
)
OWN = {"Sec-Fetch-Site": "same-origin"}


@dataclass
class Table:
    """A session with everybody's browser: each seat's, the host's, a player's without a seat, and a
    spectator's.
    """

    session: Session
    app: Flask
    browsers: dict[str, FlaskClient]

    @property
    def state(self):
        return self.session.ledger.state

    @property
    def hidden(self):
        return GAME.hidden_voters(self.state)


@pytest.fixture
def open_table(tmp_path, live, as_host, as_player):
    """open_table("a"): IceFloe for three on a log of its own; the codes are the same for all."""
    opened, codes = [], tmp_path / "access.json"

    def make(name):
        if not codes.exists():
            Codes(codes)
        log = Log(tmp_path / f"{name}.log")
        session = Session.begin(
            log, SessionStarted(game="icefloe", players=SEATS, camera="folder frames")
        )
        opened.extend((session, log))
        access = Access(Codes(shutil.copy(codes, tmp_path / f"{name}.json")))
        app = create_app(session, live, access=access, histories=HistoryCache(log.path))
        browsers = {seat: as_player(app, seat) for seat in SEATS}
        return Table(
            session,
            app,
            browsers
            | {"host": as_host(app), "no seat": as_player(app, ""), "spectator": app.test_client()},
        )

    yield make
    for one in opened:
        one.close()


def play_on(session, chance):
    """One thing that happens in a game: a legal move, a vote as soon as it may be cast, now and
    then an objection.
    """
    state = session.ledger.state
    objections = [
        move
        for move in (Objection(by, to) for by in SEATS for to in SEATS)
        if GAME.violation(state, move) is None
    ]
    if objections and chance.random() < 0.05:
        session.command(Declare(moves=(str(chance.choice(objections)),)))
        return
    awaited = state.missing_voters if state.phase == "vote" or state.last_to_move else ()
    if awaited and chance.random() < (1 if state.phase == "vote" else 0.7):
        key, choices = ("vote_suit", SUITS) if state.value else ("vote_value", VALUES)
        session.hear({"player": chance.choice(awaited), key: chance.choice([*choices])})
        return
    session.command(
        Declare(
            moves=(
                str(
                    chance.choice(
                        [move for move in GAME.legal_moves(state) if not isinstance(move, Vote)]
                    )
                ),
            )
        )
    )


def tries(table, chance):
    """Commands that would touch each hidden or open vote of a seat: cast, replaced, taken back,
    shown in passing.
    """
    state, session = table.state, table.session
    choice = chance.choice([*(SUITS if state.value else VALUES)])
    votes_of = {
        player: [
            entry.seq
            for entry in session.ledger.standing
            if f"vote {player} " in " ".join(entry.moves)
        ]
        for player in SEATS
    }
    last = session.ledger.standing[-1]
    legal = [str(move) for move in GAME.legal_moves(state) if not isinstance(move, Vote)]
    for player in SEATS:
        vote = f"vote {player} {choice}"
        hears = [{"player": player, "vote_value": choice}, {"player": player, "vote_suit": choice}]
        yield from ((player, {"command": "hear", "said": message}) for message in hears)
        yield player, {"command": "declare", "moves": [vote]}
        yield player, {"command": "declare", "moves": [vote, vote]}
        if legal:
            yield player, {"command": "declare", "moves": [chance.choice(legal), vote]}
            yield player, {"command": "declare", "moves": [vote, chance.choice(legal)]}
        yield player, {"command": "correct", "record": last.seq, "moves": [*last.moves, vote]}
        if player in table.hidden:
            record = votes_of[player][-1]
            yield player, {"command": "undo", "record": record}
            yield player, {"command": "correct", "record": record, "moves": []}
            yield player, {"command": "correct", "record": record, "moves": [vote]}
            yield player, {"command": "correct", "record": record, "moves": [f"penalty {player}"]}
            if record == last.seq:
                yield player, {"command": "undo"}


def may(who, player, document):
    """Only a holder's own vote is theirs: cast by `hear`, taken back by its record."""
    own = document["command"] == "hear" or (document["command"] == "undo" and "record" in document)
    return who == player and own


@pytest.mark.parametrize("seed", [1, 2])
def test_whatever_touches_a_hidden_vote_of_a_seat_is_refused_to_everybody_else_in_every_state(
    open_table, seed
):
    table, chance, asked, early = open_table("a"), random.Random(seed), 0, 0
    while GAME.outcome(table.state) is None and table.session.seq < 140:
        play_on(table.session, chance)
        open_vote = table.state.phase == "vote" or table.state.last_to_move
        early += table.state.phase == "move" and bool(table.hidden)
        before = table.session.ledger
        every = [
            (who, *one)
            for one in (tries(table, chance) if open_vote else ())
            for who in table.browsers
        ]
        for who, player, document in every:
            if may(who, player, document):
                continue
            answer = table.browsers[who].post("/api/v1/command", json=document)
            assert answer.status_code == 403, (who, document, answer.text)
            asked += 1
        assert table.session.ledger is before
    assert asked > 500
    assert early > 0, "no vote was cast before the phase of votes"


def test_several_moves_at_once_are_refused_while_votes_are_hidden(open_table):
    """What is refused behind a vote that is shown would tell how it came out, and nothing would be
    in the log.
    """
    table, chance = open_table("a"), random.Random(3)
    while not (table.state.last_to_move and len(table.hidden) == len(SEATS)):
        play_on(table.session, chance)
        state = table.state
        if state.last_to_move:
            for player in state.missing_voters:
                table.session.hear({"player": player, "vote_value": "4"})
    move = next(str(move) for move in GAME.legal_moves(table.state) if not isinstance(move, Vote))
    ask = {
        "command": "declare",
        "moves": [move, *(f"done {player}" for player in SEATS), "vote red S"],
    }
    for moves in (ask["moves"], ask["moves"][:-1], ask["moves"][:2]):
        answer = table.browsers["host"].post("/api/v1/command", json=ask | {"moves": moves})
        assert answer.get_json()["error"]["code"] == "secret"
    assert (
        table.browsers["host"].post("/api/v1/command", json=ask | {"moves": [move]}).status_code
        == 201
    )
    assert table.hidden == ()


def test_a_hidden_vote_of_a_free_seat_is_told_in_secret_and_never_aloud(open_table):
    table, chance = open_table("a"), random.Random(4)
    while table.state.phase != "vote":
        play_on(table.session, chance)
    for player in table.hidden:
        record = next(
            entry.seq
            for entry in reversed(table.session.ledger.standing)
            if f"vote {player} " in " ".join(entry.moves)
        )
        table.browsers[player].post(
            "/play", data={"command": "undo", "record": str(record)}, headers=OWN
        )
    host = table.browsers["host"]
    host.post("/host/free", data={"seat": "red"}, headers=OWN)
    aloud = host.post("/api/v1/command", json={"command": "declare", "moves": ["vote red 4"]})
    assert aloud.get_json()["error"]["code"] == "secret"
    assert (
        host.post(
            "/api/v1/command",
            json={"command": "hear", "said": {"player": "red", "vote_value": "4"}},
        ).status_code
        == 201
    )
    assert table.hidden == ("red",)
    assert host.post("/api/v1/command", json={"command": "undo"}).status_code == 201


def test_a_vote_that_was_revealed_is_corrected_by_the_host(open_table):
    table, chance = open_table("a"), random.Random(5)
    while table.state.phase != "coins":
        play_on(table.session, chance)
    entry = next(
        entry
        for entry in reversed(table.session.ledger.standing)
        if "vote red " in " ".join(entry.moves)
    )
    other = "vote red 3" if entry.moves != ("vote red 3",) else "vote red 2"
    document = {"command": "correct", "record": entry.seq, "moves": [other]}
    assert table.browsers["host"].post("/api/v1/command", json=document).status_code == 201
    assert table.browsers["blue"].post("/api/v1/command", json=document).status_code == 403


def until(end, lines):
    """The lines before the one with this end, and that."""
    found = [next(lines)]
    while end not in found[-1]:
        found.append(next(lines))
    return found


def answers(table):
    """All that everybody but its holder is answered about the table, without what is another one
    for each panel.
    """
    shown = []
    for who, browser in table.browsers.items():
        shown += [f"{who} {path} {browser.get(path).text}" for path in PATHS]
        with browser.get("/api/v1/stream") as stream:
            end = f"id: {table.session.seq}\n"
            lines = (line.decode() for line in stream.iter_encoded())
            shown += until(end, lines)
    return re.sub(
        r'data-instance="\w+"|"instance":"\w+"|name="token" value="[^"]+"', "", "\n".join(shown)
    )


def other_votes(session, into):
    """The same game in another session, whose hidden votes are others."""
    hidden = {
        entry.seq
        for entry in session.ledger.standing
        for player in GAME.hidden_voters(session.ledger.state)
        if _is_last(session, entry, player)
    }
    for record in session.records():
        event = record.event
        if isinstance(event, SessionStarted) or record.seq <= into.seq:
            continue
        if record.seq in hidden and isinstance(event, InputRecorded):
            _, player, choice = event.moves[0].split()
            kinds = [*(SUITS if choice in SUITS else VALUES)]
            event = msgspec.structs.replace(
                event, moves=(f"vote {player} {kinds[kinds.index(choice) - 1]}",)
            )
        into.append(event)


def _is_last(session, entry, player):
    votes = [one.seq for one in session.ledger.standing if f"vote {player} " in " ".join(one.moves)]
    return entry.seq == votes[-1]


@pytest.mark.parametrize("seed", [6, 7])
def test_nobody_is_answered_otherwise_because_hidden_votes_are_others(open_table, seed):
    """Pages, API, stream, exports, statistics and the time-line, to the letter, in states of a
    whole game.
    """
    table, chance, looked = open_table("a"), random.Random(seed), 0
    while GAME.outcome(table.state) is None and table.session.seq < 120 and looked < 4:
        play_on(table.session, chance)
        if not table.hidden or chance.random() < 0.6:
            continue
        other = open_table(f"b{looked}")
        other_votes(table.session, other.session)
        looked += 1
        assert table.state.votes != other.state.votes
        assert answers(table) == answers(other)
    assert looked == 4


def test_nobody_speaks_for_another_seat(open_table):
    """Whatever a game waits to hear, and all else that names a player: a phone gets through only
    what is its own.
    """
    table, chance, refused = open_table("a"), random.Random(8), 0
    while GAME.outcome(table.state) is None and table.session.seq < 120:
        play_on(table.session, chance)
        message = [one["said"] for one in GAME.state_document(table.state)["may_say"]]
        chosen = chance.sample(message, min(4, len(message)))
        stays = [one for one in message if "stays" in one]
        before = table.session.ledger
        for seat in SEATS:
            others = [one for one in chosen if one["player"] != seat]
            for one in others:
                assert (
                    table.browsers[seat]
                    .post("/api/v1/command", json={"command": "hear", "said": one})
                    .status_code
                    == 403
                )
                refused += 1
            other = chance.choice([player for player in SEATS if player != seat])
            for document in (
                {"command": "roll", "player": other},
                {"command": "resign", "player": other},
                {"command": "appeal", "player": other, "record": before.seq},
                {"command": "undo"},
                {
                    "command": "undo",
                    "record": (
                        before.seq if before.seq not in table.session.view().hidden.values() else 1
                    ),
                },
                {"command": "hear", "said": {"player": [seat], "done": True}},
                {"command": "next_game"},
            ):
                assert (
                    table.browsers[seat].post("/api/v1/command", json=document).status_code == 403
                ), (seat, document)
        assert table.session.ledger is before
        # The document says who speaks, and the game lets nobody else's pyramid be moved by it.
        for one in stays[:2]:
            wrong = next(player for player in SEATS if player != one["player"])
            assert GAME.hear(table.state, one | {"player": wrong}).__class__.__name__ == "Refused"
    assert refused > 100


def test_votes_are_checked_at_the_moment_of_the_deed(open_table):
    """The last that stands is another one once somebody has voted: the check and the deed see the
    same.
    """
    table, chance = open_table("a"), random.Random(9)
    while table.state.phase != "vote":
        play_on(table.session, chance)
    seen = []

    def allow(command):
        seen.append(table.session.touched(command).voters)
        return command

    player = table.state.missing_voters[0]
    table.session.command(Hear(heard={"player": player, "vote_value": "4"}), allow)
    assert seen == [{player}]
