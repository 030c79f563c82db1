"""Hands at the table of each game: they do what a script says, in the game's own notation, and a
camera reads what lies there.

A game's hands have `state`, where the script begins; `board`; `act(words)`, which does something on
the table; `seen()`, what is read of it; and `kept()` and `back(kept)`, to put it back as it was.
"""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from functools import cache
from itertools import product

import numpy as np

from engines import GAMES
from engines.ice_storm.place import Place
from table.boards import Chessboard, Open
from table.solids import on_top
from tests.support.ice_boule import LOONEY
from tests.support.ice_boule import Tables as BouleTables
from tests.support.ice_storm import Table as StormTable
from tests.support.ice_storm import Thrown
from tests.support.icebreaker import Table as IcebreakerTable
from tests.support.icefloe import BOARD as TILES
from tests.support.icefloe import Table as Pond
from tests.support.zamboni_wars import RealTable


def fields(line):
    """The fields of a state's notation, by name."""
    return dict(field.strip().partition(" ")[::2] for field in line.split(";"))


def begun(game, words, seats):
    """A state that differs from the first one of `seats` in some fields (`to_move yellow; phase
    roll`), rulings one by one.

    With `players ...`, and perhaps `rulings ...`, alone it is a game's first state.
    """
    engine, given = GAMES[game], fields(words)
    rulings = dict(pair.split("=") for pair in given.get("rulings", "").split())
    first = engine.start(given.get("players", seats).split(), rulings)
    if given.keys() <= {"players", "rulings"}:
        return first
    usual = fields(str(first).removesuffix("."))
    assert given.keys() <= usual.keys(), f"expected fields among {', '.join(usual)}, got {words!r}"
    whole = usual | given | {"rulings": usual["rulings"]}
    return engine.State.parse("; ".join(f"{name} {value}" for name, value in whole.items()) + ".")


class Hands:
    """What the hands of all games have in common: `table`, which can be copied."""

    def kept(self):
        """The table as it lies now."""
        return self.table.copy()

    def back(self, kept):
        """Put everything where it lay then."""
        self.table = kept.copy()

    def seen(self):
        """What a camera reads."""
        return self.table.seen()


class IcebreakerHands(Hands):
    """`A1-B2`: a ship goes there and takes the ice; `A1-B2 beside`: leaves it; `take C3`: takes
    ice; `lift A1`; `ice C3`: lays some.
    """

    def __init__(self, words):
        self.state = begun("icebreaker", words, "red black")
        self.table = IcebreakerTable(self.state, np.random.default_rng(5))
        self.board = self.table.board

    def act(self, words):
        match words.split():
            case ["take", cell]:
                del self.table.ice[cell]
            case ["ice", cell]:
                self.table.ice[cell] = self.table.put(cell)
            case ["lift", cell]:
                del self.table.ships[cell]
            case [move, *beside]:
                self.table.move(*move.split("-"), take=not beside)


class ZamboniHands(Hands):
    """`yellow c6 E`: a nest is driven there; `yellow at 85 186 60`: in mm, looking so many degrees;
    `take red [2]`: layers come off; `lift red`; `push b2 a2`: a cover die goes there.
    """

    def __init__(self, words):
        self.state = begun("zamboni_wars", words, "yellow red blue")
        self.table, self.board = RealTable(self.state, np.random.default_rng(5)), RealTable.BOARD

    def seen(self):
        seen = self.table.seen()
        dice = tuple(replace(die, x_mm=float(die.x_mm), y_mm=float(die.y_mm)) for die in seen.dice)
        return replace(seen, dice=dice)

    def act(self, words):
        space = type(next(iter(self.state.remaining_zambonis.values())).space).parse
        match words.split():
            case ["take", player, *layers]:
                self.table.strip(player, *map(int, layers))
            case ["lift", player]:
                del self.table.nests[player]
            case ["push", here, there]:
                self.table.push(space(here), space(there))
            case [player, "at", x_mm, y_mm, heading_deg]:
                self.table.nests[player] = (
                    np.array([float(x_mm), float(y_mm)]),
                    float(heading_deg),
                    self.table.nests[player][2],
                )
            case [player, there, facing]:
                layers = self.table.nests[player][2]
                self.table.nests[player] = (
                    *self.table.place(space(there), facing, mm=2, deg=2),
                    layers,
                )


@cache
def lies_on(colour, text):
    """A piece that lies clearly as a place says (`b3-b4>b4`)."""
    place = Place.parse(text)
    middles = {
        square: 50.0 * (np.array([square.file, square.rank]) + 0.5) for square in place.squares
    }
    about = np.mean(
        [np.min([*middles.values()], axis=0), np.max([*middles.values()], axis=0)], axis=0
    )
    pose = "lying" if place.tips else "upright"
    steps = sorted(product(np.arange(-20, 21, 2.0), repeat=2), key=lambda step: np.hypot(*step))
    for heading_deg, (dx, dy) in product(range(0, 360, 45) if place.tips else (0,), steps):
        turn = np.radians(heading_deg)
        back = 13.0 * np.array([np.cos(turn), np.sin(turn)]) if place.tips else 0
        piece = Thrown(colour, *(about + np.array([dx, dy]) - back), float(heading_deg), pose)
        if piece.clear and piece.place == place:
            return piece
    raise AssertionError(f"no piece lies clearly on {text}")


