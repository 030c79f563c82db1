"""Refereed games of Icebreaker: every legal move accepted, every planted wrong called for what it
is, nothing else said.
"""

from __future__ import annotations

import dataclasses
from random import Random

import numpy as np
import pytest

from engines import icebreaker as game
from engines.errors import InvalidNotation
from engines.icebreaker.board import label, members
from engines.icebreaker.moves import Move
from engines.verdict import Accepted, Ambiguous, CannotSee, OutOfSync, Refused, Waiting
from table.boards import Hex, Open
from table.errors import InputError
from table.observation import Observation

PLAYERS = ("red", "black")
BOARD = Hex(size=5, cell_mm=32.0)
ANYTHING = Observation(0, 0, None)
"""An observation before the one that is judged, with nothing on it: that there was one is all that
counts.
"""


class Evening:
    """A game on a table, its record, and what may go wrong between two moves."""

    def __init__(self, tables, seed, skip=0):
        self.chance, self.rng = Random(seed), np.random.default_rng(seed)
        self.state = game.start(PLAYERS, {})
        for _ in range(skip):
            if (
                len(moves := list(game.legal_moves(self.state)))
                and game.outcome(self.state) is None
            ):
                self.state = game.play(self.state, self.chance.choice(moves))
        self.table = tables.Table(self.state, self.rng)

    def judge(self, table, doubt=0.0):
        return game.judge(self.state, table.seen(doubt), ANYTHING, BOARD)

    def cells(self, player):
        """The cells of a player's ships."""
        return list(map(label, members(self.state.ships[PLAYERS.index(player)])))

    def free(self):
        """The cells without a ship."""
        return [
            label(cell)
            for cell in members(
                self.state.setting.board.cells & ~self.state.ships[0] & ~self.state.ships[1]
            )
        ]

    def legal(self):
        return self.chance.choice(list(game.legal_moves(self.state)))

    def play(self, doubt=0.0):
        """A legal move, and the verdict on it."""
        move = self.legal()
        self.table.move(*str(move).split("-"))
        verdict = self.judge(self.table, doubt)
        self.state = game.play(self.state, move)
        return move, verdict


def wrong_step(evening, table):
    """A ship goes where it may not; the iceberg there goes too."""
    tried = [
        Move(*map(game_cell, (here, there)))
        for here in evening.cells(evening.state.next)
        for there in evening.free()
    ]
    move = evening.chance.choice(
        [move for move in tried if move not in game.legal_moves(evening.state)]
    )
    table.move(*str(move).split("-"))
    return (Refused, "icebreaker.move", (str(move),))


def others_ship(evening, table):
    """A ship of the player whose turn it is not goes somewhere."""
    (other,) = set(PLAYERS) - {evening.state.next}
    move = f"{evening.chance.choice(evening.cells(other))}-{evening.chance.choice(evening.free())}"
    table.move(*move.split("-"))
    return (Refused, "icebreaker.move", (move,))


def two_ships(evening, table):
    """Two ships of one player go somewhere."""
    own, free = (
        evening.chance.sample(evening.cells(evening.state.next), 2),
        evening.chance.sample(evening.free(), 2),
    )
    for here, there in zip(own, free, strict=True):
        table.move(here, there)
    return (Refused, "icebreaker.move", None)


def two_icebergs(evening, table):
    """A legal move, and a second iceberg is taken."""
    move = str(evening.legal())
    table.move(*move.split("-"))
    in_sight = look_for_ice(table)
    del table.ice[evening.chance.choice(in_sight)]
    return (Refused, "icebreaker.move", (move,))


def stolen(evening, table):
    """Icebergs vanish that nobody can take, or two at once."""
    for cell in evening.chance.sample(look_for_ice(table), 2):
        del table.ice[cell]
    return (OutOfSync, "icebreaker.out_of_sync", None)


def nudged(evening, table):
    """An iceberg is pushed to another cell without ship or ice."""
    empty = sorted(set(evening.free()) - table.ice.keys())
    if not empty:
        return None
    del table.ice[evening.chance.choice(look_for_ice(table))]
    there = evening.chance.choice(empty)
    table.ice[there] = table.put(there)
    return (OutOfSync, "icebreaker.out_of_sync", None)


def swapped(evening, table):
    """A ship is replaced by one of the other colour."""
    cell = evening.chance.choice(list(table.ships))
    player, at = table.ships[cell]
    (other,) = set(PLAYERS) - {player}
    table.ships[cell] = (other, at)
    return (OutOfSync, "icebreaker.out_of_sync", None)


