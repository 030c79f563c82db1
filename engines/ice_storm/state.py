"""The state of a game of Ice Storm: frozen, printed as one line, parsed back from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from engines.errors import InvalidNotation
from engines.house_rules import Chosen, HouseRule, read_rulings, seat, write_rulings
from engines.ice_storm.fire import captures
from engines.ice_storm.place import Piece
from engines.resigned import RESIGNED, read_resigned, write_resigned
from engines.state_notation import NONE, read_counts, read_line, read_state, write_line

PIECES = 5
"""Pieces that each player throws in a round (printed rules: one set of five for each player)."""
PLAYERS_FEWEST, PLAYERS_MOST = 3, 5
NOTHING = "nothing"
VOID = "void"

SAME_SIZE, ANY_SIZE = "same", "any"

RULINGS = (
    HouseRule(
        "touching",
        "ruling ice_storm.1",
        ("contact", "overhang"),
        "a piece touches the squares it rests on, or those it covers from above",
    ),
    HouseRule(
        "doubt",
        "ruling ice_storm.2",
        ("ask",),
        "if something is too close to call, the players are asked",
    ),
    HouseRule(
        "aim",
        "ruling ice_storm.3",
        ("tip",),
        "a lying piece fires from its tip's square, away from the other squares; inside one"
        " square it fires in all directions",
    ),
    HouseRule(
        "upright",
        "ruling ice_storm.4",
        ("every",),
        "an upright piece fires as if its tip were in each square that it touches",
    ),
    HouseRule(
        "fire",
        "ruling ice_storm.5",
        ("over", "first"),
        "lines of fire pass over pieces, or end at the first square with another piece on it",
    ),
    HouseRule(
        "fits",
        "ruling ice_storm.6",
        ("told",),
        "pieces that are too large for the squares are reported before play",
    ),
    HouseRule(
        "knocked",
        "ruling ice_storm.7",
        ("thrower", "nobody"),
        "a piece that an enemy throw knocks off the board, even partly, scores at once for"
        " the thrower, or for nobody",
    ),
    HouseRule(
        "leaning",
        "ruling ice_storm.8",
        ("again",),
        "a throw that leans or lies on another piece is repeated; what it moved stays",
    ),
    HouseRule(
        "low",
        "ruling ice_storm.12",
        ("again", "undone"),
        "a throw from a hand lower than 6 inches (152 mm) is void and repeated; what it"
        " moved stays, or is put back",
    ),
    HouseRule(
        "starter",
        "ruling ice_storm.9",
        ("left", "right"),
        "the player to the left starts the next round, or the player to the right",
    ),
    HouseRule(
        "attack",
        "ruling ice_storm.10",
        ("must", "may"),
        "a player who can attack on their turn must do so, or may pass",
    ),
    HouseRule(
        "list",
        "ruling ice_storm.11",
        ("g8",),
        "the printed list for a piece inside b3 says g7, but its diagonal ends on g8",
    ),
    HouseRule(
        "size",
        "ruling ice_storm.13",
        ("same", "small", "medium", "large", "any"),
        "all pieces have the size of those on the board, or the chosen size, or any size",
    ),
    HouseRule(
        "tie", "Scoring", ("shared",), "players with the same highest total share the victory"
    ),
)


@dataclass(frozen=True, slots=True)
class LastThrow:
    """The last ruled throw, with the `pieces` on the board and the `stacks` before it."""

    player: str
    pieces: tuple[Piece, ...]
    stacks: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class State:
    """The whole state of a game.

    `totals` (points of earlier rounds) and `stacks` (enemy pieces taken in this round) go with
    `players`, who sit in this order, each to the left of the one before. `thrown` counts the throws
    of this round; when all are thrown, `turn` is whose turn it is to fire, able or not. A round
    that is over stays as it is until the first throw of the next one. `void`: the throw that `next`
    makes now does not count (ruling ice_storm.12). Who `resigned` throws and fires no more: their
    throws count as wasted, a round that they would start is not played, and they cannot win. `last`
    can still be made void; it is a memory of the game, not part of its position: it is not
    compared, printed or parsed.
    """

    players: tuple[str, ...]
    rulings: Chosen
    totals: tuple[int, ...]
    stacks: tuple[int, ...]
    round: int = 1
    thrown: int = 0
    turn: str | None = None
    pieces: tuple[Piece, ...] = ()
    void: bool = False
    passed: tuple[str, ...] = ()
    resigned: tuple[str, ...] = ()
    last: LastThrow | None = field(default=None, compare=False)

    @property
    def last_thrower_off_board(self) -> str | None:
        """Player of the last ruled throw, if it is not on the board."""
        if self.last is None or self.piece_named(
            f"{self.last.player}{self.throws_of(self.last.player)}"
        ):
            return None
        return self.last.player

    @property
    def restores_after_low(self) -> bool:
        """True if everything moved by a throw with a low hand is put back (ruling ice_storm.12)."""
        return dict(self.rulings)["low"] == "undone"

    @property
    def stops(self) -> bool:
        """True if the first square with another piece stops a shot (ruling ice_storm.5)."""
        return dict(self.rulings)["fire"] == "first"

    @property
    def scores_knocked(self) -> bool:
        """True if pieces knocked off the board are the thrower's (ruling ice_storm.7)."""
        return dict(self.rulings)["knocked"] == "thrower"

    @property
    def may_pass(self) -> bool:
        """True if a player who can attack may pass (ruling ice_storm.10)."""
        return dict(self.rulings)["attack"] == "may"

    @property
    def starter(self) -> str:
        """Player who throws and fires first in this round (ruling ice_storm.9)."""
        return self._first_player_of(self.round)

    def _first_player_of(self, number: int) -> str:
        """Player who starts a round, counted from 1."""
        right = dict(self.rulings)["starter"] == "right"
        return self.players[(1 - number if right else number - 1) % len(self.players)]

    @property
    def next(self) -> str | None:
        """Player who throws next: in turn from the starter on; after a round, the next starter.

        None while players fire, see `attacker`, and when the game is over.
        """
        seats = len(self.players)
        if not self.all_thrown:
            return self.players[(self.players.index(self.starter) + self.thrown) % seats]
        return (
            self._first_player_of(self.next_round) if self.round_over and self.next_round else None
        )

    @property
    def next_round(self) -> int | None:
        """Number of the next round that is played; None if this is the last one."""
        later = range(self.round + 1, len(self.players) + 1)
        return next(
            (number for number in later if self._first_player_of(number) not in self.resigned), None
        )

    @property
    def all_thrown(self) -> bool:
        """True if everybody has thrown all pieces."""
        return self.thrown == PIECES * len(self.players)

    @property
    def attacker(self) -> str | None:
        """Player who fires now; None if nobody.

        It is the player whose turn it is, or the next to the left, who can fire and has not passed.
        A shot too close to call is enough.
        """
        if self.turn is None:
            return None
        here = self.players.index(self.turn)
        in_turn = (
            player
            for player in self.players[here:] + self.players[:here]
            if player not in (*self.passed, *self.resigned)
        )
        return next(
            (player for player in in_turn if captures(self.pieces, player, self.stops)), None
        )

    @property
    def round_over(self) -> bool:
        """True if everything is thrown, and nobody can fire."""
        return self.all_thrown and self.attacker is None

    @property
    def over(self) -> bool:
        """True if every player has started a round, and the last one is over."""
        return self.next_round is None and self.round_over

    @property
    def points(self) -> tuple[int, ...]:
        """Points of each player if this round ended now: the stack, and own pieces on the board."""
        return tuple(
            stack + len(self.of(player))
            for player, stack in zip(self.players, self.stacks, strict=True)
        )

    @property
    def scores(self) -> tuple[int, ...]:
        """Points of all rounds, with this one ended now."""
        return tuple(map(sum, zip(self.totals, self.points, strict=True)))

    @property
    def throws_in_play(self) -> int:
        """Pieces thrown in this round by players still in the game, wasted ones included."""
        return sum(self.throws_of(player) for player in self.players if player not in self.resigned)

    def throws_of(self, player: str) -> int:
        """Pieces that a player has thrown in this round, wasted ones included."""
        seats = len(self.players)
        after = (self.players.index(player) - self.players.index(self.starter)) % seats
        return (self.thrown + seats - 1 - after) // seats

    def of(self, player: str) -> tuple[Piece, ...]:
        """A player's pieces on the board."""
        return tuple(piece for piece in self.pieces if piece.colour == player)

    def piece_named(self, name: str) -> Piece | None:
        """Piece on the board with this name."""
        return next((piece for piece in self.pieces if piece.name == name), None)

    def __str__(self) -> str:
        words = {
            "players": " ".join(self.players),
            **write_resigned(self.resigned),
            "round": self.round,
            "totals": " ".join(map(str, self.totals)),
            "stacks": " ".join(map(str, self.stacks)),
            "thrown": self.thrown,
            "turn": " ".join(filter(None, (self.turn, VOID if self.void else ""))) or NONE,
            **({_PASSED: " ".join(self.passed)} if self.passed else {}),
            "pieces": ", ".join(map(str, self.pieces)) or NOTHING,
            "rulings": write_rulings(self.rulings),
        }
        return write_line(words)

    @classmethod
    def parse(cls, text: str) -> State:
        """Parse the state in a line of text; raises InvalidNotation, which quotes the error."""
        return read_state(_parse, text)


