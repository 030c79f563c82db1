"""What must always hold in games of IceFloe: nothing is lost or doubled, lines parse back,
`violation` and `legal_moves` agree.
"""

from dataclasses import replace
from itertools import product
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engines.errors import IllegalMove
from engines.icefloe import (
    RULINGS,
    State,
    legal_moves,
    outcome,
    parse_move,
    play,
    start,
    state_document,
    violation,
)
from engines.icefloe.board import (
    JUMPS,
    LETTERS,
    PLACES,
    STEPS,
    SUITS,
    VALUES,
    Board,
    Floe,
    reachable_places,
)
from engines.icefloe.moves import (
    Coin,
    Decision,
    Done,
    Finding,
    Movement,
    Objection,
    Penalty,
    Placing,
    Removal,
    Selection,
    Slide,
    Torch,
    Vote,
)
from table.pieces import COLOURS

TILES = [suit + value for suit, value in product(SUITS, VALUES)]
PYRAMIDS = [letter + suit for letter, suit in product(LETTERS, SUITS)]
WEIGHT = {"A": 1, "B": 1, "C": 2, "D": 2, "E": 3, "F": 3}
POINTS = {"A": 1, "B": 2, "C": 3, "D": 4, "E": 5, "F": 6}

players = st.sampled_from(
    [("red", "blue", "yellow"), ("black", "green", "red"), ("blue", "red", "yellow", "black")]
)
rulings = st.tuples(*(st.sampled_from(ruling.values) for ruling in RULINGS)).map(
    lambda values: {ruling.name: value for ruling, value in zip(RULINGS, values, strict=True)}
)


@st.composite
def any_moves(draw):
    """Any move that can be written, legal or not."""
    place, tile, pyramid = (st.sampled_from(names) for names in (PLACES, TILES, PYRAMIDS))
    player = st.sampled_from(["red", "blue", "yellow", "black", "green", "pink"])
    ballot = st.dictionaries(player, st.booleans(), max_size=4).map(
        lambda votes: tuple(votes.items())
    )
    return draw(
        st.one_of(
            st.builds(Placing, pyramid, place),
            st.builds(Movement, pyramid, place, place),
            st.builds(Slide, place, place),
            st.builds(Vote, player, st.sampled_from([*VALUES, *SUITS])),
            st.builds(Coin, player, st.sampled_from("a2"), player),
            st.builds(Done, player),
            st.builds(Decision, player, st.sampled_from([*VALUES, *SUITS, *COLOURS, "shared"])),
            st.builds(Removal, st.none() | tile),
            st.builds(Selection, player, tile),
            st.builds(Torch, player),
            st.builds(Penalty, player, ballot, st.none() | st.booleans()),
            st.builds(Objection, player, player),
            st.builds(Finding, player, st.booleans()),
        )
    )


@given(any_moves())
def test_moves_print_and_parse(move):
    assert parse_move(str(move)) == move
    assert parse_move(f"  {str(move).replace(' ', '  ')} ") == move


def accounted(state, before, move):
    """What a move changed on the board is what it may change."""
    gone = [floe for floe in before.board.floes if state.board.floe_of(floe.tile) is None]
    drowned = {pyramid for floe in gone for pyramid in floe.pyramids} | (
        {move.pyramid} if state.sunk else set()
    )
    came = {move.pyramid} if isinstance(move, Placing) else set()
    assert set(state.board.pyramids) == (set(before.board.pyramids) | came) - drowned
    assert len(state.board.pyramids) == len(set(state.board.pyramids))
    assert (
        len({floe.place for floe in state.board.floes})
        == len({floe.tile for floe in state.board.floes})
        == len(state.board.floes)
    )
    assert all(
        sum(WEIGHT[pyramid[0]] for pyramid in floe.pyramids) <= 5 for floe in state.board.floes
    )
    assert [floe.tile for floe in gone] == (
        [state.sunk]
        if state.sunk
        else [move.tile]
        if isinstance(move, Removal) and move.tile
        else []
    )
    if not isinstance(move, Placing | Movement | Slide | Removal):
        assert state.board == before.board


def last_scoring(state, before):
    points = [sum(POINTS[p[0]] for p in state.pyramids(player)) for player in state.players]
    return tuple(score + more for score, more in zip(before.scores, points, strict=True))


