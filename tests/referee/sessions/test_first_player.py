"""Who begins a session's games: by hand, by lot, or rolled for; kept in the log, so that what is
read from it is the same game.
"""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime

import pytest
from click.testing import CliRunner

from cli.main import main
from engines import GAMES
from referee.devices.buttons import roller
from referee.presentation.lamp_cues import standing
from referee.sessions.commands import (
    Correct,
    Declare,
    Hear,
    NextGame,
    Resign,
    Roll,
    Undo,
    parse_command,
)
from referee.sessions.event_store import Log
from referee.sessions.events import (
    SCHEMA,
    GameStarted,
    InputRecorded,
    SessionStarted,
    VerdictReached,
    decode,
)
from referee.sessions.first_player import draw_lot, first_player_decision
from referee.sessions.session import Session
from referee.sessions.start import opening
from referee.statistics.history import HistoryCache
from referee.statistics.results import games_of
from table.errors import InputError
from table.table_config import parse_table
from tests.support.pictures import TABLE

SETUP = parse_table(TABLE)
BEGUN = datetime(2026, 11, 21, tzinfo=UTC)
PLAYERS = ("red", "blue", "yellow")


def rolled_for(game="icefloe", players=PLAYERS, **more):
    return SessionStarted(game=game, players=players, begins="roll", **more)


@pytest.fixture
def begin(log):
    """begin(started, dice, lots): a session whose electronic dice show these, and whose lots fall
    so.
    """
    sessions = []

    def make(started, dice=(), lots=()):
        dice, lots = iter(dice), iter(lots)
        sessions.append(
            Session.begin(log, started, draw=lambda: next(dice), lot=lambda _players: next(lots))
        )
        return sessions[-1]

    yield make
    for session in sessions:
        session.close()


def roll(session, player, die):
    return session.command(Hear(heard={"player": player, "die": die})).event


def test_by_hand_is_what_it_was_before(begin):
    session = begin(SessionStarted(game="ice_boule", players=PLAYERS))
    assert session.ledger.state == GAMES["ice_boule"].start(PLAYERS, {})
    assert session.view().verdicts == ()
    assert first_player_decision("", "ice_boule", PLAYERS) == ("hand", "", "", "")


def test_a_log_of_before_is_read_as_it_was(begin):
    for schema in range(1, SCHEMA):
        started = decode(
            json.dumps(
                {
                    "schema": schema,
                    "fact": "session_started",
                    "game": "icefloe",
                    "players": list(PLAYERS),
                }
            ),
            "log",
        )
        assert begin(started).ledger.state == GAMES["icefloe"].start(PLAYERS, {})
    after = decode(
        json.dumps({"schema": 7, "fact": "game_started", "players": list(PLAYERS)}), "log"
    )
    assert after == GameStarted(players=PLAYERS)


def test_a_lot_gives_every_player_the_same_chance():
    """The lot is drawn among all players, none twice; where it falls is who begins."""
    drawn = []
    for place in range(len(PLAYERS)):
        assert (
            first_player_decision(
                "lot",
                "ice_boule",
                PLAYERS,
                lambda among, place=place: drawn.append(among) or among[place],
            ).first
            == PLAYERS[place]
        )
    assert drawn == [PLAYERS] * 3
    counted = Counter(draw_lot(PLAYERS) for _ in range(3000))
    assert set(counted) == set(PLAYERS)
    assert min(counted.values()) > 800, "fairly: 6 standard deviations below 1000 are 845"


def test_a_lot_is_told_with_the_rule_and_replay_gives_the_same_game(begin, log):
    started = opening(
        "ice_boule", ("red", "blue"), {}, SETUP, "film", BEGUN, begins="lot", lot=lambda _: "blue"
    )
    session = begin(started)
    assert (started.begins, started.first, session.ledger.players) == (
        "lot",
        "blue",
        ("red", "blue"),
    )
    (line,) = session.view().verdicts
    assert (line.kind, line.verdict, line.code, line.player, line.rests_on) == (
        "begun",
        "accepted",
        "begins.lot",
        "blue",
        "Setup",
    )
    assert line.message == "Picked at random among red and blue. Blue begins."
    assert [clause.name for clause in line.clauses] == ["Setup"]
    assert session.ledger.state == GAMES["ice_boule"].start(("blue", "red"), {})
    again = Session.reopen(log, session.id)
    assert (again.ledger.state, again.view().verdicts) == (session.ledger.state, (line,))
    (step,) = HistoryCache(log.path).of(session.id).steps
    assert (step.message, step.player) == (line.message, "blue")


def test_who_begins_may_be_set_by_hand_and_turns_go_on_clockwise(begin):
    session = begin(opening("ice_boule", ("red", "blue"), {}, SETUP, "film", BEGUN, begins="blue"))
    assert session.ledger.state.players == ("blue", "red")
    assert session.view().verdicts[0].message == "Blue begins: set by hand."
    assert session.view().verdicts[0].verdict == "by hand"


