"""Who begins, rolled for before any game: the highest of the last round begins, and nothing but the
first place is changed by it.
"""

import ast
import re
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engines import GAMES, first_player
from engines.errors import IllegalMove, InvalidNotation
from engines.first_player import RolledFirst, Rolling, printed, turn_order
from engines.game import ALL_WAYS
from engines.rule_texts import explain
from engines.verdict import Accepted, Noted, Refused, Waiting
from table.errors import InputError
from tests.support.sentences import untemplated, without_template

PLAYERS = {
    "ice_boule": ("blue", "yellow", "red", "green"),
    "ice_storm": ("red", "yellow", "blue", "green"),
    "icefloe": ("red", "black", "blue", "yellow"),
    "zamboni_wars": ("yellow", "red", "blue", "green"),
}
games = pytest.mark.parametrize("name", PLAYERS)


def begin(name, players=None, **rulings):
    """A game of which the start is rolled for, and its first state."""
    game = RolledFirst(GAMES[name])
    return game, game.set_up(players or PLAYERS[name], rulings, None)


def follow(game, state, verdict):
    for move in verdict.moves:
        state = game.play(state, game.parse_move(move))
    return state


def by_the_rules(players, rolls):
    """Who wins a roll-off, told slowly: rounds of rolls by player, the last one without a tie; and
    who takes part in each.
    """
    left, parts = players, []
    for one in rolls:
        parts.append(left)
        most = max(one[player] for player in left)
        left = tuple(player for player in left if one[player] == most)
        if len(left) == 1:
            return left[0], parts
    return None, parts


@games
@settings(max_examples=60)
@given(data=st.data())
def test_the_highest_of_the_last_round_begins_and_only_who_tied_rolls_again(name, data):
    players = PLAYERS[name]
    game, state = begin(name)
    rolls, shuffled = [], st.permutations(players)
    while isinstance(state, Rolling):
        # A few faces at first, so that there are ties; with 12 rounds at the latest all are
        # different, and it ends.
        one = {
            player: data.draw(st.integers(1, 2)) if len(rolls) < 12 else seat + 1
            for seat, player in enumerate(players)
        }
        due, rounds = state.due, len(state.rounds)
        rolls.append(one)
        _, parts = by_the_rules(players, rolls)
        assert due == parts[-1], "exactly those who tied roll again"
        for player in (player for player in data.draw(shuffled) if player in due):
            assert isinstance(state, Rolling)
            assert len(state.rounds) == rounds
            assert game.State.parse(str(state)) == state
            assert set(game.legal_moves(state)) >= {
                game.parse_move(f"begin-roll {rounds} {who} 3") for who in state.due
            }
            verdict = game.hear(state, {"player": player, "die": one[player]})
            assert isinstance(verdict, Noted | Accepted)
            state = follow(game, state, verdict)
    winner, _ = by_the_rules(players, rolls)
    assert isinstance(verdict, Accepted)
    assert verdict.player == winner
    last = verdict.evidence["round"][-1]
    assert [player for player in last if last[player] >= max(last.values())] == [winner], (
        "the strict maximum of the last round"
    )
    assert state == GAMES[name].set_up(turn_order(players, winner), {}, None)
    assert verdict.rests_on == printed(name).rests_on("roll")


@games
def test_only_the_first_place_changes_never_the_order(name):
    players = PLAYERS[name]
    assert turn_order(players, "") == players
    for seat, first in enumerate(players):
        order = turn_order(players, first)
        assert order == players[seat:] + players[:seat]
        assert GAMES[name].set_up(order, {}, None).players == order


@games
def test_people_may_stop_the_roll_and_say_who_begins(name):
    game, state = begin(name)
    state = follow(game, state, game.hear(state, {"player": PLAYERS[name][0], "die": 6}))
    after = game.play(state, game.parse_move(f"begin-with {PLAYERS[name][2]}"))
    assert after.players[0] == PLAYERS[name][2]


