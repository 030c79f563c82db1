"""The rules of Ice Storm in whole games: what is conserved, what the rows of data do not say, and
the filmed round.
"""

import json
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engines.errors import IllegalMove, InvalidNotation
from engines.ice_storm import (
    State,
    legal_moves,
    outcome,
    parse_move,
    play,
    shots,
    start,
    state_document,
    turn,
    violation,
)
from engines.ice_storm.fire import squares_under_fire
from engines.ice_storm.moves import Capture, Settle, Throw
from engines.ice_storm.place import Place, readings
from engines.ice_storm.squares import Square
from engines.ice_storm.state import PIECES
from tests.support.ice_storm_boards import knocking
from tests.support.paths import SHARED

FILM = SHARED / "bench" / "sequences" / "storm-0001" / "expected.jsonl"
PLAYERS = ["green", "black", "red", "yellow", "white"]


def moves_of(name):
    """Moves of a golden playthrough, refused ones too."""
    lines = (Path(__file__).with_name("data") / name).read_text().splitlines()
    return [line for line in lines if line.split(" ")[0] in ("throw", "capture", "settle")]


def test_the_filmed_round():
    """The playthrough of the film's course says what the film's referee must say; skipped where the
    film is not.
    """
    if not FILM.exists():
        pytest.skip("the filmed round is not beside the checkout")
    state = start(PLAYERS[:3], {})
    moves = iter(moves_of("play_filmed_round.txt"))
    for line in FILM.read_text().splitlines():
        expected, move = json.loads(line), parse_move(next(moves))
        before = state_document(state)
        wrong = violation(state, move)
        assert expected["verdict"] == ("refused" if wrong else "accepted"), move
        assert expected["player"] == (before["next"] or before["attacker"])
        if wrong:
            assert expected["code"] == wrong.code
        else:
            named = expected.get("played")
            assert named is None or named == move.colour
            assert (expected["code"] == "storm.throw.wasted") == (
                isinstance(move, Throw) and move.place is None
            )
            state = play(state, move)
        document = state_document(state)
        assert expected["state"] == {key: document[key] for key in expected["state"]}, move


def wasted(state):
    return state.thrown - len(state.pieces) - sum(state.stacks)


@settings(max_examples=12)
@given(st.integers(0), st.integers(3, 5))
def test_whole_games(seed, seats):
    """Pieces are conserved, turns go as the rules say, and the log leads to the same end."""
    chance = Random(seed)
    first = state = start(PLAYERS[:seats], {})
    log, starters = [], [state.next]
    while not outcome(state):
        before = state
        move = knocking(state, chance) if state.next else chance.choice(list(legal_moves(state)))
        assert violation(state, move) is None
        assert isinstance(move, Throw) == (state.attacker is None)
        state = play(state, move)
        assert State.parse(str(state)) == state
        assert parse_move(str(move)) == move
        log.append(str(move))
        check_step(before, move, state)
        if before.round_over:
            starters.append(move.player)
            assert state.totals == before.scores
            assert sum(before.points) == PIECES * seats - wasted(before)
    assert starters == PLAYERS[:seats], "each player starts one round (ruling ice_storm.9)"
    assert outcome(state).winners == tuple(
        player
        for player, score in zip(state.players, state.scores, strict=True)
        if score == max(state.scores)
    )
    again = first
    for text in log:
        again = play(again, parse_move(text))
    assert again == state


def check_step(before, move, after):
    """What one move may do to pieces and turns."""
    assert wasted(after) >= 0
    match move:
        case Throw():
            lie = 0 if before.round_over else len(before.pieces)
            assert len(after.pieces) == lie + (move.place is not None) - sum(
                change.place is None for change in move.changes
            )
            assert after.of(move.player)[-1:] != () or move.place is None
        case Capture():
            assert sum(after.stacks) == sum(before.stacks) + 1
            assert len(after.pieces) == len(before.pieces) - 1
            assert after.turn == move.colour, "it becomes the attacked player's turn"
            assert before.attacker != move.colour
        case Settle():
            assert len(after.pieces) == len(before.pieces)
            assert after.stacks == before.stacks
    if after.attacker and before.attacker and not isinstance(move, Settle):
        passed = turn_order(after, after.turn)[
            : turn_order(after, after.turn).index(after.attacker)
        ]
        assert not any(can_fire(after, player) for player in passed)
    assert (after.attacker is not None) == (
        after.all_thrown and any(can_fire(after, player) for player in after.players)
    )