def fresh(players: Sequence[str], rulings: Chosen) -> State:
    """Return the state before the first throw; raises InputError for invalid players."""
    nought = (0,) * len(players)
    return State(seat(players, PLAYERS_FEWEST, PLAYERS_MOST), rulings, nought, nought)


_PASSED = "passed"
"""Key that is only present if somebody has passed."""
_KEYS = (
    "players",
    RESIGNED,
    "round",
    "totals",
    "stacks",
    "thrown",
    "turn",
    _PASSED,
    "pieces",
    "rulings",
)


def _parse(text: str) -> State:
    words = read_line(text, _KEYS, (RESIGNED, _PASSED))
    turn, void = _read_turn(words["turn"])
    blank = fresh(words["players"].split(" "), read_rulings(RULINGS, words["rulings"]))
    state = State(
        players=blank.players,
        rulings=blank.rulings,
        totals=read_counts(words, "totals", len(blank.players)),
        stacks=read_counts(words, "stacks", len(blank.players)),
        round=read_counts(words, "round", 1)[0],
        thrown=read_counts(words, "thrown", 1)[0],
        turn=turn,
        void=void,
        passed=tuple(words[_PASSED].split(" ")) if _PASSED in words else (),
        pieces=(
            ()
            if words["pieces"] == NOTHING
            else tuple(map(Piece.parse, words["pieces"].split(", ")))
        ),
        resigned=read_resigned(words, blank.players),
    )
    _check(state)
    return state


