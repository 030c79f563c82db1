"""Every kind of move reaches the referee: what no camera can see has a button, a form that `hear`
takes, and a documented line of inputs.jsonl.
"""

import json
import re
import typing
from functools import cache
from importlib import import_module
from itertools import islice
from pathlib import Path
from random import Random

import pytest

from engines import GAMES
from engines.errors import InvalidNotation
from engines.first_player import RolledFirst, printed
from engines.verdict import Accepted, Ambiguous, Noted
from referee.live.recorded_inputs import read_inputs
from simulation.players.policies import playout
from table.errors import InputError

TESTS = Path(__file__).parents[1]
FORMATS = (TESTS.parents[1] / "docs" / "FORMATS.md").read_text(encoding="utf-8")
TITLES = {
    "ice_boule": "Ice Boule",
    "icebreaker": "Icebreaker",
    "ice_storm": "Ice Storm",
    "icefloe": "IceFloe",
    "zamboni_wars": "Zamboni Wars",
}
ROWS = [
    tuple(part.strip() for part in line.split("|"))
    for line in Path(__file__).with_name("moves.txt").read_text().splitlines()
    if line.strip() and not line.startswith("#")
]
STARTS = {
    "ice_boule": (("blue yellow", {}), ("red white black", {"sizes": "declared"})),
    "icebreaker": (("red black", {"size": "4"}),),
    "ice_storm": (("red yellow blue", {}), ("red yellow blue", {"attack": "may"})),
    "icefloe": (("red blue yellow", {}), ("red black yellow blue", {})),
    "zamboni_wars": (
        ("yellow red blue green", {"warp": "on", "cover": "on"}),
        ("yellow red blue", {}),
    ),
}
WALKS, MOVES = 3, 250


@cache
def patterns(game):
    return [
        (form, re.compile(re.sub(r"\\\{\w+\\\}", ".+", re.escape(form.removesuffix(" back")))), how)
        for name, form, how in ROWS
        if name == game
    ]


def kind(game, move):
    """The row of the table that a move is, or its type where none is; one that ends where it began
    is written as any other.
    """
    text = str(move)
    back = re.fullmatch(r"\w\w:(\w\d)-\1", text)
    for form, pattern, _ in patterns(game):
        if pattern.fullmatch(text) and (bool(back) or not form.endswith(" back")):
            return form
    return f"no row for {type(move).__name__}"


def walker(game, chance):
    """Chooses a type of what is legal first, then a move of it, so that what is rare in a game
    comes up.
    """

    def choose(state):
        legal = list(islice(GAMES[game].legal_moves(state), 400))
        wanted = chance.choice(sorted({type(move).__name__ for move in legal}))
        return chance.choice([move for move in legal if type(move).__name__ == wanted])

    return choose


@cache
def walked(game):
    """States that games played by chance come through, and those that the data of the tests begin
    from.
    """
    found = []
    for players, rulings in STARTS[game]:
        first = GAMES[game].start(players.split(), rulings)
        for seed in range(WALKS):
            found += [
                first,
                *(
                    state
                    for _, state in islice(
                        playout(GAMES[game], first, walker(game, Random(seed))), MOVES
                    )
                ),
            ]
    lines = (
        line
        for path in sorted((TESTS / game / "data").glob("*.txt"))
        for line in path.read_text().splitlines()
    )
    return [
        *found,
        *(
            GAMES[game].State.parse(line.removeprefix("state "))
            for line in lines
            if line.startswith("state ")
        ),
    ]


@cache
def met(game):
    """Moves of all kinds: what is legal on the way, and what the data of the tests try."""
    found = {move for state in walked(game) for move in islice(GAMES[game].legal_moves(state), 200)}
    for path in sorted((TESTS / game / "data").glob("*.txt")):
        for line in path.read_text().splitlines():
            for text in re.split(r" -> | !! |\|", line)[:1]:
                try:
                    found.add(GAMES[game].parse_move(text.strip()))
                except InvalidNotation:
                    continue
    return found


@cache
def heard(game):
    """The documents that buttons send, by the kinds of moves that come of them."""
    found = {}
    for state in walked(game):
        for button in GAMES[game].state_document(state).get("may_say") or ():
            verdict = GAMES[game].hear(state, button["said"])
            moves = verdict.moves if isinstance(verdict, Accepted | Noted) else ()
            if isinstance(verdict, Ambiguous):
                moves = tuple(move for choice in verdict.choices for move in choice.moves)
            for move in moves:
                found.setdefault(kind(game, GAMES[game].parse_move(move)), []).append(
                    button["said"]
                )
    return found


def documented(game):
    """The keys, beside the player, that docs/FORMATS.md has rows for: `vote_value`, `vote_suit`
    ...
    """
    rows = [
        line.split("|")
        for line in FORMATS.splitlines()
        if line.startswith(f"| {TITLES[game]} | `player`")
    ]
    return {key for row in rows for key in re.findall(r"`(\w+)` \(", row[2])}


@pytest.mark.parametrize("game", GAMES)
def test_every_type_of_move_is_met_and_is_in_the_table_and_nothing_else_is(game):
    types = (
        set(typing.get_args(union))
        if typing.get_args(union := import_module(f"engines.{game}.moves").Move)
        else {union}
    )
    assert {type(move) for move in met(game)} == types
    assert {kind(game, move) for move in met(game)} == {form for form, _, _ in patterns(game)}
    assert {how for _, _, how in patterns(game)} <= {"seen", "said", "else"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("game", "form"), [(game, form) for game, form, how in ROWS if how == "said"]
)
def test_what_no_camera_sees_has_a_button_a_form_to_be_heard_and_a_documented_line_of_inputs(
    game, form, tmp_path
):
    assert form in heard(game), "no button in any state leads to it"
    assert {key for document in heard(game)[form] for key in document} - {"player"} <= documented(
        game
    )
    path = tmp_path / "inputs.jsonl"
    path.write_text(
        "".join(json.dumps({"t_ms": 40, **message}) + "\n" for message in heard(game)[form]),
        encoding="utf-8",
    )
    assert [one.heard for one in read_inputs(path)] == heard(game)[form]


@pytest.mark.parametrize("game", GAMES)
def test_what_is_documented_is_understood(game):
    """Each key of docs/FORMATS.md is one that the game can hear: a document with it is not refused
    for its keys.
    """
    state = walked(game)[0]
    for line in (
        line for line in FORMATS.splitlines() if line.startswith(f"| {TITLES[game]} | `player`")
    ):
        for keys in re.split(r"\) or (?=`)", line.split("|")[2]):
            document = {
                "player": state.players[0],
                **dict.fromkeys(re.findall(r"`(\w+)` \(", keys)),
            }
            refused = ""
            try:
                GAMES[game].hear(state, document)
            except InputError as error:
                refused = str(error)
            assert "expected the keys" not in refused, document


@pytest.mark.parametrize("game", [game for game in GAMES if "roll" in printed(game).ways])
def test_a_roll_for_who_begins_has_a_button_and_a_documented_line(game):
    rolled = RolledFirst(GAMES[game])
    players, rulings = STARTS[game][0]
    state = rolled.start(players.split(), rulings)
    for button in rolled.state_document(state)["may_say"]:
        (move,) = rolled.hear(state, button["said"]).moves
        assert move.startswith("begin-roll 1 ")
        assert set(button["said"]) == {"player", "die"}
    assert "| all, while who begins is rolled for | `player`, `die` (1 to 6; " in FORMATS
