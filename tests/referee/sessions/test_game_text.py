"""Games as text are read back, and played again they come to the same; other text is refused."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from itertools import islice

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engines import GAMES
from engines.game import winners_of
from referee.sessions.commands import Resign
from referee.sessions.event_store import Log
from referee.sessions.events import (
    InputRecorded,
    Resigned,
    SessionStarted,
    public_document,
    read_public_document,
)
from referee.sessions.game_text import (
    GameText,
    game_text,
    read_games,
    replay,
    shares_of,
    write_games,
)
from referee.sessions.session import Session
from referee.sessions.shown_votes import with_shown_votes
from referee.sessions.state import fold
from simulation.players.policies import RandomPlayer, playout
from table.errors import InputError
from table.messages import msg
from table.text import printable
from tests.support.hubs import PLAYERS, play
from tests.support.paths import ROOT

MOST = 600
"""Moves after which a game is left."""
several = settings(
    max_examples=int(os.environ.get("RINKSIDE_EXAMPLES", "3")),
    suppress_health_check=list(HealthCheck),
    deadline=None,
)


def ledgers(ledger):
    """The games of a session, the newest first."""
    while ledger is not None:
        yield ledger
        ledger = ledger.earlier


def again(text):
    """A game after it was written and read."""
    (read,) = read_games(write_games([text]), "games.txt")
    return read


@several
@given(seed=st.integers(0, 2**32), acts=st.sampled_from((5, 40, 120)))
@pytest.mark.parametrize("game", GAMES)
def test_games_with_all_that_people_do_come_to_the_same_again(tmp_path_factory, game, seed, acts):
    folder = tmp_path_factory.mktemp("log")
    with Log(folder / "log.sqlite") as log:
        session = play(log, game, seed, acts, end=False)
        records = log.records(session.id)
    session.close()
    public = [
        read_public_document(msgspec.json.decode(msgspec.json.encode(public_document(one))), "it")
        for one in records
    ]
    hub = fold(with_shown_votes(public, GAMES[game]), GAMES, "hub")
    for ledger, at_hub in zip(ledgers(session.ledger), ledgers(hub), strict=True):
        text = game_text(ledger)
        assert again(text) == text
        done = replay(text, GAMES, "game")
        document = ledger.engine.state_document(ledger.state)
        assert done.scores == document["scores"]
        assert set(done.winners) == set(ledger.winners)
        assert done.over == (ledger.outcome is not None)
        if not ledger.engine.hidden_voters(ledger.state):
            assert done.state == str(ledger.state)
        assert game_text(at_hub) == text


@several
@given(chance=st.randoms(use_true_random=False))
@pytest.mark.parametrize("game", GAMES)
def test_a_whole_game_comes_to_the_same_again(game, chance):
    engine, players = GAMES[game], PLAYERS.get(game, ("red", "blue"))
    state = start = engine.start(players, {})
    moves = []
    for move, after in islice(playout(engine, start, RandomPlayer(engine, chance).choose), MOST):
        moves.append(str(move))
        state = after
    outcome, scores = engine.outcome(state), engine.state_document(state)["scores"]
    text = GameText(
        game=game,
        players=players,
        start=str(start),
        moves=tuple(moves),
        scores=tuple(float(scores[one]) for one in players),
        shares=shares_of(players, winners_of(outcome)) if outcome is not None else (),
    )
    done = replay(again(text), GAMES, "game")
    assert (done.state, done.over) == (str(state), outcome is not None)


def session_of(tmp_path, *events, **more):
    """The ledger of a session with these events."""
    with Log(tmp_path / "log.sqlite") as log:
        started = SessionStarted(**({"game": "icebreaker", "players": ("red", "blue")} | more))
        session = Session.begin(log, started)
        for event in events:
            if isinstance(event, Resign):
                session.command(event)
            else:
                session.append(event)
        session.close()
        return session.ledger


def said(*moves):
    return InputRecorded(code="test", message=msg("Said."), moves=moves)


def test_who_was_rolled_to_begin_is_first(tmp_path):
    rolls = (said("begin-roll 1 red 2"), said("begin-roll 1 blue 5"))
    rolling = session_of(tmp_path, rolls[0], begins="roll")
    assert game_text(rolling) is None
    ledger = session_of(tmp_path, *rolls, Resign(player="red"), begins="roll")
    text = game_text(ledger)
    assert (text.players, text.shares) == (("blue", "red"), (1.0, 0.0))
    assert text.moves == ("resigns red",)
    assert replay(again(text), GAMES, "game").winners == ("blue",)


def test_who_resigned_before_turns_were_passed_over_stays_in_turn(tmp_path):
    gone = Resigned(player="blue", decided_by="blue")
    more = {"game": "ice_storm", "players": ("red", "blue", "black")}
    ledger = session_of(tmp_path, gone, **more)
    text = game_text(ledger)
    assert text.moves == ("resigns blue (still in turn)",)
    assert replay(again(text), GAMES, "game").state == str(ledger.state)


@given(
    names=st.lists(st.text(min_size=1, max_size=20).filter(str.strip), min_size=2, max_size=2),
    event=st.text(max_size=20),
)
def test_any_name_is_read_back_without_signs_that_steer_a_terminal(names, event):
    text = GameText(
        game="icebreaker",
        players=("red", "blue"),
        start=str(GAMES["icebreaker"].start(("red", "blue"), {})),
        moves=(),
        scores=(0.0, 0.0),
        names=dict(zip(("red", "blue"), names, strict=True)),
        event=event,
    )
    read = again(text)
    expected = {colour: printable(name) for colour, name in text.names.items() if name != "?"}
    assert read.names == expected
    assert read.event == (printable(event) if event != "?" else "")


GOOD = """\
[Event "Cup"]
; a remark
[Game "icebreaker"]
[Players "red blue"]
[Red "Anna \\"the\\" fast"]
[Result "1-0"]
[Scores "0 0"]
[Start "START"]

