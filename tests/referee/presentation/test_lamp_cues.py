"""What lamps tell: every verdict of every game, every doing of the referee, and whole games."""

from __future__ import annotations

import ast
from functools import cache
from random import Random
from typing import get_args

import numpy as np
import pytest

from engines import GAMES
from engines.verdict import (
    Accepted,
    Ambiguous,
    CannotSee,
    Choice,
    Noted,
    OutOfSync,
    Refused,
    Waiting,
)
from hardware.backends.led_strip import Strip
from hardware.cues import DARK, Cue, Mark
from hardware.testing.fakes import FakeLamps
from referee.presentation.lamp_cues import cue_of, cue_of_record, marks, standing
from referee.sessions.events import (
    Answered,
    Corrected,
    Declared,
    GameStarted,
    Paused,
    Record,
    Resumed,
    SessionEnded,
    SessionStarted,
    Undone,
)
from referee.sessions.state import SessionState
from referee.sessions.status import Status
from referee.sessions.verdict_events import event_from_verdict
from simulation.players.policies import RandomPlayer, playout
from table.boards import Chessboard, Coasters, Hex, Open, Tiles
from tests.support.paths import ROOT

BOARDS = {
    "ice_boule": Open(outline_mm=((0, 0), (600, 0), (600, 400), (0, 400))),
    "ice_storm": Chessboard(square_mm=50, origin_mm=(10, 20)),
    "icebreaker": Hex(size=5, cell_mm=30),
    "zamboni_wars": Coasters(cell_mm=33),
    "icefloe": Tiles(cell_mm=52),
}
PREFIXES = {
    "boule": "ice_boule",
    "storm": "ice_storm",
    "ice": "icebreaker",
    "zamboni": "zamboni_wars",
    "icefloe": "icefloe",
}
PLAYERS = {
    "ice_boule": ("blue", "yellow"),
    "icebreaker": ("red", "black"),
    "ice_storm": ("green", "black", "red"),
    "zamboni_wars": ("yellow", "red", "blue"),
}
VERDICTS = {
    "accepted": lambda **facts: Accepted(moves=(), **facts),
    "refused": lambda **facts: Refused(**facts),
    "cannot see": lambda **facts: CannotSee(**facts),
    "out of sync": lambda **facts: OutOfSync(differences=("blue lies elsewhere",), **facts),
}