class StormHands(Hands):
    """`throw red b3`, `throw red at 200 26.5 270` (mm, and where its tip points), `throw red
    exactly at ...` (read more precisely), `throw red off`, `throw red leaning`; `knock red1 c4` or
    `knock red1 off`; `take red1`; `pick up` what leans; `clear`.  A table that begins with `;
    squares 27` has squares of so many mm.  What was thrown is `red@b3`, what lay there before
    `red1`.
    """

    SURER = 1 / 36

    def __init__(self, words):
        words, _, square_mm = words.partition("; squares ")
        self.state = begun("ice_storm", words, "green black red")
        self.table, self.board = (
            StormTable(np.random.default_rng(5)),
            Chessboard(square_mm=float(square_mm or 50)),
        )
        self.table.pieces = {
            piece.name: lies_on(piece.colour, str(piece.place)) for piece in self.state.pieces
        }
        self.leans, self.exact = [], False

    def act(self, words):
        match words.split():
            case ["throw", colour, "exactly", *where]:
                self.exact = True
                self.act(f"throw {colour} {' '.join(where)}")
            case ["throw", colour, "off"]:
                self.table.beside.append(self.table.off(colour))
            case ["throw", colour, "at", *where]:
                self.table.pieces[f"{colour}@"] = Thrown(colour, *map(float, where), "lying")
            case ["throw", colour, "leaning"]:
                self.leans = [self.table.leaning(colour)]
            case ["throw", colour, place]:
                self.table.pieces[f"{colour}@{place}"] = lies_on(colour, place)
            case ["knock", name, "off"]:
                self.table.beside.append(self.table.off(self.table.pieces.pop(name).colour))
            case ["knock", name, place]:
                self.table.pieces[name] = lies_on(self.table.pieces[name].colour, place)
            case ["take", name]:
                del self.table.pieces[name]
            case ["pick", "up"]:
                self.leans = []
            case ["clear"]:
                self.table.pieces.clear()
                self.table.beside.clear()

    def back(self, kept):
        super().back(kept)
        self.leans = []

    def seen(self):
        seen = self.table.seen(*self.leans)
        if not self.exact:
            return seen
        return replace(
            seen,
            pieces=tuple(
                replace(piece, covariance=piece.covariance * self.SURER) for piece in seen.pieces
            ),
        )


class BouleHands(Hands):
    """`target green`, `target green at X Y` or `target green lying X Y`; `blue 20 90`: a piece 20
    mm from the target's side at 90 degrees, further along with a third number; a size after the
    colour (`blue small 20 90`); `blue on`: on the target; `blue out`; `move 1 blue 30 90`: the
    first piece after the target lies there now; `out 1`; `clear`.
    """

    def __init__(self, words):
        self.state = begun("ice_boule", words, "blue yellow")
        self.pieces, self.out = [], []
        self.board = Open(outline_mm=((-500, -500), (500, -500), (500, 500), (-500, 500)))

    def act(self, words):
        match words.split():
            case ["target", colour, "at", x, y]:
                self.pieces[:1] = [BouleTables.target(colour, x_mm=float(x), y_mm=float(y))]
            case ["target", colour, "lying", x, y]:
                self.pieces[:1] = [BouleTables.piece(colour, float(x), float(y))]
            case ["target", colour]:
                self.pieces = [BouleTables.target(colour)]
            case ["move", number, *how]:
                self.pieces[int(number)] = self._piece(*how)
            case ["out", number]:
                self._outside(self.pieces.pop(int(number)).colour)
            case [colour, "out"]:
                self._outside(colour)
            case ["clear"]:
                self.pieces, self.out = [], []
            case how:
                self.pieces.append(self._piece(*how))

    def _piece(self, colour, *how):
        size = how[0] if how[0] in ("small", "medium", "large") else "large"
        how = [word for word in how if word != size]
        match how:
            case ["on"]:
                return BouleTables.on(colour, self.pieces[0], 0, size)
            case ["over", number]:
                below = self.pieces[int(number)]
                solid = on_top(LOONEY[size], below.solid, 20.0)
                return replace(BouleTables.on(colour, below, int(number), size), solid=solid)
            case ["at", x_mm, y_mm, *nested]:
                at_mm = float(x_mm), float(y_mm)
                return BouleTables.piece(colour, *at_mm, size=size, on=0 if nested else None)
        gap_mm, bearing_deg, *along_mm = map(float, how)
        return BouleTables.beside(colour, gap_mm, bearing_deg, *along_mm, size=size)

    def _outside(self, colour):
        self.out.append(BouleTables.piece(colour, 900.0, 60.0 * len(self.out)))

    def kept(self):
        return copy(self.pieces), copy(self.out)

    def back(self, kept):
        self.pieces, self.out = map(copy, kept)

    def seen(self):
        return BouleTables.seen(*self.pieces, off=self.out)


class FloeHands(Hands):
    """`AS b2`: a pyramid goes there; `slide a1 b1`; `sink b1`: a tile goes with all on it; `take
    AS`; `place all`: the set is laid out.
    """

    def __init__(self, words):
        words = words if "phase" not in words or "mover" in words else f"{words}; mover -"
        self.state = begun("icefloe", words, "red yellow black blue")
        self.table, self.board = Pond(np.random.default_rng(5), self.state), TILES
        for floe in self.state.board.floes:
            for name in floe.pyramids:
                self.table.put(name, floe.place)

    def act(self, words):
        match words.split():
            case ["slide", here, there]:
                self.table.slide(here, there)
            case ["sink", place]:
                self.table.sink(place)
            case ["take", name]:
                del self.table.stood[name]
            case ["place", "all"]:
                for name, place in zip(
                    self.state.placing_order, sorted(self.table.tiles), strict=False
                ):
                    self.table.put(name, place)
            case [name, place]:
                self.table.put(name, place)


HANDS = {
    "zamboni_wars": ZamboniHands,
    "icebreaker": IcebreakerHands,
    "ice_storm": StormHands,
    "ice_boule": BouleHands,
    "icefloe": FloeHands,
}