def smuggled(evening, table):
    """A fourth ship comes."""
    cell = evening.chance.choice(evening.free())
    table.ice.pop(cell, None)
    table.ships[cell] = (evening.chance.choice(PLAYERS), table.put(cell))
    return (OutOfSync, "icebreaker.out_of_sync", None)


def lifted(evening, table):
    """A ship is in somebody's hand."""
    del table.ships[evening.chance.choice(list(table.ships))]
    return (Waiting, "icebreaker.move", None)


def half_captured(evening, table):
    """A ship stands beside the iceberg that it takes, on the same cell."""
    captures = [
        str(move)
        for move in game.legal_moves(evening.state)
        if evening.state.ice >> move.to_cell & 1
    ]
    if not captures:
        return None
    table.move(*evening.chance.choice(captures).split("-"), take=False)
    return (Waiting, "icebreaker.move", None)


def iceberg_first(evening, table):
    """The iceberg is taken before the ship is moved."""
    captures = [
        move.to_cell
        for move in game.legal_moves(evening.state)
        if evening.state.ice >> move.to_cell & 1
    ]
    if not captures:
        return None
    del table.ice[label(evening.chance.choice(captures))]
    return (Waiting, "icebreaker.move", None)


PLANTED = [
    wrong_step,
    others_ship,
    two_ships,
    two_icebergs,
    stolen,
    nudged,
    swapped,
    smuggled,
    lifted,
    half_captured,
    iceberg_first,
]


def game_cell(name):
    return game.parse_move(f"{name}-A1").from_cell


def look_for_ice(table):
    """The icebergs of a table that no ship can hide: those a cell away from all of them."""
    near = {
        cell
        for ship in table.ships
        for cell in table.middles
        if np.linalg.norm(table.middles[cell] - table.middles[ship]) < 1.2 * BOARD.cell_mm
    }
    return [cell for cell in table.ice if cell not in near]


@pytest.mark.parametrize("seed", range(4))
def test_games_with_everything_that_goes_wrong(tables, seed):
    evening = Evening(tables, seed, skip=[0, 12, 24, 40][seed])
    if seed == 0:
        assert isinstance(game.judge(evening.state, evening.table.seen(), None, BOARD), Accepted)
    for number in range(14):
        if game.outcome(evening.state):
            break
        plant = PLANTED[(number + 5 * seed) % len(PLANTED)]
        spoilt = evening.table.copy()
        expected = plant(evening, spoilt) if len(look_for_ice(spoilt)) > 2 else None
        if expected:
            kind, code, tried = expected
            verdict = evening.judge(spoilt)
            assert isinstance(verdict, kind), (plant.__name__, str(evening.state), verdict)
            assert verdict.code == code
            assert tried is None or verdict.tried == tried, plant.__name__
        back = evening.judge(evening.table)
        assert isinstance(back, Waiting), "the table was put right"
        assert back.message == game.turn(evening.state)
        move, verdict = evening.play()
        assert isinstance(verdict, Accepted), (str(evening.state), str(move), verdict)
        assert (verdict.code, verdict.moves) == ("icebreaker.move", (str(move),))
    over = game.outcome(evening.state)
    assert over is None or isinstance(evening.judge(evening.table), Waiting)


def test_doubtful_colours_are_read_by_the_rules_or_asked_about(tables):
    """The record knows whose ship stood where; only where two moves explain the table the players
    are asked.
    """
    asked = 0
    for seed in range(3):
        evening = Evening(tables, seed + 50, skip=10 * seed)
        for _ in range(8):
            move, verdict = evening.play(doubt=0.3)
            assert isinstance(verdict, Accepted | Ambiguous), verdict
            asked += isinstance(verdict, Ambiguous)
            found = (
                [verdict.moves]
                if isinstance(verdict, Accepted)
                else [choice.moves for choice in verdict.choices]
            )
            assert (str(move),) in found
    assert asked <= 1


def test_the_set_up_is_accepted_once_it_is_right(tables):
    evening = Evening(tables, 1)
    unset = evening.table.copy()
    del unset.ships["A1"], unset.ice["E5"], unset.ice["F5"]
    waiting = game.judge(evening.state, unset.seen(), None, BOARD)
    assert isinstance(waiting, Waiting)
    assert (
        waiting.message
        == "Set up the board: Red's ship from A1 is missing. Missing: the icebergs on E5 and F5."
    )
    started = game.judge(evening.state, evening.table.seen(), None, BOARD)
    assert (started.code, started.moves) == ("icebreaker.start", ())
    assert isinstance(game.judge(evening.state, evening.table.seen(), ANYTHING, BOARD), Waiting)
    empty = evening.table.copy()
    empty.ice.clear()
    assert "and 47 more" in game.judge(evening.state, empty.seen(), None, BOARD).message