@cache
def codes():
    """(game, code) of everything that the engines may say, as it stands in their sources."""
    found = set()
    for path in sorted((ROOT / "engines").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                prefix, dot, rest = node.value.partition(".")
                if (
                    prefix in PREFIXES
                    and dot
                    and rest.replace(".", "").replace("_", "").isalpha()
                    and rest != "toml"
                ):
                    found.add((PREFIXES[prefix], node.value))
    return sorted(found)


def ledger_of(name, state=None, question=None, **more):
    engine = GAMES[name]
    players = PLAYERS.get(name, ("red", "blue", "yellow"))
    state = engine.start(players, {}) if state is None else state
    started = SessionStarted(game=name, players=state.players)
    facts = {
        "players": state.players,
        "options": {},
        "board": BOARDS[name],
        "state": state,
        "question": question,
    } | more
    return SessionState(engine=engine, started=started, session=1, seq=1, game_seq=1, **facts)


def record_of(event):
    return Record(seq=2, session=1, at_ms=0, event=event)


def test_every_game_has_codes():
    assert {game for game, _ in codes()} == set(GAMES)
    assert len(codes()) > 100


@pytest.mark.parametrize("signal", VERDICTS)
def test_every_code_of_every_game_shows_its_verdict(signal):
    """As a player's own, and as nobody's; what does not last gives way to whose turn it is."""
    for game, code in codes():
        ledger = ledger_of(game)
        for player in (ledger.players[0], None):
            verdict = VERDICTS[signal](code=code, message="", player=player)
            cue = cue_of_record(ledger, record_of(event_from_verdict(verdict)), BOARDS[game])
            assert cue.signal == signal, code
            if signal in ("accepted", "refused"):
                assert cue.of == ((player,) if player else ())
                assert cue.then == standing(ledger, BOARDS[game])


def test_every_question_of_every_game_shows_that_people_are_asked():
    for game, code in codes():
        asked = event_from_verdict(
            Ambiguous(code=code, message="", choices=(Choice("yes", ()), Choice("no", ())))
        )
        record = record_of(asked)
        cue = cue_of_record(ledger_of(game, question=record), record, BOARDS[game])
        assert cue.signal == ("too close" if code.endswith("too_close") else "asking"), code
        assert cue.of == (cue.players if cue.signal == "too close" else ())


def test_what_is_not_told_changes_nothing():
    assert event_from_verdict(Waiting(code="boule.throw", message="")) is None
    ledger = ledger_of("zamboni_wars")
    noted = event_from_verdict(Noted(code="zamboni.roll", message="", moves=()))
    assert cue_of_record(ledger, record_of(noted), BOARDS["zamboni_wars"]) == standing(
        ledger, BOARDS["zamboni_wars"]
    )


@pytest.mark.parametrize(
    ("event", "signal"),
    [
        (Answered(question=1, label="", how="order", decided_by="blue"), "accepted"),
        (Corrected(corrects=1, moves=(), decided_by="blue"), "accepted"),
        (Undone(undoes=1, decided_by="blue"), "accepted"),
        (Declared(moves=("stop blue",), decided_by="blue"), "accepted"),
        (Paused(decided_by="blue"), "turn"),
        (Resumed(decided_by="blue"), "turn"),
        (GameStarted(players=("blue", "yellow")), "turn"),
        (SessionStarted(game="ice_boule", players=("blue", "yellow")), "turn"),
        (SessionEnded(), "turn"),
    ],
    ids=lambda event: type(event).__name__ if not isinstance(event, str) else event,
)
def test_what_people_say_is_shown(event, signal):
    assert (
        cue_of_record(ledger_of("ice_boule"), record_of(event), BOARDS["ice_boule"]).signal
        == signal
    )


@pytest.mark.parametrize("status", get_args(Status))
def test_every_doing_of_the_referee_is_shown(status):
    cue = cue_of(ledger_of("ice_boule"), status, None, BOARDS["ice_boule"])
    expected = {
        "hand over the board": "hand",
        "stopped": "cannot see",
        "ended": "dark",
    } | dict.fromkeys(("waiting", "ruling", "asking"), "turn")
    assert cue.signal == expected.get(status, status)


def test_news_are_shown_before_anything_else():
    ledger = ledger_of("ice_boule")
    news = record_of(
        event_from_verdict(Refused(code="boule.throw.turn", message="", player="blue"))
    )
    assert cue_of(ledger, "hand over the board", news, BOARDS["ice_boule"]).signal == "refused"
    assert cue_of(ledger, "hand over the board", None, BOARDS["ice_boule"]).signal == "hand"


def test_a_session_that_stands_still_shows_it():
    assert standing(ledger_of("ice_boule", paused=True), BOARDS["ice_boule"]).signal == "paused"
    assert standing(ledger_of("ice_boule", ended=True), BOARDS["ice_boule"]) == DARK


def boule(line):
    engine = GAMES["ice_boule"]
    state = engine.start(("blue", "yellow"), {})
    for move in line:
        state = engine.play(state, engine.parse_move(move))
    return state


def test_who_leads_in_ice_boule_is_shown_while_the_other_throws():
    state = boule(["target green", "throw blue medium 20: blue 20"])
    assert standing(ledger_of("ice_boule", state), BOARDS["ice_boule"]) == Cue(
        "turn", ("blue", "yellow"), of=("yellow",), leader="blue"
    )


def test_too_close_is_shown_between_those_whom_it_is_between():
    gaps = [{"colour": colour} for colour in ("blue", "yellow", "blue", "yellow")]
    asked = Ambiguous(
        code="boule.too_close",
        message="",
        choices=(),
        evidence={"gaps": gaps, "call": {"pairs": [[1, 2]]}},
    )
    record = record_of(event_from_verdict(asked))
    cue = standing(ledger_of("ice_boule", question=record), BOARDS["ice_boule"])
    assert (cue.signal, cue.of) == ("too close", ("blue", "yellow"))


def test_lines_of_fire_a_space_to_leave_and_tiles_about_to_sink_are_pointed_at():
    shots = [{"squares": ["a1", "b2", "c3"]}, {"squares": ["d4"]}]
    assert marks(GAMES["ice_storm"], {"shots": shots}, BOARDS["ice_storm"]) == (
        Mark("line", ((35, 45), (135, 145))),
    )
    driving = {
        "phase": "move",
        "to_move": "red",
        "zambonis": {"red": {"space": "a6"}, "blue": None},
    }
    assert marks(GAMES["zamboni_wars"], driving, BOARDS["zamboni_wars"]) == (
        Mark("spot", ((16.5, 181.5),)),
    )
    assert marks(GAMES["zamboni_wars"], driving | {"phase": "roll"}, BOARDS["zamboni_wars"]) == ()
    assert marks(GAMES["zamboni_wars"], driving | {"to_move": "blue"}, BOARDS["zamboni_wars"]) == ()
    floes = {
        "a1": {"tile": "S4", "weight": 5},
        "b1": {"tile": "S3", "weight": 4},
        "c1": {"tile": "A4", "weight": 0},
    }
    assert marks(GAMES["icefloe"], {"board": floes, "tile": "A4"}, BOARDS["icefloe"]) == (
        Mark("spot", ((26, 26),)),
        Mark("spot", ((130, 26),)),
    )
    assert marks(GAMES["ice_boule"], {"shots": shots}, BOARDS["ice_boule"]) == ()


@pytest.mark.parametrize("game", GAMES)
def test_whole_games_are_followed(game):
    """Every state of a game that chance plays: the lamps say whose turn it is as the state does,
    and who has won.
    """
    engine, board = GAMES[game], BOARDS[game]
    strip = Strip(60, board.outline())
    lamps, states = FakeLamps(), []
    first = ledger_of(game).state
    for move, state in playout(engine, first, RandomPlayer(engine, Random(7)).choose):
        states.append(state)
        ruled = event_from_verdict(
            Accepted(code="any.move", message="", moves=(str(move),), player=None)
        )
        lamps.show(cue_of_record(ledger_of(game, state), record_of(ruled), board))
        if len(states) == 300:
            break
    next_cues = [cue.then for cue in lamps.cues[1:]]
    turns = []
    for state in states:
        document = engine.state_document(state)
        outcome = engine.outcome(state)
        won = getattr(outcome, "winners", None) or (getattr(outcome, "winner", None),)
        whose = document.get("next") or document.get("to_move") or document.get("attacker")
        turns.append(
            ("over", tuple(p for p in state.players if p in won))
            if outcome
            else ("turn", (whose,) if whose else ())
        )
    seen = [(cue.signal, cue.of) for cue in next_cues]
    changed = [turn for at, turn in enumerate(turns) if at == 0 or turn != turns[at - 1]]
    assert [turn for at, turn in enumerate(seen) if at == 0 or turn != seen[at - 1]] == changed
    for cue in next_cues[:40]:
        assert strip.frame(cue, 100.0).dtype == np.uint8
