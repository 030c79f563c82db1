"""The state of a game of Zamboni Wars: frozen, printed as one line, parsed back from it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from engines.errors import InvalidNotation
from engines.house_rules import Chosen, HouseRule, read_rulings, seat, write_rulings
from engines.resigned import RESIGNED, read_resigned, write_resigned
from engines.state_notation import NONE, read_line, read_state, write_line
from engines.zamboni_wars.board import PLACES, Board, Space
from engines.zamboni_wars.moves import parse_facing
from engines.zamboni_wars.phases import (
    Aiming,
    Hit,
    Moving,
    Over,
    Phase,
    Rolling,
    RollOff,
    Shooting,
    parse_phase,
)
from table.errors import InputError
from table.messages import in_a_row, msg

LAYERS = 3
LAYER_SIZES = {3: "large", 2: "medium", 1: "small"}
"""The outermost piece of a nest of three, a large piece over a medium one over a small one, by the
layers that are left.
"""
PLAYERS_LEAST, PLAYERS_MOST = 2, 4
RANGE = 4
"""Spaces that a laser reaches."""

RULINGS = (
    HouseRule(
        "reading",
        "ruling zamboni_wars.1",
        ("asked",),
        "if a nest may lie in two ways, the one that a legal move reaches counts; if both"
        " do, the players are asked",
    ),
    HouseRule(
        "arrows",
        "ruling zamboni_wars.2",
        ("leaving",),
        "an arrow is needed to leave a space, but not to enter one; a laser ignores arrows",
    ),
    HouseRule(
        "turns",
        "ruling zamboni_wars.3",
        ("apart", "free"),
        "two turns in a row within a move: never, or as the players like",
    ),
    HouseRule(
        "points",
        "ruling zamboni_wars.4",
        ("all", "may"),
        "points: all are spent as far as possible, or some may be left over",
    ),
    HouseRule(
        "sight",
        "ruling zamboni_wars.5",
        ("first",),
        "a laser hits the first thing on its line, and reaches four spaces",
    ),
    HouseRule(
        "seats",
        "ruling zamboni_wars.6",
        ("opposite", "any"),
        "two players sit at opposite coasters, or at any",
    ),
    HouseRule(
        "warp",
        "Warp Zone Rule",
        ("off", "on"),
        "the middle spaces are warp zones; a warp from one to another costs one point",
    ),
    HouseRule(
        "warp_between",
        "ruling zamboni_wars.7",
        ("may", "never"),
        "may a warp separate two turns, as a step does",
    ),
    HouseRule(
        "cover",
        "Treehouse Cover Rule",
        ("off", "on"),
        "one cover die for every two players, each on the coaster of the player who"
        " wins its roll-off",
    ),
    HouseRule(
        "roll_off",
        "Treehouse Cover Rule",
        ("each", "once"),
        "two cover dice: a roll-off for each, or one roll-off whose two highest rolls get them",
    ),
    HouseRule(
        "fire",
        "ruling zamboni_wars.8",
        ("may", "must"),
        "a laser aimed at a Zamboni: it may be fired, or it must be fired",
    ),
    HouseRule(
        "cover_three",
        "ruling zamboni_wars.8",
        ("one", "two"),
        "number of cover dice with three players",
    ),
    HouseRule(
        "stuck",
        "ruling zamboni_wars.9",
        ("blocks",),
        "a cover die that cannot be pushed blocks the way; on a middle space it occupies"
        " that space",
    ),
)

HOMES = {
    "NW": (Space(0, 5), "E"),
    "NE": (Space(5, 5), "S"),
    "SE": (Space(5, 0), "W"),
    "SW": (Space(0, 0), "N"),
}
"""Where the Zamboni of the coaster in each corner of the board starts, its tip pointing clockwise
(ruling zamboni_wars.6).
"""


@dataclass(frozen=True, slots=True)
class Zamboni:
    """Where a nest lies, how it faces, and how many layers it has left."""

    space: Space
    facing: str
    layers: int

    def __str__(self) -> str:
        return f"{self.space} {self.facing} {self.layers}"


@dataclass(frozen=True, slots=True)
class State:
    """The whole state of a game.

    `zambonis` goes with `players`, who are in turn order; None for one that is destroyed. `to_move`
    is whose turn it is, or whose roll in the roll-off; when the game is over, the winner. `dice`
    are the spaces of the cover dice, sorted. Who `resigned` has no turn any more; their Zamboni
    stays in the way, and may be hit.
    """

    players: tuple[str, ...]
    zambonis: tuple[Zamboni | None, ...]
    to_move: str
    phase: Phase
    board: Board
    rulings: Chosen
    dice: tuple[Space, ...] = ()
    resigned: tuple[str, ...] = ()

    def ruling(self, name: str) -> str:
        """The value in force of a house rule."""
        return dict(self.rulings)[name]

    @property
    def remaining_zambonis(self) -> dict[str, Zamboni]:
        """The Zambonis that are left, by player, in turn order."""
        return {
            player: nest for player, nest in zip(self.players, self.zambonis, strict=True) if nest
        }

    @property
    def remaining_players(self) -> tuple[str, ...]:
        """Who has a Zamboni left and has not resigned, in turn order."""
        return tuple(player for player in self.remaining_zambonis if player not in self.resigned)

    @property
    def mover(self) -> Zamboni:
        """The Zamboni of the player whose turn it is."""
        return self.remaining_zambonis[self.to_move]

    @property
    def others(self) -> dict[Space, str]:
        """The players of all other Zambonis, by the spaces where these stand."""
        return {
            nest.space: player
            for player, nest in self.remaining_zambonis.items()
            if player != self.to_move
        }

    @property
    def in_sight(self) -> str | None:
        """The player whom the laser of the player whose turn it is would hit; else None.

        That is the first thing within range ahead, if it is a Zamboni. Printed rules, "Firing Your
        Laser"; rulings zamboni_wars.2 and .5.
        """
        others, mover = self.others, self.mover
        for spaces in range(1, RANGE + 1):
            ahead = mover.space.ahead(mover.facing, spaces)
            if ahead is None or ahead in self.dice:
                return None
            if ahead in others:
                return others[ahead]
        return None

    @property
    def next(self) -> str | None:
        """Who chooses next: a move, or whether to fire.

        None while dice are rolled, and when the game is over.
        """
        return self.to_move if isinstance(self.phase, Moving | Aiming) else None

    @property
    def scores(self) -> tuple[int, ...]:
        """The layers that each player has left."""
        return tuple(nest.layers if nest else 0 for nest in self.zambonis)

    @property
    def follower(self) -> str:
        """Who is next in turn order among those who play on."""
        here = self.players.index(self.to_move) + 1
        return next(
            player
            for player in self.players[here:] + self.players[:here]
            if player in self.remaining_players
        )

    @property
    def cover_dice(self) -> int:
        """Number of cover dice in this game: one for every two players.

        For three players it follows the house rule (ruling zamboni_wars.8).
        """
        return (
            (len(self.players) + (self.ruling("cover_three") == "two")) // 2
            if self.ruling("cover") == "on"
            else 0
        )

    @property
    def uncovered(self) -> tuple[str, ...]:
        """Players still in the game whose coaster has no cover die on its middle."""
        return tuple(
            player
            for player in self.remaining_players
            if PLACES[self.board.place(player)] not in self.dice
        )

    def __str__(self) -> str:
        return write_line(
            {
                "players": " ".join(self.players),
                "zambonis": ", ".join(str(nest) if nest else NONE for nest in self.zambonis),
                **write_resigned(self.resigned),
                "to_move": self.to_move,
                "phase": self.phase,
                "dice": " ".join(map(str, self.dice)) or NONE,
                "board": self.board,
                "rulings": write_rulings(self.rulings),
            }
        )

    @classmethod
    def parse(cls, text: str) -> State:
        """The state in a line of text; raises InvalidNotation, which quotes what is wrong."""
        return read_state(_parse, text)


def fresh(players: Sequence[str], rulings: Chosen, board: Board) -> State:
    """The state before the first roll.

    Raises InputError for players who cannot sit so at the board (ruling zamboni_wars.6).
    """
    players = seat(players, PLAYERS_LEAST, PLAYERS_MOST)
    _check_seats(players, list(board.colours.values()), dict(rulings)["seats"] == "opposite")
    nests = tuple(Zamboni(*HOMES[board.place(player)], LAYERS) for player in players)
    state = State(players, nests, players[0], Rolling(), board, rulings)
    if not state.cover_dice:
        return state
    return State(
        players,
        nests,
        players[0],
        RollOff(tuple((player, None) for player in players)),
        board,
        rulings,
    )


def _check_seats(players: tuple[str, ...], colours: list[str], opposite: bool) -> None:
    """Raise InputError unless the players may sit so round the board.

    They are some of the coasters' colours, clockwise, two of them `opposite`.
    """
    for player in players:
        if player not in colours:
            raise InputError(
                msg(
                    "players: expected colours of the coasters ({text}), got {raw}",
                    text=in_a_row(colours, "colour"),
                    raw=repr(player),
                )
            )
    first = colours.index(players[0])
    clockwise = [colour for colour in colours[first:] + colours[:first] if colour in players]
    if (
        opposite
        and len(players) == PLAYERS_LEAST
        and colours.index(players[1]) != (first + 2) % len(colours)
    ):
        raise InputError(
            msg(
                "players: two players take opposite coasters ({colour} and"
                " {colour2}, or {colour3} and {colour4}), got {players}",
                colour=colours[0],
                colour2=colours[2],
                colour3=colours[1],
                colour4=colours[3],
                players=players,
            )
        )
    if list(players) != clockwise:
        raise InputError(
            msg(
                "players: turns go clockwise round the board: expected {text}, got {text2}",
                text=in_a_row(clockwise, "colour", " "),
                text2=in_a_row(players, "colour", " "),
            )
        )


_KEYS = ("players", "zambonis", RESIGNED, "to_move", "phase", "dice", "board", "rulings")


def _parse(text: str) -> State:
    words = read_line(text, _KEYS, (RESIGNED,))
    blank = fresh(
        words["players"].split(" "),
        read_rulings(RULINGS, words["rulings"]),
        Board.parse(words["board"]),
    )
    state = State(
        players=blank.players,
        zambonis=tuple(
            None if nest == NONE else _zamboni(nest) for nest in words["zambonis"].split(", ")
        ),
        to_move=words["to_move"],
        phase=parse_phase(words["phase"]),
        board=blank.board,
        rulings=blank.rulings,
        dice=(
            ()
            if words["dice"] == NONE
            else tuple(Space.parse(word) for word in words["dice"].split(" "))
        ),
        resigned=read_resigned(words, blank.players),
    )
    _check(state, blank)
    return state


def _zamboni(text: str) -> Zamboni:
    words = text.split(" ")
    if len(words) != 3 or not re.fullmatch(f"[1-{LAYERS}]", words[2]):
        raise InvalidNotation(
            f"expected a space, a facing and 1 to {LAYERS} layers such as 'c6 E 3', got {text!r}"
        )
    return Zamboni(Space.parse(words[0]), parse_facing(words[1]), int(words[2]))


def _check(state: State, blank: State) -> None:
    """Refuse a state that no game can reach by counting its parts."""
    if len(state.zambonis) != len(state.players):
        raise InvalidNotation(
            f"expected a Zamboni or {NONE} for each of {len(state.players)} players, got"
            f" {len(state.zambonis)}"
        )
    spaces = [nest.space for nest in state.remaining_zambonis.values()]
    setting_up = isinstance(state.phase, RollOff) or (
        isinstance(state.phase, Over) and bool(state.resigned)
    )
    wrong = {
        "whose turn it is among the players who are left": state.to_move
        not in state.remaining_players,
        "all Zambonis and cover dice on different spaces": (
            len({*spaces, *state.dice}) < len(spaces) + len(state.dice)
        ),
        "cover dice in the order of their spaces": list(state.dice) != sorted(state.dice),
        f"{state.cover_dice} cover dice, fewer in the roll-off": (
            not setting_up and len(state.dice) != state.cover_dice
        ),
        "the phase over where one Zamboni is left, and only there": (
            isinstance(state.phase, Over) != (len(state.remaining_players) == 1)
        ),
    }
    for expected, refused in wrong.items():
        if refused:
            raise InvalidNotation(f"expected {expected}")
    match state.phase:
        case RollOff() as roll_off:
            _check_roll_off(state, roll_off, blank)
        case Moving(_, early):
            rollers = [player for player, _ in early]
            if rollers not in (
                [],
                [state.to_move],
                [state.follower],
                [state.to_move, state.follower],
            ):
                raise InvalidNotation(
                    f"expected early dice of {state.to_move} and {state.follower}, in this order,"
                    f" got {str(state.phase)!r}"
                )
        case Aiming(target) | Shooting(target) | Hit(target) as phase:
            if target != state.in_sight or (
                isinstance(phase, Shooting) and state.remaining_zambonis[target].layers == 1
            ):
                raise InvalidNotation(
                    "expected a target in sight, with two layers or more for a shot's die, got"
                    f" {str(phase)!r}"
                )


def _check_roll_off(state: State, roll_off: RollOff, blank: State) -> None:
    rollers = [player for player, _ in roll_off.rolls]
    rolled = [player for player, pips in roll_off.rolls if pips]
    waiting = [player for player in rollers if player not in rolled]
    middles = [PLACES[state.board.place(player)] for player in state.players]
    in_order = [player for player in state.uncovered if player in rollers]
    wrong = {
        "every Zamboni at home": state.zambonis != blank.zambonis,
        f"fewer than {state.cover_dice} cover dice": len(state.dice) >= state.cover_dice,
        "cover dice on the middle spaces of players' coasters": (
            not set(middles).issuperset(state.dice)
        ),
        "two players or more, in turn order, on whose coasters no die lies": (
            len(rollers) < 2 or rollers != in_order
        ),
        "rolls in turn order, the next one by the player to move": (
            rollers != rolled + waiting or waiting[:1] != [state.to_move]
        ),
    }
    for expected, refused in wrong.items():
        if refused:
            raise InvalidNotation(f"expected {expected} in the phase '{roll_off}'")
