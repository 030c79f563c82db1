"""Refereed games of IceFloe: every legal move accepted, every planted wrong called for what it is,
nothing else said.
"""

from __future__ import annotations

import os
from collections import Counter
from random import Random

import numpy as np
import pytest

from engines import icefloe as game
from engines.icefloe.board import LETTERS, PLACES
from engines.icefloe.messages import turn
from engines.icefloe.moves import Movement, Removal, Slide, Vote
from engines.verdict import Accepted, Ambiguous, CannotSee, Noted, OutOfSync, Refused, Waiting

GAMES = range(int(os.environ.get("RINKSIDE_GAMES", "2")))
"""More of them, as docs/ENGINES.md tells: others each for its own seed."""
FOUR, THREE = ("red", "yellow", "black", "blue"), ("blue", "red", "yellow")


class Evening:
    """A game on a table, its record, and what may go wrong between two moves."""

    def __init__(self, tables, seed, players=FOUR, doubt=0.0):
        self.chance, self.rng = Random(seed), np.random.default_rng(seed)
        self.state = game.set_up(players, {}, tables.BOARD)
        self.table = tables.Table(self.rng, self.state, doubt)
        self.before = None
        self.planted = Counter()
        self.asked = 0

    def judge(self, table, *more, **changes):
        self.last = table.seen(*more, **changes)
        return game.judge(self.state, self.last, self.before, table.board)

    def accept(self, verdict, code, *moves):
        """The verdict is that these moves happened."""
        assert isinstance(verdict, Accepted), (str(self.state), moves, verdict)
        assert (verdict.code, verdict.moves) == (code, tuple(map(str, moves))), str(self.state)
        for move in moves:
            self.state = game.play(self.state, move)

    def see(self, code, *moves):
        """These moves were made on the table, which is accepted, or is among what people are asked;
        what cannot be seen is put better.
        """
        verdict = self.judge(self.table)
        for _ in range(20):
            if not isinstance(verdict, CannotSee):
                break
            for name, piece in list(self.table.stood.items()):
                self.table.put(name, piece.place)
            verdict = self.judge(self.table)
        if isinstance(verdict, Ambiguous) and self.table.doubt:
            self.asked += 1
            (right,) = [
                choice for choice in verdict.choices if choice.moves == tuple(map(str, moves))
            ]
            verdict = game.judge_answer(verdict, right.label)
            code = verdict.code
        self.accept(verdict, code, *moves)
        self.before = self.last

    def place(self, count):
        """So many pyramids are placed."""
        moves, state = [], self.state
        for _ in range(count):
            moves.append(self.chance.choice(list(game.legal_moves(state))))
            state = game.play(state, moves[-1])
            self.table.put(moves[-1].pyramid, moves[-1].place)
        self.see("icefloe.start" if state.phase != "place" else "icefloe.place", *moves)

    def visible(self, state):
        """Legal moves that can be seen."""
        return [
            move
            for move in game.legal_moves(state)
            if not (isinstance(move, Movement) and move.origin == move.target)
        ]

    def make(self, table, move, state):
        """A move is made on a table, with what follows from it."""
        if isinstance(move, Slide):
            return table.slide(move.origin, move.target)
        if isinstance(move, Removal):
            return table.sink(state.board.floe_of(move.tile).place)
        table.put(move.pyramid, move.target)
        if game.violation(state, move) is None and game.play(state, move).sunk:
            table.sink(move.target)
        return None

    def play(self):
        """Whatever comes next in the game."""
        match self.state.phase:
            case "move":
                self.move()
            case "remove":
                move = Removal(self.state.tile)
                self.make(self.table, move, self.state)
                self.see("icefloe.removed", move)
            case "extra":
                self.extra()
            case "torch":
                if self.chance.random() < 0.5:
                    return self.move(game.parse_move(f"torch {self.state.after(self.state.torch)}"))
                self.say(game.parse_move(f"torch {self.state.after(self.state.torch)}"), Accepted)
            case "vote":
                self.vote()
            case _:
                moves = list(game.legal_moves(self.state))
                weights = [12 if str(move).startswith("done") else 1 for move in moves]
                self.say(self.chance.choices(moves, weights)[0])
        return None

    def move(self, *opening):
        state = self.state
        for move in opening:
            state = game.play(state, move)
        move = self.chance.choice(self.visible(state))
        self.make(self.table, move, state)
        self.see("icefloe.move", *opening, move)

    def extra(self):
        """One more tile goes, or none does, with a word or without."""
        how = self.chance.random()
        scoring = self.state.round > len(self.state.players)
        if how < 0.4:
            move = Removal(self.chance.choice(self.state.board.empty).tile)
            self.make(self.table, move, self.state)
            self.see("icefloe.removed_empty", move)
        elif how < 0.7 or scoring:
            torch = (
                [] if scoring else [game.parse_move(f"torch {self.state.after(self.state.torch)}")]
            )
            verdict = game.hear(self.state, {"player": self.state.torch, "extra_tile": None})
            self.accept(
                verdict,
                "icefloe.removed_empty" if scoring else "icefloe.round",
                Removal(None),
                *torch,
            )
        else:
            self.move(Removal(None), game.parse_move(f"torch {self.state.after(self.state.torch)}"))

    def vote(self):
        """Somebody votes in secret."""
        move = self.chance.choice(
            [move for move in game.legal_moves(self.state) if isinstance(move, Vote)]
        )
        verdict = game.hear(
            self.state,
            {"player": move.player, "vote_suit" if self.state.value else "vote_value": move.choice},
        )
        assert isinstance(verdict, Noted)
        assert verdict.secret
        assert verdict.moves == (str(move),)
        self.state = game.play(self.state, move)
        if self.state.phase == "vote":
            assert verdict.message == f"{move.player.capitalize()} has voted."
            assert move.choice not in game.state_document(self.state)["votes"].values()
        else:
            assert "All votes are shown" in verdict.message

    def say(self, move, *kinds):
        """A move that is heard."""
        heard = [
            game.hear(self.state, one["said"]) for one in game.state_document(self.state)["may_say"]
        ]
        verdict = next(verdict for verdict in heard if verdict.moves[0] == str(move))
        before, self.state = self.state, game.play(self.state, move)
        assert isinstance(verdict, kinds or (Accepted, Noted)), verdict
        assert verdict.moves == (str(move),)
        if before.phase in ("coins", "decide") and self.state.phase not in ("coins", "decide"):
            assert verdict.code == ("icefloe.vote.suit" if before.value else "icefloe.vote.value")
            assert isinstance(verdict, Accepted)