def _read_turn(text: str) -> tuple[str | None, bool]:
    """Parse whose turn it is to fire, and whether the current throw is void."""
    if text in (NONE, VOID):
        return None, text == VOID
    return text.removesuffix(f" {VOID}"), text.endswith(f" {VOID}")


def _check(state: State) -> None:
    """Refuse a state that no game can reach by counting its parts."""
    seats = len(state.players)
    _expect(1 <= state.round <= seats, f"round 1 to {seats}")
    _expect(state.thrown <= PIECES * seats, f"0 to {PIECES * seats} pieces thrown")
    _expect(
        sum(state.totals) <= PIECES * seats * (state.round - 1),
        f"at most {PIECES * seats} points for each earlier round",
    )
    _expect(
        (state.turn is not None) == state.all_thrown,
        "whose turn it is to fire once everything is thrown, and only then",
    )
    _expect(state.turn in (None, *state.players), "the turn of one of the players")
    _expect(
        state.next is None or state.next not in state.resigned,
        "somebody to throw who has not resigned",
    )
    _expect(not state.void or state.next is not None, "a void throw only while pieces are thrown")
    _expect(
        not state.passed or (state.may_pass and state.turn is not None),
        "players who passed only while players fire and may pass",
    )
    _expect(
        len(set(state.passed)) == len(state.passed) and set(state.passed) <= set(state.players),
        "players who passed, each once",
    )
    _expect(
        {piece.colour for piece in state.pieces} <= set(state.players),
        "pieces of the players' colours",
    )
    named = {(state.players.index(piece.colour), piece.number): piece for piece in state.pieces}
    _expect(
        state.pieces == tuple(named[key] for key in sorted(named)),
        "each piece once, by players and numbers",
    )
    _expect(
        not any(piece.place.off_doubtful for piece in state.pieces),
        "pieces that are on the board beyond doubt",
    )
    thrown = [state.throws_of(player) for player in state.players]
    _expect(
        all(number <= thrown[seat] for seat, number in named), "no piece that was not thrown yet"
    )
    gone = [
        count - len(state.of(player)) for player, count in zip(state.players, thrown, strict=True)
    ]
    _expect(sum(state.stacks) <= sum(gone), "no more pieces in the stacks than left the board")
    _expect(
        all(stack <= sum(gone) - own for stack, own in zip(state.stacks, gone, strict=True)),
        "enemy pieces in the stacks",
    )


def _expect(right: bool, expected: str) -> None:
    if not right:
        raise InvalidNotation(f"expected {expected}")