def by_lot(game="ice_boule", players=PLAYERS, first="red", **more):
    return SessionStarted(game=game, players=players, begins="lot", first=first, **more)


@pytest.mark.parametrize(
    "say",
    [
        lambda heard: Hear(heard=heard),
        lambda heard: Declare(moves=(f"begin-with {heard['begins']}",)),
    ],
)
def test_a_lot_is_corrected_by_hand_before_the_first_move_and_that_is_taken_back_as_any_ruling(
    begin, log, say
):
    session = begin(by_lot())
    assert session.view().may_begin == ("blue", "yellow")
    message = session.command(say({"begins": "blue"}))
    assert session.ledger.state == GAMES["ice_boule"].start(("blue", "yellow", "red"), {})
    assert session.view().may_begin == ("red", "yellow")
    assert session.view().verdicts[0].message in (
        "Blue begins: set by hand.",
        "Players declared: begin-with blue.",
    )
    assert Session.reopen(log, session.id).ledger.state == session.ledger.state
    session.command(Correct(record=message.seq, moves=session.alternatives(message.seq)[1].moves))
    assert session.ledger.state.players[0] == "yellow"
    session.command(Undo(record=message.seq))
    assert session.ledger.state == GAMES["ice_boule"].start(PLAYERS, {}), "as the lot fell"


def test_who_begins_is_set_by_hand_in_the_place_of_a_roll_that_is_over_too(begin):
    session = begin(rolled_for())
    for player, die in zip(PLAYERS, (1, 2, 6), strict=True):
        roll(session, player, die)
    session.command(Hear(heard={"begins": "red"}))
    assert session.ledger.state == GAMES["icefloe"].start(PLAYERS, {})


def test_once_something_has_happened_nobody_else_can_begin(begin):
    session = begin(by_lot())
    session.command(Declare(moves=("target green",)))
    assert session.view().may_begin == ()
    with pytest.raises(InputError, match="not now: Blue cannot begin any more"):
        session.command(Hear(heard={"begins": "blue"}))
    with pytest.raises(InputError, match="before the first move"):
        session.command(Declare(moves=("begin-with blue",)))
    with pytest.raises(InputError, match="expected red, blue, yellow, got 'green'"):
        session.command(Hear(heard={"begins": "green"}))
    session.command(Undo())
    session.command(Hear(heard={"begins": "blue"}))
    assert session.ledger.state.players[0] == "blue"


def test_a_start_that_is_the_same_for_all_leaves_open_who_begins_and_another_decides_it(begin, log):
    """The ships of who begins have their places in Icebreaker; Zambonis stand at their coasters."""
    zamboni = begin(by_lot("zamboni_wars", ("yellow", "red", "blue"), "red"))
    icebreaker = begin(SessionStarted(game="icebreaker", players=("red", "black")))
    assert icebreaker.view().may_begin == ("black",)
    for session in (zamboni, icebreaker):
        session.append(
            VerdictReached(verdict="accepted", code="set_up", message="The pieces stand.")
        )
    assert (zamboni.view().may_begin, icebreaker.view().may_begin) == (("yellow", "blue"), ())
    zamboni.command(Hear(heard={"begins": "blue"}))
    assert Session.reopen(log, zamboni.id).ledger.state == GAMES["zamboni_wars"].start(
        ("blue", "yellow", "red"), {}
    )


def test_who_has_resigned_does_not_begin(begin, log):
    session = begin(by_lot())
    session.command(Resign(player="yellow"))
    assert session.view().may_begin == ("blue",)
    session.command(Hear(heard={"begins": "blue"}))
    with pytest.raises(InputError, match="Yellow cannot begin"):
        session.command(Hear(heard={"begins": "yellow"}))
    session.command(Declare(moves=("target green", "throw blue out: nothing")))
    assert session.ledger.state.next == "blue"
    assert session.view().state["left"]["blue"] == 3
    assert [throw.player for game in games_of(log, session.id, GAMES) for throw in game.throws] == [
        "blue"
    ]