def turn_order(state, first):
    here = state.players.index(first)
    return state.players[here:] + state.players[:here]


def can_fire(state, player):
    """By brute force: in some way that two enemy pieces may lie, one is under the other's fire."""
    pairs = [(a, b) for a in state.of(player) for b in state.pieces if b.colour != player]
    return any(
        squares_under_fire(aim) & lie.squares
        for a, b in pairs
        for aim in readings(a.place)
        for lie in readings(b.place)
    )


LINE = (
    "players red yellow blue; round 1; totals 0 0 0; stacks 0 0 0; thrown 15; turn red; pieces {};"
    " rulings "
)
LINE += "touching=contact fire=over knocked=thrower leaning=again starter=left attack=must."


def test_the_attacked_player_fires_next_with_no_piece_left():
    """Ruling ice_storm.10: yellow's turn comes, and passes on to blue, not back to red."""
    state = State.parse(LINE.format("red1 b1-b2>b2, red2 h8, yellow1 b8, blue1 a1"))
    after = play(state, parse_move("capture yellow1"))
    assert (after.turn, after.attacker) == ("yellow", "blue")
    assert turn(after) == "Yellow has no shot. Blue fires next."


BOARD = (
    "red1 b1-b2>b2, red2 h8, red3 c1?-c2>c2, yellow1 b8, yellow2 c5?-d5>d5, yellow3 e1, blue1 a1"
)


@pytest.mark.parametrize(
    ("pieces", "move", "message"),
    [
        (
            BOARD,
            "capture red1",
            (
                "Red may fire only at enemy pieces, but red1 is their own. Red can take yellow1 or"
                " blue1."
            ),
        ),
        (
            "red1 b1-b2>b2, red2 h7-h8^, yellow1 b8, yellow3 e1",
            "capture yellow3",
            (
                "Red has no line of fire to yellow3 (e1): red1 (b1-b2>b2) fires north on b2-b8;"
                " red2 (h7-h8^) fires south on h7-h1 or north on h8. Red can take yellow1."
            ),
        ),
        (
            BOARD,
            "capture yellow3",
            (
                "Red has no line of fire to yellow3 (e1): red1 (b1-b2>b2) fires north on b2-b8;"
                " red2 (h8) fires in every direction; red3 (c1?-c2>c2) fires in every"
                " direction. Red can take yellow1 or blue1."
            ),
        ),
        (
            BOARD,
            "capture yellow2",
            (
                "Does red hit yellow2? It is too close to call and depends on whether"
                " yellow2 touches c5. The players decide."
            ),
        ),
        (
            "red1 b1-b2>b2, yellow1 b8",
            "capture yellow2",
            "There is no yellow2 on the board. Red can take yellow1.",
        ),
        (
            "red1 b1-b2>b2, yellow1 b8?-c8>c8, blue1 h1-h2>h2",
            "capture blue h2",
            (
                "Red has no line of fire to blue1 (h1-h2>h2): red1 (b1-b2>b2) fires north on"
                " b2-b8. Can red take yellow1? It is too close to call."
            ),
        ),
        (
            BOARD,
            "capture yellow",
            ("Red can take several yellow pieces. Which one: yellow1 (b8) or yellow2 (c5?-d5>d5)?"),
        ),
    ],
)
def test_refusals_in_words(pieces, move, message):
    assert violation(State.parse(LINE.format(pieces)), parse_move(move)).message == message