def moving(state):
    return state.phase == "move"


def wrong_step(evening, table):
    """A pyramid of the player whose turn it is goes where it may not."""
    every = [
        Movement(name, evening.state.board.floe_under(name).place, there)
        for name in evening.state.pyramids(evening.state.mover)
        for there in PLACES
    ]
    tried = [
        move for move in every if move.origin != move.target and game.violation(evening.state, move)
    ]
    move = evening.chance.choice(tried)
    table.put(move.pyramid, move.target)
    return Refused, "icefloe.move", str(move)


def out_of_turn(evening, table):
    """Somebody else moves a pyramid."""
    names = [
        name
        for name in evening.state.board.pyramids
        if evening.state.owner(name) not in (evening.state.mover, None)
    ]
    name = evening.chance.choice(names)
    here = evening.state.board.floe_under(name).place
    carry = [
        place
        for place in sorted(table.tiles)
        if place != here and evening.state.board.at(place).weight < 3
    ]
    if not carry:
        return None
    there = evening.chance.choice(carry)
    table.put(name, there)
    return Refused, "icefloe.move", f"{name}:{here}-{there}"


def wrong_slide(evening, table):
    """A tile slides on which nothing of the player stands, or too far."""
    free = sorted(set(PLACES) - table.tiles)
    tried = [Slide(here, there) for here in sorted(table.tiles) for there in free]
    tried = [move for move in tried if game.violation(evening.state, move)]
    if not tried:
        return None
    move = evening.chance.choice(tried)
    table.slide(move.origin, move.target)
    return Refused, "icefloe.move", str(move)


def wrong_tile(evening, table):
    """Another tile is taken off than the one that was voted for, or at no time for it."""
    wrong = [floe for floe in evening.state.board.floes if floe.tile != evening.state.tile]
    floe = evening.chance.choice(wrong)
    table.sink(floe.place)
    return Refused, "icefloe.removed", floe.tile


def two_pyramids(evening, table):
    """Two pyramids are moved at once, to tiles that carry them."""
    names = evening.chance.sample(evening.state.board.pyramids, 2)
    if len(table.tiles) < 12:
        return None
    for name in names:
        here = table.stood[name].place
        table.put(
            name,
            evening.chance.choice(
                [
                    place
                    for place in table.tiles
                    if place not in (here, *(other.place for other in table.stood.values()))
                ]
                or ["c3"]
            ),
        )
    return (
        (OutOfSync, "icefloe.out_of_sync", None)
        if all(table.stood[name].place in table.tiles for name in names)
        else None
    )


def stolen(evening, table):
    """A pyramid of somebody else is gone."""
    mover, goes = evening.state.mover, evening.state.board.floe_of(evening.state.tile)
    names = [
        name
        for name in table.stood
        if evening.state.owner(name) != mover and not (goes and name in goes.pyramids)
    ]
    name = evening.chance.choice(names)
    del table.stood[name]
    return OutOfSync, "icefloe.out_of_sync", None


