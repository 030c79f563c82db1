"""Refereed games of Ice Storm: every throw and shot ruled as it was, every planted wrong called for
what it is, nothing else said.
"""

from __future__ import annotations

import os
from collections import Counter
from itertools import combinations, permutations
from random import Random

import numpy as np
import pytest

from engines import ice_storm as game
from engines.ice_storm.fire import captures
from engines.ice_storm.moves import Capture, Change, Throw
from engines.verdict import Accepted, OutOfSync, Refused, Waiting

GAMES = range(int(os.environ.get("RINKSIDE_GAMES", "2")))
"""More of them, as docs/ENGINES.md tells: others each for its own seed."""
PLAYERS = ("green", "black", "red")
THROWS = ("plain", "plain", "moves", "knocks", "off", "edge", "far")


class Evening:
    """A game on a table: `state` is what the referee's rulings led to, `truth` what happened."""

    def __init__(self, tables, seed):
        self.chance, self.rng = Random(seed), np.random.default_rng(seed)
        self.table = tables.Table(self.rng)
        self.state = self.truth = game.set_up(PLAYERS, {}, self.table.board)
        self.before = None
        self.planted = Counter()

    def judge(self, table, *more, **changes):
        self.last = table.seen(*more, **changes)
        return game.judge(self.state, self.last, self.before, table.board)

    def throw(self, kind):
        """The next player throws in some way."""
        player, table, changes = self.truth.next, self.table, []
        if self.truth.round_over:
            table.pieces.clear()
            table.beside.clear()
        enemies = [name for name in table.pieces if not name.startswith(player)]
        if kind == "knocks" and enemies:
            gone = self.chance.choice(enemies)
            table.beside.append(table.off(table.pieces.pop(gone).colour))
            changes.append(Change(gone, None))
        if kind in ("moves", "knocks") and table.pieces:
            name = self.chance.choice(list(table.pieces))
            table.knock(name)
            changes.append(Change(name, table.pieces[name].place))
        if kind == "far":
            for name in self.chance.sample(
                list(table.pieces), min(len(table.pieces), self.chance.randint(1, 3))
            ):
                table.knock_anywhere(name)
                changes.append(Change(name, table.pieces[name].place))
        if kind == "off" and (self.truth.thrown == 0 or self.truth.round_over):
            kind = "plain"
        about = (self.rng.uniform(30, 370), 12) if kind == "edge" and table.pieces else None
        thrown = table.off(player) if kind == "off" else table.thrown(player, 40, 360, about)
        if thrown.place:
            table.pieces[
                f"{player}{1 if self.truth.round_over else self.truth.throws_of(player) + 1}"
            ] = thrown
        else:
            table.beside.append(thrown)
        return Throw(player, thrown.place, tuple(changes))

    def fire(self):
        """Whoever's turn it is takes a piece."""
        target = self.chance.choice(list(captures(self.truth.pieces, self.truth.attacker)))
        del self.table.pieces[target.name]
        return Capture(target.colour, target.number)

    def play(self):
        """Something legal happens; the verdict on it, which has to lead to where the truth is."""
        move = self.throw(self.chance.choice(THROWS)) if self.truth.next else self.fire()
        player = self.truth.next or self.truth.attacker
        self.truth = game.play(self.truth, move)
        verdict = self.judge(self.table)
        assert isinstance(verdict, Accepted), (str(self.state), str(move), verdict)
        code = (
            "storm.attack"
            if isinstance(move, Capture)
            else "storm.throw"
            if move.place
            else "storm.throw.wasted"
        )
        assert (verdict.code, verdict.player) == (code, player)
        for text in verdict.moves:
            self.state = game.play(self.state, game.parse_move(text))
        self.before = self.last
        assert self.summary(self.state) == self.summary(self.truth), (str(move), verdict)
        return verdict

    @staticmethod
    def summary(state):
        """What a state says; pieces of one colour may have changed their numbers."""
        document = game.state_document(state)
        lie = Counter((piece.colour, piece.place) for piece in state.pieces)
        return lie, *(
            document[key]
            for key in ("on_board", "score", "next", "attacker", "round_over", "scores", "phase")
        )


def out_of_turn(evening, table):
    """Somebody else throws."""
    colour = evening.chance.choice([player for player in PLAYERS if player != evening.truth.next])
    thrown = table.thrown(colour)
    table.pieces["new"] = thrown if thrown.place else table.thrown(colour, 100, 300)
    return Refused, "storm.throw.turn", None


def nobodys(_evening, table):
    """A piece comes that nobody plays."""
    table.pieces["new"] = table.thrown("white", 50, 350)
    return Refused, "storm.throw.player", None


def two_at_once(evening, table):
    """The next player throws two."""
    if evening.truth.thrown == 0:
        return None
    for name in ("new", "newer"):
        table.pieces[name] = table.thrown(evening.truth.next, 50, 350)
    return Refused, "storm.throw.two", None


def leans(evening, table):
    """The thrown piece leans on another."""
    if not table.pieces or evening.truth.round_over:
        return None
    table.more = (table.leaning(evening.truth.next),)
    return Refused, "storm.throw.leaning", (f"throw {evening.truth.next} leaning",)