@pytest.mark.slow
@settings(max_examples=25)
@given(st.integers(0), players, rulings)
def test_whole_games(seed, seats, chosen):
    """Random games: printing, folding, agreement of `violation` with `legal_moves`, pieces and
    points conserved, an end.
    """
    chance, state, log = Random(seed), start(seats, chosen), []
    while not outcome(state):
        assert len(log) < 900, "a tile goes every round"
        moves = list(legal_moves(state))
        assert len(moves) == len(legal_moves(state)) == len(set(map(str, moves))) > 0
        assert all(violation(state, move) is None for move in moves)
        move, before = chance.choice(moves), state
        state = play(state, move)
        assert State.parse(str(before)) == before
        assert State.parse(str(state)) == state
        accounted(state, before, move)
        finished = state.phase in ("over", "name") and before.phase not in ("over", "name")
        if finished:
            assert state.scores == last_scoring(state, before)
        elif isinstance(move, Selection):
            assert sum(state.scores) - sum(before.scores) == sum(
                POINTS[p[0]] for p in state.board.floe_of(move.tile).pyramids
            )
        else:
            assert state.scores == before.scores
        if state.phase not in ("place", "over", "name"):
            assert all(state.pyramids(player) for player in seats)
        assert (state.phase == "score") <= (
            state.round > len(seats) or chosen["scoring"] == "always"
        )
        log.append(str(move))
    assert list(legal_moves(state)) == []
    again = start(seats, chosen)
    for text in log:
        again = play(again, parse_move(text))
    assert again == state
    assert state_document(state)["outcome"] == str(outcome(state))


@pytest.mark.slow
@settings(max_examples=40)
@given(st.data(), st.integers(0), players, rulings, st.integers(18, 300))
def test_violation_and_legal_moves_agree(data, seed, seats, chosen, length):
    """Whatever is tried, `in`, `violation` and `play` say the same, and the list holds every legal
    move but penalties and objections.
    """
    chance, state = Random(seed), start(seats, chosen)
    for _ in range(length):
        if outcome(state):
            break
        state = play(state, chance.choice(list(legal_moves(state))))
    listed = set(map(str, legal_moves(state)))
    for _ in range(12):
        move = data.draw(any_moves())
        wrong = violation(state, move)
        assert (move in legal_moves(state)) == (wrong is None)
        listable = wrong is None and not isinstance(move, Penalty | Objection)
        assert (str(move) in listed) == listable
        if wrong:
            with pytest.raises(IllegalMove):
                play(state, move)
        else:
            state = play(state, move)
            assert State.parse(str(state)) == state
            listed = set(map(str, legal_moves(state)))


@settings(max_examples=25)
@given(st.integers(0), players)
def test_a_vote_is_secret_and_in_any_order(seed, seats):
    """The view for players does not change with a vote that is not shown; the order in which votes
    come makes no difference.
    """
    chance, state = Random(seed), start(seats, {})
    while state.phase != "vote" and not outcome(state):
        state = play(state, chance.choice(list(legal_moves(state))))
    if outcome(state):
        return
    votes = [Vote(player, chance.choice("na2345")) for player in seats]
    views = [state_document(play(state, Vote(seats[0], value))) for value in VALUES]
    assert all(view == views[0] for view in views)
    ends = []
    for order in (votes, votes[::-1]):
        after = state
        for vote in order:
            after = play(after, vote)
        ends.append(after)
    assert ends[0] == ends[1]
    assert ends[0].phase == "coins"


@settings(max_examples=25)
@given(st.integers(0), players)
def test_votes_that_are_set_before_the_last_move_count_as_those_after_it(seed, seats):
    """Dice lie under hands until the movement is over: nobody sees them before, and it makes no
    difference when they were set.
    """
    chance, state = Random(seed), start(seats, {})
    for _ in range(1 + chance.randrange(2)):
        while state.following or state.phase != "move":
            state = (
                play(state, chance.choice(list(legal_moves(state))))
                if not outcome(state)
                else state
            )
            if outcome(state):
                return
            early = Vote(seats[0], "4")
            assert state.phase != "move" or (violation(state, early) is None) == (
                state.following is None
            )
        move = chance.choice(list(legal_moves(state)))
        votes = [Vote(player, chance.choice("na2345")) for player in seats if chance.random() < 0.7]
        before, after = state, play(state, move)
        for vote in votes:
            before = play(before, vote)
            assert State.parse(str(before)) == before
            assert vote.choice not in state_document(before)["votes"].values()
            assert violation(before, vote).code == "icefloe.vote.twice"
            after = play(after, vote) if after.phase == "vote" else after
        before = play(before, move)
        assert replace(before, sunk=None) == replace(after, sunk=None)
        state = before