def lifted(evening, table):
    """A pyramid of the player whose turn it is, is in the hand."""
    if not moving(evening.state):
        return None
    del table.stood[evening.chance.choice(evening.state.pyramids(evening.state.mover))]
    return Waiting, "icefloe.move", None


def swapped(evening, table):
    """A pyramid is replaced by a much larger or smaller one of its suit."""
    name = evening.chance.choice(list(table.stood))
    was = table.stood[name]
    if was.size_probability < 0.98:
        return None
    other = LETTERS[(LETTERS.index(name[0]) + 3) % 6]
    table.stood[name] = type(was)(name, was.place, was.off_mm, other)
    return OutOfSync, "icefloe.out_of_sync", None


def smuggled(evening, table):
    """A pyramid comes that is in play already, or was lost."""
    tile = evening.chance.choice(sorted(table.tiles))
    suit = evening.chance.choice([name[1] for name in table.stood])
    more = table.copy()
    more.put(f"F{suit}", tile)
    table.stood["new"] = type(more.stood[f"F{suit}"])(
        f"F{suit}", tile, more.stood[f"F{suit}"].off_mm, "F"
    )
    return OutOfSync, "icefloe.out_of_sync", None


def half_sunk(evening, table):
    """A pyramid stands on the tile that it sinks, and perhaps some of what has to go is gone."""
    if not moving(evening.state):
        return None
    moves = [move for move in evening.visible(evening.state) if game.play(evening.state, move).sunk]
    if not moves:
        return None
    move = evening.chance.choice(moves)
    table.put(move.pyramid, move.target)
    if evening.chance.random() < 0.5:
        del table.stood[
            evening.chance.choice(
                [
                    name
                    for name, piece in table.stood.items()
                    if piece.place == move.target and name != move.pyramid
                ]
            )
        ]
    return Waiting, "icefloe.sinking", None


def half_removed(evening, table):
    """The tile that was voted for is still there, and nothing on it."""
    if (
        evening.state.phase != "remove"
        or not evening.state.board.floe_of(evening.state.tile).pyramids
    ):
        return None
    place = evening.state.board.floe_of(evening.state.tile).place
    table.sink(place)
    table.tiles.add(place)
    return Waiting, "icefloe.remove", None


PLANTED = [
    wrong_step,
    out_of_turn,
    wrong_slide,
    wrong_tile,
    two_pyramids,
    stolen,
    lifted,
    swapped,
    smuggled,
    half_sunk,
    half_removed,
]


def spoil(evening):
    """Something goes wrong, rather what did not yet, and is called; then it is put right, and
    nothing is said of that.
    """
    if evening.state.phase not in ("move", "remove"):
        return
    plants = [
        plant
        for plant in PLANTED
        if moving(evening.state) or plant not in (wrong_step, out_of_turn, wrong_slide)
    ]
    rarest = sorted(plants, key=evening.planted.__getitem__)
    found = (
        (plant, table, plant(evening, table)) for plant in rarest if (table := evening.table.copy())
    )
    plant, table, expected = next(each for each in found if each[2])
    kind, code, tried = expected
    verdict = evening.judge(table)
    assert isinstance(verdict, kind), (plant.__name__, str(evening.state), verdict)
    assert verdict.code == code, (plant.__name__, verdict)
    assert tried is None or verdict.evidence["move"] == tried, (plant.__name__, tried, verdict)
    back = evening.judge(evening.table)
    assert isinstance(back, Waiting), (plant.__name__, back)
    assert back.message == turn(evening.state)
    evening.planted[plant] += 1


@pytest.mark.slow
@pytest.mark.parametrize("seed", GAMES)
def test_games_with_everything_that_goes_wrong(tables, seed):
    evening = Evening(tables, seed, (FOUR, THREE)[seed % 2])
    assert isinstance(evening.judge(evening.table), Waiting)
    for count in [1, 5] if seed % 2 else []:
        evening.place(count)
    evening.place(6 * len(evening.state.players) - len(evening.state.board.pyramids))
    for _ in range(400):
        if game.outcome(evening.state):
            break
        spoil(evening)
        evening.play()
    assert game.outcome(evening.state)
    assert isinstance(evening.judge(evening.table), Waiting)
    assert len(evening.planted) >= 8


@pytest.mark.parametrize("seed", GAMES)
def test_games_with_sizes_that_are_not_read_for_sure(tables, seed):
    """Four pyramids of ten are, and then are wrong as often as the probability says: the record
    knows, or people are asked.
    """
    evening = Evening(tables, seed, (FOUR, THREE)[seed % 2], doubt=0.4)
    evening.place(6 * len(evening.state.players))
    for _ in range(400):
        if game.outcome(evening.state):
            break
        evening.play()
    assert game.outcome(evening.state)