@games
def test_while_it_is_rolled_for_nothing_else_may_be_done(name):
    game, state = begin(name)
    document = game.state_document(state)
    msgspec.json.encode(document)
    assert set(document) >= set(game.state_document(game.begun(state, "")))
    first, *others = PLAYERS[name]
    faces = 7 if name == "icefloe" else 6
    assert len(document["may_say"]) == faces * len(PLAYERS[name])
    assert (document["next"], document["to_roll"], document["phase"]) == (
        None,
        [first, *others],
        "begins",
    )
    assert document["may_say"][-1]["said"] == {"player": others[-1], "die": 6}
    for one in document["may_say"]:
        assert isinstance(game.hear(state, one["said"]), Noted)
    assert game.outcome(state) is None
    assert {option.who for option in game.options(state)} == set(PLAYERS[name])
    assert isinstance(game.judge(state, None, None, None), Waiting), "whatever lies on the table"
    for one in game.state_document(game.begun(state, ""))["may_say"]:
        if "die" not in one["said"]:
            assert isinstance(game.hear(state, one["said"]), Waiting)


@games
@pytest.mark.parametrize("die", [7, -1, 1.5, "5", True, None, [6], 10**30])
def test_what_no_die_shows_is_not_understood(name, die):
    game, state = begin(name)
    with pytest.raises(InputError, match="input: die: expected"):
        game.hear(state, {"player": PLAYERS[name][0], "die": die})


@pytest.mark.parametrize(
    "message",
    [
        {"player": "pink", "die": 3},
        {"player": "blue", "die": 3, "twice": True},
        {"die": 3},
        {"player": "blue", "jump": 1},
    ],
)
def test_what_nobody_can_say_is_not_understood(message):
    game, state = begin("ice_boule")
    with pytest.raises(InputError, match="input: "):
        game.hear(state, message)


def test_who_rolls_twice_or_does_not_roll_is_refused_and_counts_for_nothing():
    game, state = begin("icefloe")
    red, black, blue, yellow = PLAYERS["icefloe"]
    state = follow(game, state, game.hear(state, {"player": red, "die": 5}))
    twice = game.hear(state, {"player": red, "die": 6})
    assert (type(twice), twice.code, twice.evidence, twice.stands) == (
        Refused,
        "begins.roll",
        {"violation": "begins.twice"},
        (),
    )
    for player, die in ((black, 5), (blue, 1), (yellow, 2)):
        verdict = game.hear(state, {"player": player, "die": die})
        state = follow(game, state, verdict)
    assert (
        verdict.message
        == "Yellow rolled 2. Red and black tie and roll again. Red rolls to see who begins,"
        " then black."
    )
    out = game.hear(state, {"player": blue, "die": 6})
    assert (type(out), out.evidence) == (Refused, {"violation": "begins.tie"})
    assert (
        out.message
        == "Blue does not roll again: red and black are tied. Red rolls to see who begins, then"
        " black."
    )
    assert [*untemplated(twice), *untemplated(verdict), *untemplated(out)] == []


@games
def test_what_is_said_before_the_first_move_is_templates_with_their_values(name):
    """And plain text in the document for programs."""
    game, state = begin(name)
    shown, plain = game.shown_state(state), game.state_document(state)
    labels = [one["label"] for one in shown["may_say"]]
    options = [option.label for option in game.options(state)]
    assert without_template(shown["turn"], *labels, *options) == []
    assert plain == shown
    assert {type(text) for text in (plain["turn"], plain["may_say"][0]["label"])} == {str}


def test_a_piecepack_die_may_show_nothing_in_icefloe_alone():
    game, state = begin("icefloe")
    assert game.hear(state, {"player": "red", "die": 0}).message.startswith(
        "Red rolled the empty face. "
    )
    game, state = begin("ice_boule")
    assert game.hear(state, {"player": "blue", "die": 0}).evidence == {"violation": "begins.die"}


def test_another_roll_may_have_been_meant_the_nearest_first():
    game, state = begin("ice_boule")
    labels = [choice.label for choice in game.alternatives(state, ("begin-roll 1 blue 3",))]
    assert labels[:5] == [
        "Blue rolled 2",
        "Blue rolled 4",
        "Blue rolled 1",
        "Blue rolled 5",
        "Blue rolled 6",
    ]
    assert len(labels) == 4 * 6 - 1
    for choice in game.alternatives(state, ("begin-roll 1 blue 3",)):
        follow(game, state, choice)