@pytest.mark.parametrize(
    ("begins", "game", "message"),
    [
        (
            "green",
            "ice_boule",
            "--begins: expected lot, roll or a player (red, blue, yellow), got 'green'",
        ),
        (
            "LOT",
            "ice_boule",
            "--begins: expected lot, roll or a player (red, blue, yellow), got 'LOT'",
        ),
        (
            "lot",
            "icebreaker",
            (
                "--begins: expected the colour of the starting player (the rules of"
                " icebreaker say who that is), got 'lot'"
            ),
        ),
        (
            "roll",
            "icebreaker",
            (
                "--begins: expected the colour of the starting player (the rules of"
                " icebreaker say who that is), got 'roll'"
            ),
        ),
    ],
)
def test_what_cannot_be_chosen_is_refused(begins, game, message):
    with pytest.raises(InputError) as caught:
        first_player_decision(begins, game, PLAYERS)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    "document",
    [
        {"begins": "lot", "first": "green"},
        {"begins": "lot"},
        {"begins": "roll", "first": "red"},
        {"begins": "hand", "first": "pink"},
        {"begins": "dance"},
    ],
)
def test_a_log_that_says_what_cannot_be_is_refused(begin, document):
    with pytest.raises(InputError, match=r"first|begins"):
        begin(
            decode(
                json.dumps(
                    {
                        "schema": 8,
                        "fact": "session_started",
                        "game": "icefloe",
                        "players": list(PLAYERS),
                    }
                    | document
                ),
                "log",
            )
        )


def test_every_roll_is_a_record_and_the_last_one_says_who_begins_and_why(begin, log):
    session = begin(rolled_for(), dice=(6, 2))
    assert session.view().state["turn"] == "Red rolls to see who begins, then blue and yellow."
    assert roller(session.ledger) == "red"
    assert standing(session.ledger, None).of == ("red",)
    first = session.command(Roll(player="red")).event
    assert (type(first), first.evidence["dice"], first.moves) == (
        InputRecorded,
        [6],
        ("begin-roll 1 red 6",),
    )
    roll(session, "yellow", 6)
    message = roll(session, "blue", 1).message
    assert (
        message == "Blue rolled 1. Red and yellow tie and roll again. Red rolls to see who begins,"
        " then yellow."
    )
    assert session.view().state["rolls"] == {"red": None, "yellow": None}
    session.command(Roll(player="yellow"))
    last = roll(session, "red", 1)
    assert (type(last), last.verdict, last.code, last.player, last.rests_on) == (
        VerdictReached,
        "accepted",
        "begins.roll",
        "yellow",
        "Roll The Die",
    )
    assert last.message == "Red rolled 1. Yellow begins."
    assert last.evidence["round"] == [{"red": 6, "blue": 1, "yellow": 6}, {"red": 1, "yellow": 2}]
    assert session.ledger.state == GAMES["icefloe"].start(("yellow", "red", "blue"), {})
    assert session.view().players == PLAYERS, "seats stay where they are"
    assert session.view().verdicts[0].clauses[0].name == "Roll The Die"
    assert len(session.records()) == 6
    again = Session.reopen(log, session.id)
    assert (again.ledger.state, again.view()) == (session.ledger.state, session.view())


def test_a_session_is_gone_on_with_in_the_middle_of_the_roll(begin, log):
    session = begin(rolled_for())
    roll(session, "blue", 4)
    again = Session.reopen(log, session.id)
    assert again.ledger.state == session.ledger.state
    assert again.ledger.rolling
    roll(again, "red", 3)
    assert roll(again, "yellow", 5).message == "Yellow rolled 5. Yellow begins."


def test_a_roll_is_refused_from_who_does_not_roll_and_twice_and_the_game_goes_on(begin):
    session = begin(rolled_for())
    roll(session, "red", 3)
    twice = roll(session, "red", 6)
    assert (twice.verdict, twice.evidence, twice.message) == (
        "refused",
        {"violation": "begins.twice"},
        "Red has already rolled 3. Blue rolls to see who begins, then yellow.",
    )
    for message in (
        {"player": "green", "die": 4},
        {"player": "blue", "die": 7},
        {"player": "blue", "die": "4"},
    ):
        with pytest.raises(InputError, match="input: "):
            session.command(Hear(heard=message))
    with pytest.raises(InputError, match="not now: First decide who begins"):
        session.command(Hear(heard={"player": "red", "vote_value": "4"}))
    with pytest.raises(InputError, match="First decide who begins"):
        session.command(Declare(moves=("AS:b3",)))
    roll(session, "blue", 3)
    roll(session, "yellow", 1)
    tie = roll(session, "yellow", 6)
    assert (tie.verdict, tie.evidence) == ("refused", {"violation": "begins.tie"})
    assert session.ledger.rolling


def test_a_roll_that_was_read_wrongly_is_taken_back_or_corrected(begin):
    session = begin(rolled_for())
    first = session.command(Hear(heard={"player": "red", "die": 3})).seq
    assert session.alternatives(first)[0].label == "Red rolled 2"
    session.command(Correct(record=first, moves=("begin-roll 1 red 5",)))
    roll(session, "blue", 5)
    roll(session, "yellow", 1)
    roll(session, "red", 1)
    with pytest.raises(InputError, match="not be legal"):
        session.command(Undo(record=first))  # the second round rests on it
    session.command(Undo())
    session.command(Undo())
    assert session.ledger.state.due == ("yellow",)
    assert roll(session, "yellow", 6).message == "Yellow rolled 6. Yellow begins."
    session.command(Undo())
    assert session.ledger.rolling, "who begins is open again"
    session.command(Declare(moves=("begin-with blue",)))
    assert session.ledger.state.players[0] == "blue"