def test_pieces_that_lie_alike_need_no_number():
    state = State.parse(
        LINE.format("red1 b1-b2>b2, yellow1 b8, yellow2 b8, yellow3 b7-b8>b7, blue1 e1")
    )
    assert violation(state, parse_move("capture yellow")).code == "storm.attack.which"
    assert parse_move("capture yellow b7") in legal_moves(state)
    state = play(state, parse_move("capture yellow3"))
    state = State.parse(str(state).replace("turn yellow", "turn red"))
    assert [piece.name for piece in play(state, parse_move("capture yellow")).of("yellow")] == [
        "yellow2"
    ]


def test_what_repeated_throws_moved_counts_with_the_next_one():
    """Ruling ice_storm.8: the leaning throw changes nothing yet; the same player's next one credits
    what it knocked off.
    """
    state = start(["red", "yellow", "blue"], {})
    for text in ("throw red b3", "throw yellow c3"):
        state = play(state, parse_move(text))
    with pytest.raises(IllegalMove, match="thrown again"):
        play(state, parse_move("throw blue leaning: red1 off"))
    after = play(state, parse_move("throw blue off: red1 off, yellow1 c4-d4>c4"))
    assert (after.stacks, str(after.pieces[0])) == ((0, 0, 1), "yellow1 c4-d4>c4")


def test_shots_of_anybody():
    state = State.parse(LINE.format("red1 b1-b2>b2, yellow1 b8, blue1 e1-e2>e1"))
    assert [str(shot) for shot in shots(state)] == ["red1 north on b2-b8: yellow1"]
    assert [shot.line.way for shot in shots(state, "yellow")] == ["south"]
    assert shots(start(["red", "yellow", "blue"], {})) == ()
    assert state_document(state)["shots"] == [
        {
            "shooter": "red1",
            "target": "yellow1",
            "way": "north",
            "squares": ["b2", "b3", "b4", "b5", "b6", "b7", "b8"],
            "certain": True,
            "hangs_on": [],
        }
    ]


def test_legal_moves_in_words():
    state = start(["red", "yellow", "blue"], {})
    assert str(legal_moves(state)) == "throw red PLACE[: MOVED] | throw red off[: MOVED]"
    thrown = [move.place for move in legal_moves(state)]
    assert len(legal_moves(state)) == len(set(thrown)) == 65
    state = State.parse(LINE.format("red1 b1-b2>b2, yellow1 b8, yellow2 b6?-c6>c6, blue1 e1"))
    assert (
        str(legal_moves(state)) == "capture yellow1 | settle yellow2 c6 | settle yellow2 b6-c6>c6"
    )
    over = State.parse(LINE.format("nothing").replace("round 1", "round 3"))
    assert str(legal_moves(over)) == "nothing: the game is over"
    assert str(outcome(over)) == "red, yellow and blue share the victory with 0 points"
    assert "capture yellow1" not in legal_moves(state), "text is no move until it is parsed"


def test_outcomes():
    over = State.parse(
        LINE.format("nothing").replace("round 1", "round 3").replace("totals 0 0 0", "totals 9 7 8")
    )
    assert str(outcome(over)) == "red won with 9 points to yellow's 7 and blue's 8"


def test_text_is_no_move():
    state = start(["red", "yellow", "blue"], {})
    with pytest.raises(AssertionError, match="unreachable"):
        violation(state, "throw red b3")


def test_things_that_cannot_be():
    b3 = frozenset({Square.parse("b3")})
    with pytest.raises(InvalidNotation, match="each square once"):
        Place(b3, b3)
    with pytest.raises(InvalidNotation, match="no place for a piece that is thrown again"):
        Throw("red", Place(b3, tips=b3), again="leaning")


def test_examples_are_of_every_kind():
    """Nine throws in a row offer all kinds of places: that random games meet them."""
    state, kinds = start(["red", "yellow", "blue"], {}), set()
    for _ in range(9):
        places = [move.place for move in legal_moves(state) if isinstance(move.place, Place)]
        kinds |= {(len(place.squares), not place.tips, place.in_doubt) for place in places}
        state = play(state, Throw(state.next, None))
    lying, upright = (
        [(1, False, False), (2, False, False), (3, False, False), (4, False, False)],
        [(1, True, False), (4, True, False)],
    )
    assert kinds == {*lying, *upright, (2, False, True)}
