"""Property tests of the rules of any game.

One example is one game, played from a drawn seed with all checks: see `test_a_game`.
RINKSIDE_EXAMPLES=20000 plays that many games of each kind; the default is a few, always the same.
"""

import os
from functools import cache
from itertools import islice
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
"""Number of random moves by which any game is over."""
LENGTHS = (*(0, 1, 2, 5, 10, 20, 40, 80) * 5, LONGEST)
"""Number of moves before the checks; the last one means the end of the game."""
several = settings(
    max_examples=int(os.environ.get("RINKSIDE_EXAMPLES", "80")),
    suppress_health_check=list(HealthCheck),
    deadline=None,
)
seeds = st.integers(0, 2**64)


def check_line(game, state):
    """The state prints and parses back."""
    line = str(state)
    assert "\n" not in line
    again = game.State.parse(line)
    assert again == state
    assert hash(again) == hash(state)


def check_state(game, state, chance):
    """Invariants of every state; out of many legal moves a few are checked in depth."""
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
    """Check that `in`, `violation` and `play` agree on a move and leave the state unchanged.

    Returns the violation, if any.
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
    """Parse a text; None if it is refused with a one-line message that quotes it."""
    try:
        return parse(text)
    except InvalidNotation as error:
        message = str(error)
    assert repr(text) in message
    assert "\n" not in message
    return None


@cache
def pool(name, starts):
    """Moves of all kinds, from random play out of every start of the game."""
    game, chance = GAMES[name], Random(7)
    found = {}
    for first in starts:
        state = first
        for _ in range(60):
            moves = list(game.legal_moves(state))
            if not moves:
                break
            found |= dict.fromkeys(chance.sample(moves, min(5, len(moves))))
            state = game.play(state, chance.choice(moves))
    return list(found)


def mutated(chance, text, letters):
    """The text with some characters deleted, doubled, swapped or replaced."""
    for _ in range(chance.randint(1, 3)):
        at, to = sorted(chance.randrange(len(text) + 1) for _ in "ab")
        piece = chance.choice(["", chance.choice(letters), text[at:to] * 2])
        text = text[:at] + piece + text[chance.choice([at, at + 1, to]) :]
    return text


def played(game, first, player, length):
    """Play up to `length` moves, with checks; returns the log and the last state."""
    log, state = [], first
    for move, after in islice(playout(game, first, player.choose), length):
        if len(log) < 3 or len(log) % 16 == 0:
            check_line(game, after)
            assert game.play(state, move) == after, "play changed the state that it was given"
        log.append(str(move))
        state = after
    return log, state


@several
@given(seed=seeds)
def test_a_game(name, starts, pieces_add_up, seed):
    """A game that chance or greed plays, some way or to its end; then all that is legal there, what
    is not, and lines like its own.

    Every legal move prints, parses, is in the collection, and breaks no rule; moves from elsewhere
    and moves that are nearly right are refused by a rule or legal, never both; lines that are
    nearly states are states or are refused; the log leads there.
    """
    game, chance = GAMES[name], Random(seed)
    first, length = chance.choice(starts), chance.choice(LENGTHS)
    player = (GreedyPlayer if chance.random() < 0.1 else RandomPlayer)(game, chance)
    log, state = played(game, first, player, length)
    assert len(log) < LONGEST, f"no end: {state}"
    check_state(game, state, chance)
    assert pieces_add_up(game, state), state
    assert set(game.state_document(state)) == set(game.state_document(first))
    near = [str(move) for move in game.legal_moves(state)]
    for _ in range(4):
        check_attempt(game, state, chance.choice(pool(name, tuple(starts))))
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


@given(text=st.text())
def test_any_text(name, text):
    """Text that is no notation is refused and quoted."""
    game = GAMES[name]
    for parse in (game.parse_move, game.State.parse):
        if (found := read(parse, text)) is not None:
            assert parse(str(found)) == found


def test_a_state_cut_short(name, starts):
    for state in starts:
        line = str(state)
        for length in range(len(line)):
            with pytest.raises(InvalidNotation):
                GAMES[name].State.parse(line[:length])


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
def test_a_game_that_cannot_start(name, starts, change, rulings, expected):
    game = GAMES[name]
    rulings = {game.RULINGS[0].name: "perhaps"} if rulings is None else rulings
    with pytest.raises(InputError) as raised:
        game.start(change(starts[0].players), rulings)
    assert str(raised.value).startswith(expected)
    assert "\n" not in str(raised.value)


def test_rulings_are_told(name, starts):
    for ruling in GAMES[name].RULINGS:
        assert ruling.values
        assert ruling.cites
        assert ruling.description
    assert {ruling.name for ruling in GAMES[name].RULINGS} == set(
        GAMES[name].state_document(starts[0])["rulings"]
    )


@settings(max_examples=20, suppress_health_check=list(HealthCheck), deadline=None)
@given(seed=st.integers(0, 2**32), length=st.integers(0, 60))
def test_all_that_is_offered_is_legal_and_something_else(name, starts, seed, length):
    game, chance = GAMES[name], Random(seed)
    player, state, elsewhere = RandomPlayer(game, chance), starts[0], []
    for _ in range(length):
        if game.outcome(state) is not None:
            return
        elsewhere.append(player.choose(state))
        state = game.play(state, elsewhere[-1])
    if game.outcome(state) is not None:
        return
    for move in (player.choose(state), *chance.sample(elsewhere, min(3, len(elsewhere)))):
        offered = game.alternatives(state, (str(move),))
        assert (
            len({choice.label for choice in offered})
            == len({choice.moves for choice in offered})
            == len(offered)
        ), f"{move} in {state}"
        for choice in offered:
            (text,) = choice.moves
            assert text != str(move)
            assert game.violation(state, game.parse_move(text)) is None, (
                f"{text} for {move} in {state}"
            )
    assert game.alternatives(state, ()) == ()