1. resigns blue
1-0
""".replace("START", str(GAMES["icebreaker"].start(("red", "blue"), {})))


def test_tags_that_nobody_needs_may_be_missing():
    (read,) = read_games(GOOD, "games.txt")
    assert (read.event, read.names, read.date) == ("Cup", {"red": 'Anna "the" fast'}, "")
    assert replay(read, GAMES, "game").winners == ("red",)
    assert read_games("", "games.txt") == read_games("\n% nothing\n", "games.txt") == []


@pytest.mark.parametrize(
    ("old", "new", "wrong"),
    [
        ('[Game "icebreaker"]', "", "line 11: expected the tag Game, got"),
        ('[Event "Cup"]', '[Event "Cup]', "line 1: expected a tag such as"),
        ('[Event "Cup"]', '[Game "a"]', "line 3: expected the tag Game once"),
        ("1. resigns", "resigns", "line 10: expected a tag, a move such as"),
        ("1. resigns blue\n1-0", "1. resigns blue\n", "expected the result 1-0, got"),
        ('"red blue"', '"red red"', "expected each colour once in Players"),
        ('"red blue"', '"red mauve"', "expected each colour once in Players"),
        ('"0 0"', '"0 x"', "expected numbers in Scores"),
        ('"0 0"', '"0"', "expected Scores, Result of all players"),
        ("1. resigns", "1. " + "x" * 100_000, "line 10: expected a line of at most"),
        ("1-0", "1-2", "expected 1, 1/2 or 0 for each player in Result"),
        ("1. resigns blue\n", '1. resigns blue\n[Event "b"]\n', "line 11: expected the result"),
    ],
)
def test_text_of_another_form_is_refused_with_its_line(old, new, wrong):
    with pytest.raises(InputError, match=re.escape(wrong)) as refused:
        read_games(GOOD.replace(old, new), "games.txt")
    assert str(refused.value).startswith("games.txt: ")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("old", "new", "wrong"),
    [
        ('"icebreaker"', '"chess"', "expected one of"),
        ("1-0", "0-1", "expected moves that come to 0-1 0 0, got '1-0 0 0'"),
        ('"0 0"', '"7 0"', "expected moves that come to 1-0 7 0"),
        ("1. resigns blue", "1. resigns black", "a player who has not resigned"),
        ("1. resigns blue", "1. resigns blue\n2. resigns blue", "a player who has not resigned"),
        ("1. resigns blue", "1. a1-a9", "no cell A9"),
        ("players red blue", "players blue red", "expected a start of the players red blue"),
        ('[Start "', '[Start "x', "x"),
    ],
)
def test_games_that_cannot_have_been_are_refused(old, new, wrong):
    (read,) = read_games(GOOD.replace(old, new), "games.txt")
    with pytest.raises(InputError, match=re.escape(wrong)) as refused:
        replay(read, GAMES, "games.txt: game 1")
    assert str(refused.value).startswith("games.txt: game 1: ")


def test_the_example_of_the_page_is_a_game():
    page = (ROOT / "docs" / "FORMATS.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```\n(\[Event .*?)```", page, re.DOTALL)
    (read,) = read_games(example, "FORMATS.md")
    assert write_games([read]) == example
    assert replay(read, GAMES, "FORMATS.md").winners == ("red",)


@given(st.text(alphabet=st.sampled_from('[]"\\;%1. -*\nAGamePlayersResult'), max_size=60))
def test_no_text_does_harm(text):
    with suppress(InputError):
        read_games(text, "games.txt")