def nudged(evening, table):
    """A hand pushes a piece to other squares."""
    for name in evening.chance.sample(list(table.pieces), len(table.pieces)):
        spoilt = table.copy()
        spoilt.knock(name)
        if not (spoilt.pieces[name].place.squares & table.pieces[name].place.squares):
            table.pieces = spoilt.pieces
            return OutOfSync, "storm.out_of_sync", None
    return None


def carried(evening, table):
    """A hand carries a piece, not of the player who might have thrown it, to another end of the
    board.
    """
    names = [name for name in table.pieces if not name.startswith(str(evening.truth.next))]
    if not names:
        return None
    name = evening.chance.choice(names)
    was = table.pieces.pop(name)
    while (
        np.hypot((now := table.thrown(was.colour, 30, 370)).x_mm - was.x_mm, now.y_mm - was.y_mm)
        < 120
    ):
        pass
    table.pieces[name] = now
    return OutOfSync, "storm.out_of_sync", None


def stolen(evening, table):
    """A piece is taken, and it is no time to fire."""
    if not table.pieces:
        return None
    del table.pieces[evening.chance.choice(list(table.pieces))]
    return OutOfSync, "storm.out_of_sync", None


def bad_shot(evening, table):
    """An enemy piece is taken that no line of fire reaches."""
    can = captures(evening.truth.pieces, evening.truth.attacker)
    safe = [
        piece
        for piece in evening.truth.pieces
        if piece not in can and piece.colour != evening.truth.attacker
    ]
    if not safe:
        return None
    target = evening.chance.choice(safe)
    del table.pieces[target.name]
    return Refused, "storm.attack", target.colour


def own_piece(evening, table):
    """The attacker takes an own piece."""
    target = evening.chance.choice(evening.truth.of(evening.truth.attacker))
    del table.pieces[target.name]
    return Refused, "storm.attack", target.colour


def two_taken(evening, table):
    """Two pieces are taken at once, which no two shots one after the other could have taken."""
    numbers = {piece.name: (piece.colour, piece.number) for piece in evening.truth.pieces}
    pairs = [
        pair
        for pair in combinations(table.pieces, 2)
        if not any(fired(evening.truth, numbers, order) for order in permutations(pair))
    ]
    if not pairs:
        return None
    for name in evening.chance.choice(pairs):
        del table.pieces[name]
    return Refused, "storm.attack", None


def fired(state, numbers, names):
    """May these be taken one after the other?"""
    for name in names:
        move = Capture(*numbers[name])
        if game.violation(state, move):
            return False
        state = game.play(state, move)
    return True


def added(evening, table):
    """A piece comes while players fire."""
    table.pieces["new"] = table.thrown(evening.chance.choice(PLAYERS), 50, 350)
    return OutOfSync, "storm.out_of_sync", None


def swapped(evening, table):
    """A piece is replaced by one of another colour."""
    name = evening.chance.choice(list(table.pieces))
    was = table.pieces[name]
    table.pieces[name] = type(was)(
        evening.chance.choice([p for p in PLAYERS if p != was.colour]),
        was.x_mm,
        was.y_mm,
        was.heading_deg,
        was.pose,
    )
    return OutOfSync, "storm.out_of_sync", None


AT_THROWS = [out_of_turn, nobodys, two_at_once, leans, nudged, carried, stolen]
AT_SHOTS = [bad_shot, own_piece, two_taken, nudged, carried, added, swapped]


def spoil(evening):
    """Something goes wrong, rather what did not yet, and is called; then it is put right, and
    nothing is said of that.
    """
    plants = AT_THROWS if evening.truth.next else AT_SHOTS
    rarest = sorted(plants, key=evening.planted.__getitem__) if not evening.truth.round_over else []
    found = (
        (plant, table, plant(evening, table)) for plant in rarest if (table := evening.table.copy())
    )
    plant, table, expected = next((each for each in found if each[2]), (None, None, None))
    if plant is None:
        return
    kind, code, tried = expected
    verdict = evening.judge(table, *getattr(table, "more", ()))
    assert isinstance(verdict, kind), (plant.__name__, str(evening.state), verdict)
    assert verdict.code == code, plant.__name__
    assert tried is None or tried in (
        verdict.evidence.get("move"),
        getattr(verdict, "tried", None),
    ), plant.__name__
    back = evening.judge(evening.table)
    assert isinstance(back, Waiting), (plant.__name__, back)
    assert back.message == game.turn(evening.state)
    evening.planted[plant] += 1


@pytest.mark.slow
@pytest.mark.parametrize("seed", GAMES)
def test_rounds_with_everything_that_goes_wrong(tables, seed):
    evening = Evening(tables, seed)
    assert isinstance(evening.judge(evening.table), Waiting)
    for _ in range(60):
        spoil(evening)
        evening.play()
        if evening.truth.round == 2 and evening.truth.thrown == 2:
            break
    assert evening.truth.round == 2, "one round was played to its end"
    assert len(evening.planted) >= 7
