"""What every game of `engines.GAMES` must always do, whoever plays it and whatever is tried.

One example is one game, played from a drawn seed with every check in it: see `test_a_game`.
RINKSIDE_EXAMPLES=20000 tries as many games of each kind; by default there are a few, the same every
time.
"""

import os
from functools import cache
from itertools import islice
from pathlib import Path
from random import Random

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engines import GAMES
from engines.errors import IllegalMove, InvalidNotation
from simulation.players.policies import GreedyPlayer, RandomPlayer, playout
from table.errors import InputError
from table.pieces import COLOURS

LONGEST = 5000
"""Moves after which a game that chance plays would surely be over."""
LENGTHS = (*(0, 1, 2, 5, 10, 20, 40, 80) * 5, LONGEST)
"""Moves after which a game is left, to be looked at; the last one: when it is over."""
STARTS = [
    tuple(part.strip() for part in line.split("|"))
    for line in Path(__file__).with_name("starts.txt").read_text().splitlines()
    if line.strip() and not line.startswith("#")
]
games = pytest.mark.parametrize("name", GAMES)
several = settings(
    max_examples=int(os.environ.get("RINKSIDE_EXAMPLES", "80")),
    suppress_health_check=list(HealthCheck),
)
seeds = st.integers(0, 2**64)


def ice_boule_pieces(state):
    lying = [len(state.layout.of(player)) for player in state.players]
    return all(here <= thrown <= 4 for here, thrown in zip(lying, state.thrown, strict=True))


def icebreaker_pieces(state):
    first, second = state.ships
    apart = first & second == first & state.ice == second & state.ice == 0
    cells = state.setting.board.cells
    inside = (first | second | state.ice) & ~cells == 0
    return (
        apart
        and inside
        and first.bit_count() == second.bit_count() == 3
        and state.ice.bit_count() + sum(state.scores) == cells.bit_count() - 6
    )


def ice_storm_pieces(state):
    """On the board and in stacks are no more than were thrown; what is missing was wasted."""
    named = {piece.name for piece in state.pieces}
    return len(named) == len(state.pieces) and len(named) + sum(
        state.stacks
    ) <= state.thrown <= 5 * len(state.players)


def icefloe_pieces(state):
    """Everything is on one tile, nothing twice."""
    pyramids = [pyramid for floe in state.board.floes for pyramid in floe.pyramids]
    tiles = [floe.tile for floe in state.board.floes]
    return len(set(pyramids)) == len(pyramids) <= 24 and len(set(tiles)) == len(tiles) <= 24


def zamboni_wars_pieces(state):
    """Nests and cover dice have a space each, nests three layers at most."""
    left = [nest for nest in state.zambonis if nest]
    spaces = [nest.space for nest in left] + list(state.dice)
    return (
        len(set(spaces)) == len(spaces)
        and all(1 <= nest.layers <= 3 for nest in left)
        and len(state.dice) <= 2
    )


PIECES_ADD_UP = {
    "ice_boule": ice_boule_pieces,
    "icebreaker": icebreaker_pieces,
    "ice_storm": ice_storm_pieces,
    "icefloe": icefloe_pieces,
    "zamboni_wars": zamboni_wars_pieces,
}


def starts(name):
    """First states of a game."""
    rows = [(players.split(), rulings.split()) for game, players, rulings in STARTS if game == name]
    return [
        GAMES[name].start(players, dict(word.split("=") for word in rulings))
        for players, rulings in rows
    ]


def check_line(game, state):
    """The state prints and parses back, and its pieces add up."""
    line = str(state)
    assert "\n" not in line
    again = game.State.parse(line)
    assert again == state
    assert hash(again) == hash(state)
    assert PIECES_ADD_UP[game.NAME](state), line


def check_state(game, state, chance):
    """What holds for every state that there is; of many legal moves it looks at a few more
    closely.
    """
    check_line(game, state)
    line = str(state)
    assert len(state.scores) == len(state.players)
    assert state.next is None or state.next in state.players
    document = game.state_document(state)
    msgspec.json.encode(document)
    assert document["turn"].endswith(".")
    assert document["scores"] == dict(zip(state.players, state.scores, strict=True))
    over = game.outcome(state) is not None
    assert document["outcome"] == (str(game.outcome(state)) if over else None)
    legal = game.legal_moves(state)
    moves = list(legal)
    assert len(legal) == len(moves) == len(set(moves))
    assert bool(moves) != over, f"{line}: either the game is over or something is legal"
    assert str(legal)
    for move in chance.sample(moves, min(len(moves), 12)):
        assert game.parse_move(str(move)) == move
        assert move in legal
        assert game.violation(state, move) is None


def check_attempt(game, state, move):
    """`in`, `violation` and `play` agree on any move, and the state stays as it was; the violation,
    if any.
    """
    line = str(state)
    wrong = game.violation(state, move)
    assert (move in game.legal_moves(state)) == (wrong is None), f"{move} in {line}"
    if wrong is None:
        check_line(game, game.play(state, move))
    else:
        assert wrong.code
        assert wrong.clause
        assert wrong.message.endswith(".")
        assert "\n" not in wrong.message
        with pytest.raises(IllegalMove) as raised:
            game.play(state, move)
        assert raised.value.violation == wrong
        assert f"'{move}'" in str(raised.value)
    assert str(state) == line
    assert game.State.parse(line) == state
    return wrong