def test_a_ship_that_is_not_read_at_the_set_up_is_told_as_that(tables):
    evening = Evening(tables, 1)
    unset = evening.table.copy()
    at = unset.ships.pop("A1")[1]
    waiting = game.judge(evening.state, unset.seen(unread_mm=(np.asarray(at),)), None, BOARD)
    assert (
        waiting.message
        == "Set up the board: Red's ship from A1 is missing. Something on A1 does not look like a"
        " ship. Show it more clearly; if colours are hard to tell apart, let the referee"
        " learn yours."
    )


def test_an_iceberg_that_people_said_is_none_is_told_once(tables):
    """A pale cell is taken for an iceberg, again and again: the record was corrected, and the game
    goes on.
    """
    evening = Evening(tables, 4)
    evening.table.move("E9", "D8")
    wrong = evening.table.copy()
    wrong.ice["E9"] = wrong.put("E9")
    asked = game.judge(evening.state, wrong.seen(), evening.table.seen(), BOARD)
    assert isinstance(asked, Ambiguous)
    assert (
        asked.message
        == "Red moved E9-D8, but there seems to be an iceberg on E9, where none belongs. Is"
        " it an iceberg?"
    )
    assert [choice.moves for choice in asked.choices] == [("E9-D8",), ()]
    corrected = game.play(evening.state, game.parse_move("E9-D8"))
    assert isinstance(game.judge(corrected, wrong.seen(), wrong.seen(), BOARD), Waiting)
    assert isinstance(
        game.judge(corrected, wrong.seen(), evening.table.seen(), BOARD), OutOfSync
    ), "one that came since is told"


def test_a_game_under_way_goes_on_without_the_picture_before(tables):
    evening = Evening(tables, 2, skip=5)
    assert isinstance(game.judge(evening.state, evening.table.seen(), None, BOARD), Waiting)


def test_nothing_is_ruled_under_a_hand_or_on_a_ship_that_fell(tables):
    evening = Evening(tables, 3)
    assert isinstance(
        game.judge(evening.state, evening.table.seen(hand=True), ANYTHING, BOARD), Waiting
    )
    fallen = game.judge(evening.state, evening.table.fallen("A1"), ANYTHING, BOARD)
    assert fallen.message == "Stand the red ship upright where it belongs."


def test_refusals_say_what_to_do(tables):
    evening = Evening(tables, 4)
    evening.table.move("E9", "D7")
    verdict = evening.judge(evening.table)
    assert (verdict.player, verdict.tried, verdict.evidence["violation"]) == (
        "red",
        ("E9-D7",),
        "ice.step",
    )
    assert verdict.message.endswith("Put back red's ship to E9 and the iceberg on D7.")


@pytest.mark.parametrize("seed", range(8))
def test_an_exchanged_ship_is_named_though_eyes_read_three_ships_of_a_colour_at_most(tables, seed):
    """Which of the four that stand there they do not read is anybody's guess."""
    evening = Evening(tables, seed, skip=seed)
    spoilt = evening.table.copy()
    swapped(evening, spoilt)
    (cell,) = (
        cell for cell, (player, _) in spoilt.ships.items() if player != evening.table.ships[cell][0]
    )
    player = spoilt.ships[cell][0]
    unread = evening.chance.choice(
        [one for one, (colour, _) in spoilt.ships.items() if colour == player]
    )
    _, place = spoilt.ships.pop(unread)
    verdict = game.judge(evening.state, spoilt.seen(unread_mm=(place,)), ANYTHING, BOARD)
    belongs = evening.table.ships[cell][0]
    if unread == cell:
        assert isinstance(verdict, CannotSee)
        assert verdict.message.startswith(
            f"Something on {cell} does not look like a ship, and {belongs}'s ship from {cell}"
            " cannot be seen: show it more clearly, or put the right ship there."
        )
    else:
        assert (type(verdict), verdict.code) == (OutOfSync, "icebreaker.out_of_sync")
        there = f"A {player} ship stands on {cell}, but {belongs}'s ship belongs on {cell}."
        assert set(verdict.differences) == {
            there,
            f"Something on {unread} does not look like a ship.",
        }