@pytest.mark.parametrize("game", ["ice_boule", "ice_storm", "zamboni_wars"])
def test_every_game_whose_rules_leave_it_open_may_be_rolled_for(begin, game):
    players = {"zamboni_wars": ("yellow", "red", "blue")}.get(game, PLAYERS)
    session = begin(rolled_for(game, players))
    for player, die in zip(players, (2, 6, 1), strict=True):
        event = roll(session, player, die)
    assert (event.player, event.rests_on) == (players[1], "Setup" if game == "ice_boule" else "")
    assert session.ledger.state == GAMES[game].start((players[1], players[2], players[0]), {})


def test_the_next_game_begins_as_the_one_before_or_as_people_say(begin, log):
    session = begin(
        SessionStarted(game="ice_boule", players=PLAYERS, begins="lot", first="blue"),
        lots=("yellow", "red"),
    )
    started = session.command(NextGame()).event
    assert (started.begins, started.first, started.rests_on, session.ledger.state.players[0]) == (
        "lot",
        "yellow",
        "Setup",
        "yellow",
    )
    assert (
        session.view().verdicts[0].message
        == "Picked at random among red, blue and yellow. Yellow begins."
    )
    session.command(parse_command({"command": "next_game", "begins": "roll"}))
    for player, die in zip(PLAYERS, (1, 2, 3), strict=True):
        roll(session, player, die)
    assert session.ledger.state.players == ("yellow", "red", "blue")
    session.command(NextGame())
    assert session.ledger.rolling, "rolled for again"
    session.command(parse_command({"command": "next_game", "begins": "blue"}))
    assert session.ledger.state.players == ("blue", "yellow", "red")
    assert session.command(NextGame()).event.first == "blue", "by hand it stays who it was"
    assert session.command(NextGame(players=("yellow", "red"))).event.first == "", (
        "unless others play"
    )
    with pytest.raises(InputError, match="expected lot, roll or a player"):
        session.command(parse_command({"command": "next_game", "begins": "green"}))
    assert Session.reopen(log, session.id).ledger.state == session.ledger.state
    assert session.ledger.game_number == 7


def test_the_next_game_that_was_begun_too_early_is_taken_back(begin):
    session = begin(rolled_for())
    for player, die in zip(PLAYERS, (1, 2, 3), strict=True):
        roll(session, player, die)
    state = session.ledger.state
    session.command(NextGame())
    roll(session, "red", 4)
    session.command(Undo())
    session.command(Undo())
    assert session.ledger.state == state


def test_the_log_shows_how_it_was_decided(log):
    session = Session.begin(log, rolled_for(rests_on="", message=""))
    for player, die in zip(PLAYERS, (1, 2, 3), strict=True):
        roll(session, player, die)
    session.command(NextGame(begins="red"))
    Session.begin(
        log,
        opening(
            "ice_boule",
            ("red", "blue"),
            {},
            SETUP,
            "film",
            BEGUN,
            begins="lot",
            lot=lambda _: "blue",
        ),
    )
    shown = [
        CliRunner()
        .invoke(main, ["log", "show", number, "--log", str(log.path)], env={"COLUMNS": "200"})
        .output
        for number in ("1", "6")
    ]
    assert "Yellow rolled 3. Yellow begins." in shown[0]
    assert "Roll The Die" in shown[0]
    assert "next game: red, blue, yellow; Red begins: set by hand." in shown[0]
    assert "ice_boule: red, blue; Picked at random among red and blue. Blue begins." in shown[1]
    assert "Setup" in shown[1]


def test_a_log_is_exported_and_imported_with_it(log, tmp_path):
    session = Session.begin(log, rolled_for())
    for player, die in zip(PLAYERS, (1, 3, 2), strict=True):
        roll(session, player, die)
    session.end()
    for words in (["export", "1", str(tmp_path / "one.zip")], ["check"]):
        done = CliRunner().invoke(main, ["log", *words, "--log", str(log.path)])
        assert (done.exit_code, done.stderr) == (0, "")
    with Log(tmp_path / "other.sqlite"):
        pass
    done = CliRunner().invoke(
        main, ["log", "import", str(tmp_path / "one.zip"), "--log", str(tmp_path / "other.sqlite")]
    )
    assert done.exit_code == 0, done.output
    with Log(tmp_path / "other.sqlite") as other:
        assert Session.reopen(other, 1).ledger.state == session.ledger.state