def read(parse, text):
    """What the text says; None where it is refused, in one line that quotes it."""
    try:
        return parse(text)
    except InvalidNotation as error:
        message = str(error)
    assert repr(text) in message
    assert "\n" not in message
    return None


@games
def test_every_game_has_starts(name):
    assert starts(name)


@cache
def pool(name):
    """Moves of all kinds: from every start of the game, some way into it, played by chance."""
    game, chance = GAMES[name], Random(7)
    found = {}
    for first in starts(name):
        state = first
        for _ in range(60):
            moves = list(game.legal_moves(state))
            if not moves:
                break
            found |= dict.fromkeys(chance.sample(moves, min(5, len(moves))))
            state = game.play(state, chance.choice(moves))
    return list(found)


def mutated(chance, text, letters):
    """The text with some of its characters left out, doubled, swapped or replaced."""
    for _ in range(chance.randint(1, 3)):
        at, to = sorted(chance.randrange(len(text) + 1) for _ in "ab")
        piece = chance.choice(["", chance.choice(letters), text[at:to] * 2])
        text = text[:at] + piece + text[chance.choice([at, at + 1, to]) :]
    return text


def played(game, first, player, length):
    """So many moves of a game: the log, and where it stands then; `play` leaves the state that it
    was given as it was.
    """
    log, state = [], first
    for move, after in islice(playout(game, first, player.choose), length):
        if len(log) < 3 or len(log) % 16 == 0:
            check_line(game, after)
            assert game.play(state, move) == after, "play changed the state that it was given"
        log.append(str(move))
        state = after
    return log, state


@games
@several
@given(seeds)
def test_a_game(name, seed):
    """A game that chance or greed plays, some way or to its end; then all that is legal there, what
    is not, and lines like its own.

    Every legal move prints, parses, is in the collection, and breaks no rule; moves from elsewhere
    and moves that are nearly right are refused by a rule or legal, never both; lines that are
    nearly states are states or are refused; the log leads there.
    """
    game, chance = GAMES[name], Random(seed)
    first, length = chance.choice(starts(name)), chance.choice(LENGTHS)
    player = (GreedyPlayer if chance.random() < 0.1 else RandomPlayer)(game, chance)
    log, state = played(game, first, player, length)
    assert len(log) < LONGEST, f"no end: {state}"
    check_state(game, state, chance)
    assert set(game.state_document(state)) == set(game.state_document(first))
    near = [str(move) for move in game.legal_moves(state)]
    for _ in range(4):
        check_attempt(game, state, chance.choice(pool(name)))
        text = mutated(chance, chance.choice(near or log), sorted(set("".join(near or log))))
        if (move := read(game.parse_move, text)) is not None:
            assert game.parse_move(str(move)) == move
            check_attempt(game, state, move)
    line = str(state)
    for _ in range(2):
        if (other := read(game.State.parse, mutated(chance, line, sorted(set(line))))) is not None:
            check_state(game, other, chance)
    again = first
    for text in log:
        again = game.play(again, game.parse_move(text))
    assert again == state


@games
@given(text=st.text())
def test_any_text(name, text):
    """Text that is no notation is refused and quoted."""
    game = GAMES[name]
    for parse in (game.parse_move, game.State.parse):
        if (found := read(parse, text)) is not None:
            assert parse(str(found)) == found


@games
def test_a_state_cut_short(name):
    for state in starts(name):
        line = str(state)
        for length in range(len(line)):
            with pytest.raises(InvalidNotation):
                GAMES[name].State.parse(line[:length])


@games
@pytest.mark.parametrize(
    ("change", "rulings", "expected"),
    [
        (lambda _: [], {}, "players: "),
        (lambda players: ["anna", *players[1:]], {}, "players: "),
        (lambda players: [*players[:1], *players], {}, "players: "),
        (lambda _: COLOURS, {}, "players: "),
        (lambda players: players, {"luck": "good"}, "rulings: expected one of the names "),
        (lambda players: players, None, "rulings."),
    ],
    ids=["nobody", "a name", "a colour twice", "too many", "an unknown ruling", "an unknown value"],
)
def test_a_game_that_cannot_start(name, change, rulings, expected):
    game = GAMES[name]
    rulings = {game.RULINGS[0].name: "perhaps"} if rulings is None else rulings
    with pytest.raises(InputError) as raised:
        game.start(change(starts(name)[0].players), rulings)
    assert str(raised.value).startswith(expected)
    assert "\n" not in str(raised.value)


@games
def test_rulings_are_told(name):
    for ruling in GAMES[name].RULINGS:
        assert ruling.values
        assert ruling.cites
        assert ruling.description
    assert {ruling.name for ruling in GAMES[name].RULINGS} == set(
        GAMES[name].state_document(starts(name)[0])["rulings"]
    )