def test_a_ship_of_another_size_that_is_not_read_is_named(tables):
    evening = Evening(tables, 3)
    spoilt = evening.table.copy()
    player, place = spoilt.ships.pop("E9")
    verdict = evening.judge(spoilt)
    assert isinstance(verdict, Waiting), "it is in somebody's hand"
    verdict = game.judge(evening.state, spoilt.seen(unread_mm=(place,)), ANYTHING, BOARD)
    assert isinstance(verdict, CannotSee)
    there = "Something on E9 does not look like a ship."
    assert verdict.evidence["differences"] == [
        f"{player.capitalize()}'s ship from E9 is missing.",
        there,
    ]


def test_a_ship_on_a_boundary_is_where_a_legal_move_takes_it(tables):
    """A1 lies beside A2, B1 and B2; B3 is no legal end."""
    evening = Evening(tables, 5)
    table = evening.table.copy()
    table.move("A1", "B2")
    table.ships["B2"] = ("red", 0.49 * table.middles["B2"] + 0.51 * table.middles["B3"])
    verdict = evening.judge(table)
    assert (type(verdict), verdict.moves) == (Accepted, ("A1-B2",))


def test_a_ship_between_two_legal_cells_is_asked_about(tables):
    """Once the ice around is gone two cells are as good, and nothing but where it stands tells
    which was meant.
    """
    evening = Evening(tables, 6)
    board = "1...2/....../......./......../1.......2/......../......*/....../2...1"
    state = evening.state.parse(
        f"players red black; scores 27 27; turn red; board {board}; rulings size=5 closest=any"
        " stuck=pass end=majority."
    )
    evening.state, evening.table = state, tables.Table(state, evening.rng)
    far = [
        move
        for move in game.legal_moves(state)
        if label(move.from_cell) == evening.cells("red")[-1]
    ]
    first, second = far[0], far[1]
    here, there, other = label(first.from_cell), label(first.to_cell), label(second.to_cell)
    evening.table.move(here, there)
    evening.table.ships[there] = (
        "red",
        (evening.table.middles[there] + evening.table.middles[other]) / 2,
    )
    verdict = evening.judge(evening.table)
    assert isinstance(verdict, Ambiguous)
    assert {choice.moves for choice in verdict.choices} == {(str(first),), (str(second),)}
    answered = game.judge_answer(verdict, verdict.choices[1].label)
    assert answered.moves == verdict.choices[1].moves
    with pytest.raises(InvalidNotation, match="expected one of"):
        game.judge_answer(verdict, {"ship": 1.0})


def test_two_moves_that_nobody_saw_in_between_are_asked_about(tables):
    evening = Evening(tables, 7)
    for move in ("A1-B2", "E1-E2"):
        evening.table.move(*move.split("-"))
    verdict = evening.judge(evening.table)
    assert [choice.moves for choice in verdict.choices] == [("A1-B2", "E1-E2"), ()]


@pytest.mark.parametrize(("eye_mm", "kind"), [((-400.0, 90.0), Waiting), ((0.0, 600.0), OutOfSync)])
def test_that_an_iceberg_behind_a_ship_is_not_seen_proves_nothing(tables, eye_mm, kind):
    """From low down, the ship on E2 hides the iceberg on F3; from above it hides none."""
    evening = Evening(tables, 8)
    evening.state = game.play(
        game.play(evening.state, game.parse_move("A1-B1")), game.parse_move("E1-E2")
    )
    table = tables.Table(evening.state, evening.rng)
    ship, behind = table.ships["E2"][1], table.middles["F3"]
    ahead = (behind - ship) / np.linalg.norm(behind - ship)
    camera = tables.CAMERA.__class__(
        np.eye(3), -np.array([*(ship + eye_mm[0] * ahead), eye_mm[1]]), np.eye(6), 0.1, (0, 1, 2, 3)
    )
    del table.ice["F3"]
    verdict = game.judge(
        evening.state, dataclasses.replace(table.seen(), camera=camera), ANYTHING, BOARD
    )
    assert isinstance(verdict, kind)
    assert kind is OutOfSync or verdict.message == game.turn(evening.state)


@pytest.mark.parametrize(
    ("board", "rulings"),
    [
        (Open(outline_mm=((0, 0), (9, 0), (9, 9))), {}),
        (Hex(size=3, cell_mm=30), {}),
        (BOARD, {"size": "4"}),
    ],
)
def test_other_boards_are_refused(board, rulings):
    with pytest.raises(InputError, match=r"expected|needs"):
        game.set_up(PLAYERS, rulings, board)