def test_once_it_is_decided_it_is_the_game_itself():
    game, state = begin("zamboni_wars", cover="on")
    after = game.play(state, game.parse_move("begin-with green"))
    assert game.state_document(after) == GAMES["zamboni_wars"].state_document(after)
    assert game.State.parse(str(after)) == after
    assert str(after.phase).startswith("roll-off green="), (
        "the roll-off for the cover dice comes then, from who begins on"
    )
    assert list(game.legal_moves(after)) == list(GAMES["zamboni_wars"].legal_moves(after))
    assert game.hear(after, {"player": "green", "die": 4}).moves == ("roll 4",)


def test_players_who_cannot_play_do_not_roll():
    with pytest.raises(InputError, match="players: "):
        RolledFirst(GAMES["icefloe"]).set_up(("red",), {}, None)


@pytest.mark.parametrize(
    "text",
    [
        "who_begins red blue; rolls red=1 blue=2; rulings -.",
        "who_begins red blue; rolls red=1; rulings -.",
        "who_begins red blue; rolls blue=1 red=-; rulings -.",
        "who_begins red blue; rolls red=7 blue=-; rulings -.",
        "who_begins red blue; rolls red=3 blue=2, red=- blue=-; rulings -.",
        "who_begins red red; rolls red=- red=-; rulings -.",
        "who_begins red blue; rolls red=- blue=-, red=- blue=-; rulings -.",
        "who_begins red blue; rolls red=- blue=-",
        "who_begins red blue; rolls red=- blue=-; rulings repeat.",
    ],
)
def test_a_line_that_no_roll_reaches_is_refused(text):
    with pytest.raises(InvalidNotation):
        RolledFirst(GAMES["ice_boule"]).State.parse(text)


@given(text=st.text() | st.from_regex(r"begin-(roll|with)( [a-z0-9-]{0,6}){0,4}", fullmatch=True))
def test_any_text_is_a_move_that_prints_so_or_is_refused(text):
    game = RolledFirst(GAMES["ice_boule"])
    try:
        move = game.parse_move(text)
    except InvalidNotation:
        return
    assert game.parse_move(str(move)) == move


def rows():
    """(game, state, move, code, sentence) of every row of the data; an empty sentence where none is
    written down.
    """
    lines = [
        line
        for line in Path(__file__).with_name("begins.txt").read_text().splitlines()
        if not line.startswith("#")
    ]
    where, found = ("", ""), []
    for line, below in pairwise([*lines, ""]):
        if line.startswith("state "):
            game, _, state = line.removeprefix("state ").partition(" | ")
            where = game, state
        elif not line.strip().startswith("> "):
            move, _, code = (part.strip() for part in line.partition("|"))
            found.append(
                (
                    *where,
                    move,
                    code,
                    below.strip().removeprefix("> ") if below.strip().startswith("> ") else "",
                )
            )
    return found


@pytest.mark.parametrize(("name", "line", "text", "code", "message"), rows())
def test_the_umpire_says_why(name, line, text, code, message):
    game, state = begin(name)
    state = (
        game.play(state, game.parse_move("begin-with red"))
        if line == "-"
        else game.State.parse(line)
    )
    move = game.parse_move(text)
    wrong = game.violation(state, move)
    assert wrong.code == code
    assert move not in game.legal_moves(state)
    with pytest.raises(IllegalMove) as raised:
        game.play(state, move)
    assert f"'{move}'" in str(raised.value)
    if message:
        assert str(wrong) == message


def test_every_code_has_a_sentence_written_down():
    nodes = ast.walk(ast.parse(Path(first_player.__file__).read_text()))
    written = {
        node.args[0].value
        for node in nodes
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Violation"
    }
    assert {code for *_, code, message in rows() if message} == written
    assert all(re.fullmatch(r"begins\.[a-z]+", code) for code in written)


def test_what_the_rules_say_of_it_is_explained():
    for name in GAMES:
        rule = printed(name)
        assert rule.usual in rule.ways
        assert set(rule.rests_on_it) <= set(rule.ways) <= set(ALL_WAYS)
        assert all(message for _, message in explain(name, rule.cites))