def slow_reach(board, pyramid, origin):
    """By the printed words: every way of one or two actions, at most one a jump, one landing after
    the other.
    """
    at = {floe.place: floe for floe in board.floes}
    found = set()

    def carries(place):
        others = [other for other in at[place].pyramids if other != pyramid]
        return sum(WEIGHT[other[0]] for other in others) + WEIGHT[pyramid[0]] <= 5

    def go(place, spaces):
        for right, up in product((-1, 0, 1), repeat=2):
            target = chr(ord(place[0]) + spaces * right) + str(int(place[1]) + spaces * up)
            if target != place and target in at:
                yield target

    for actions in ([1], [2], [1, 1], [1, 2], [2, 1]):
        places = {origin}
        for number, spaces in enumerate(actions):
            if number:
                places = {place for place in places if carries(place)}
            places = {target for place in places for target in go(place, spaces)}
        found |= places
    return found


@settings(max_examples=200)
@given(st.integers(0), st.sampled_from(LETTERS))
def test_reach_by_the_words_of_the_rule(seed, letter):
    chance = Random(seed)
    places = chance.sample(PLACES, chance.randint(1, 24))
    board = Board(
        tuple(
            Floe(place, tile)
            for place, tile in zip(sorted(places), chance.sample(TILES, 24), strict=False)
        )
    )
    for pyramid in chance.sample([p for p in PYRAMIDS if p != f"{letter}S"], 12):
        there = chance.choice(places)
        if board.at(there).weight + WEIGHT[pyramid[0]] <= 5:
            board = board.with_pyramid(pyramid, there)
    origin = min(board.floes, key=lambda floe: floe.weight)
    board = board.with_pyramid(f"{letter}S", origin.place)
    if board.at(origin.place).weight <= 5:
        assert reachable_places(board, f"{letter}S", origin.place) == slow_reach(
            board, f"{letter}S", origin.place
        )


@pytest.mark.parametrize("place", PLACES)
def test_nobody_is_ever_stuck(place):
    """Where no tile is in reach, the tile slides."""
    out_of_reach = [
        other for other in PLACES if other != place and other not in (*STEPS[place], *JUMPS[place])
    ]
    floes = (
        Floe(place, "S4", ("FA",)),
        Floe(out_of_reach[0], "C4", ("AC",)),
        Floe(out_of_reach[-1], "C3", ("AS",)),
    )
    blank = start(["blue", "red", "yellow"], {"corners": "never", "stay": "never"})
    state = replace(
        blank, phase="move", board=Board(tuple(sorted(floes, key=lambda floe: floe.place)))
    )
    assert State.parse(str(state)) == state
    moves = list(legal_moves(state))
    assert moves
    assert all(isinstance(move, Slide) for move in moves)


@pytest.mark.slow
@settings(max_examples=15)
@given(st.integers(0), players, rulings)
def test_games_with_objections(seed, seats, chosen):
    """Objections at random: votes stay hidden while one is open, only those who are asked settle
    it, and something can always be done.
    """
    chance, state = Random(seed), start(seats, chosen)
    while not outcome(state):
        message = [
            move
            for by, to in product(seats, seats)
            if violation(state, move := Objection(by, to)) is None
        ]
        legal = list(legal_moves(state))
        assert legal
        before, move = state, chance.choice(message if message and chance.random() < 0.1 else legal)
        state = play(state, move)
        assert State.parse(str(state)) == state
        document = state_document(state)
        if state.objection:
            assert state.has_votes_to_show
            assert state.objection.accused not in (
                *state.muted,
                *(set(state.asked) - {state.torch}),
            )
            assert {*document["objection"]["asked"]} == {
                one.player for one in legal_moves(state) if isinstance(one, Finding)
            }
            assert state.phase != "vote" or {*document["votes"].values()} <= {"?", None}
        if (
            before.phase in ("move", "vote")
            and before.objection
            and state.phase in ("coins", "decide")
        ):
            assert isinstance(move, Finding), "nothing else shows votes while an objection is open"
        if isinstance(move, Finding) and not state.objection:
            assert (before.objection.accused in state.muted) or state.muted == before.muted