def test_the_board_says_how_large_it_is():
    assert game.set_up(PLAYERS, {}, Hex(size=7, cell_mm=25)).setting.board.size == 7
    assert game.set_up(PLAYERS, {}, None) == game.start(PLAYERS, {})
    with pytest.raises(InputError, match="decided by the table alone"):
        game.hear(game.start(PLAYERS, {}), {"player": "red", "die": 5})


@pytest.mark.parametrize("seed", range(4))
def test_a_colour_that_leaves_no_choice_is_no_doubt(tables, seed):
    """As many ships of each colour are named as there are: a wrong step is refused, whoever is hard
    to tell; one too many is not.
    """
    evening = Evening(tables, seed)
    table = evening.table.copy()
    _, code, tried = wrong_step(evening, table)
    seen, mover = table.seen(), evening.state.next

    def judged(pieces):
        return game.judge(
            evening.state, dataclasses.replace(seen, pieces=tuple(pieces)), ANYTHING, BOARD
        )

    unsure = [
        dataclasses.replace(piece, colour_probability=0.96) if piece.colour == mover else piece
        for piece in seen.pieces
    ]
    refused = judged(unsure)
    assert (type(refused), refused.code, refused.tried) == (Refused, code, tried)
    both = [dataclasses.replace(piece, colour_probability=0.96) for piece in seen.pieces]
    assert isinstance(judged(both), CannotSee), "each may have been taken for the other"
    (other,) = set(PLAYERS) - {mover}
    _, there = table.ships[tried[0].partition("-")[2]]
    moved = min(range(len(unsure)), key=lambda k: np.hypot(*(unsure[k].base_mm - there)))
    swapped = [
        dataclasses.replace(piece, colour=other, colour_probability=0.96) if k == moved else piece
        for k, piece in enumerate(seen.pieces)
    ]
    assert not isinstance(judged(swapped), Refused), "there is one too many of that colour"


def with_a_ghost(evening, table, cell):
    """The table as seen, with a doubtful second reading of a ship in the cell that it left."""
    at_mm = evening.table.ships[cell][1]
    stood = min(evening.table.seen().pieces, key=lambda one: np.hypot(*(one.base_mm - at_mm)))
    seen, ghost = table.seen(), dataclasses.replace(stood, pose_probability=0.6)
    return dataclasses.replace(seen, pieces=(*seen.pieces, ghost))


@pytest.mark.parametrize("seed", range(6))
def test_a_doubtful_ship_where_the_one_that_moved_stood_makes_a_question_of_it(tables, seed):
    evening = Evening(tables, seed, skip=4)
    move = str(evening.legal())
    here, there = move.split("-")
    table = evening.table.copy()
    table.move(here, there)
    asked = game.judge(evening.state, with_a_ghost(evening, table, here), ANYTHING, BOARD)
    assert isinstance(asked, Ambiguous)
    assert (move,) in [choice.moves for choice in asked.choices]
    assert () in [choice.moves for choice in asked.choices]


@pytest.mark.parametrize("seed", range(6))
def test_no_call_rests_on_a_ship_too_many_that_may_not_be_there(tables, seed):
    evening = Evening(tables, seed, skip=4)
    table = evening.table.copy()
    _, _, (move,) = wrong_step(evening, table)
    here = move.partition("-")[0]
    verdict = game.judge(evening.state, with_a_ghost(evening, table, here), ANYTHING, BOARD)
    assert isinstance(verdict, CannotSee | Ambiguous)


@pytest.mark.parametrize("seed", range(6))
def test_nobody_is_accused_while_a_ship_may_stand_anywhere(tables, seed):
    """Its player may have moved it, lawfully, before the other one moved."""
    evening = Evening(tables, seed, skip=4)
    table = evening.table.copy()
    _, _, (move,) = wrong_step(evening, table)
    moved_to = table.ships[move.partition("-")[2]][1]
    seen = table.seen()
    k = max(range(len(seen.pieces)), key=lambda k: np.hypot(*(seen.pieces[k].base_mm - moved_to)))
    hardly_read = dataclasses.replace(
        seen.pieces[k], pose_probability=0.6, covariance=np.diag([150.0, 150.0, 400.0])
    )
    pieces = (*seen.pieces[:k], hardly_read, *seen.pieces[k + 1 :])
    verdict = game.judge(evening.state, dataclasses.replace(seen, pieces=pieces), ANYTHING, BOARD)
    assert isinstance(verdict, CannotSee | Ambiguous), verdict
