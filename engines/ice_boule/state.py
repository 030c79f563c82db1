"""The state of a game of Ice Boule: frozen, printed as one line, parsed back from it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from engines.errors import InvalidNotation
from engines.house_rules import Chosen, HouseRule, read_rulings, seat, write_rulings
from engines.ice_boule.layout import Layout, Lie
from engines.ice_boule.moves import MARKED, OUT, Line, LineMarked, parse_line, parse_size
from engines.resigned import RESIGNED, read_resigned, write_resigned
from engines.state_notation import NONE, read_counts, read_line, read_state, write_line
from table.messages import Message, msg
from table.pieces import COLOURS

T = TypeVar("T")

PIECES = 5
"""Pieces of the chosen size per player (printed rules: five trios a colour)."""
PROJECTILES = PIECES - 1
"""Projectiles per player: the last piece serves as Centrifuge and is never thrown."""
PLAYERS_MOST = 10
POINTS_TO_WIN = 13

RULINGS = (
    HouseRule(
        "sizes",
        "Before each end",
        ("shown", "declared"),
        "size for the end: shown by the first piece thrown, or declared before play",
    ),
    HouseRule(
        "out",
        "Play",
        ("on", "next"),
        "a throw that leaves the play area is spent; if nothing is in play then, the same"
        " player goes on, or the next one throws",
    ),
    HouseRule(
        "distance",
        "ruling ice_boule.1",
        ("clearance",),
        "a distance is the shortest way between piece and target, as a calliper measures it",
    ),
    HouseRule(
        "close",
        "ruling ice_boule.2",
        ("asked",),
        "if the camera cannot tell distances apart, the players are asked to measure or decide",
    ),
    HouseRule(
        "turns",
        "ruling ice_boule.3",
        ("next",),
        "after the leader, the next player in turn order with more than one piece left throws",
    ),
    HouseRule(
        "target",
        "ruling ice_boule.4",
        ("stays",),
        "a knocked target is measured where it ends up; if it leaves the play area, the end"
        " is void",
    ),
    HouseRule(
        "repeat",
        "ruling ice_boule.5",
        ("same", "next"),
        "player who restarts a tied or void end: the same one, or the next in turn order",
    ),
    HouseRule(
        "equal",
        "ruling ice_boule.6",
        ("keep", "take"),
        "at an equal distance, the lead stays where it was, or the thrower takes it",
    ),
    HouseRule(
        "stop",
        "ruling ice_boule.7",
        ("may", "never"),
        "may the leader stop throwing when nobody else has pieces left",
    ),
    HouseRule(
        "over",
        "ruling ice_boule.8",
        ("after_end",),
        "the game is over after the end in which a player reaches 13 points; in a solo"
        " game, all pieces count",
    ),
    HouseRule(
        "toppled",
        "ruling ice_boule.9",
        ("nested", "always"),
        "a piece knocked over on the target counts as touching it while both touch, or for"
        " the rest of the end",
    ),
    HouseRule(
        "on_target",
        "ruling ice_boule.10",
        ("stack", "lowest"),
        "pieces that stand on the target: the whole stack on it, or only the lowest",
    ),
)


@dataclass(frozen=True, slots=True)
class End:
    """How an end ended: `won` by `winner` for `points`, `tied` at the leading distance, or `void`.

    A void end has nothing to measure.
    """

    kind: Literal["won", "tied", "void"]
    winner: str | None = None
    points: int = 0

    def __str__(self) -> str:
        return f"won {self.winner} {self.points}" if self.winner else self.kind


@dataclass(frozen=True, slots=True)
class LastThrow:
    """The last throw: who, and where it came to rest then (None: out of the play area)."""

    player: str
    lie: Lie | None

    def __str__(self) -> str:
        return f"{self.player} {self.lie.distance if self.lie else OUT}"


@dataclass(frozen=True, slots=True)
class State:
    """The whole state of a game. `scores`, `sizes` and `thrown` go with `players`, in turn order.

    `toppled` are the colours of pieces that were pushed over on the target in this end and touch it
    wherever they lie, one colour a piece, in turn order (ruling ice_boule.9, `always`); the layout
    does not say where such a piece lies. Players who `resigned` throw no more; their pieces stay
    and count as they lie, and they cannot win. Between ends `target` is None, `starter` starts the
    next one, and `end`, `layout` and the rest still show the last.
    """

    players: tuple[str, ...]
    scores: tuple[int, ...]
    starter: str
    sizes: tuple[str | None, ...]
    thrown: tuple[int, ...]
    rulings: Chosen
    line: Line | LineMarked | None = None
    target: str | None = None
    last: LastThrow | None = None
    leading: str | None = None
    layout: Layout = Layout()  # noqa: RUF009 - frozen
    end: End | None = None
    resigned: tuple[str, ...] = ()
    toppled: tuple[str, ...] = ()

    def ruling(self, name: str) -> str:
        """Value in force of a house rule."""
        return dict(self.rulings)[name]

    def remaining_projectiles(self, player: str) -> int:
        """Projectiles that a player may still throw in this end."""
        return PROJECTILES - self.thrown[self.players.index(player)]

    def size(self, player: str) -> str | None:
        """Size that a player throws in this end, None while it is unknown."""
        return self.sizes[self.players.index(player)]

    def after(self, player: str) -> tuple[str, ...]:
        """All players in turn order from the one after `player`, who comes last."""
        here = self.players.index(player) + 1
        return self.players[here:] + self.players[:here]

    @property
    def undeclared(self) -> tuple[str, ...]:
        """Players who have to declare their size before anybody throws in this end, in turn order.

        Empty if the first piece thrown shows the size.
        """
        if self.target is None or self.ruling("sizes") != "declared" or any(self.thrown):
            return ()
        return tuple(
            player
            for player in self.players
            if self.size(player) is None and player not in self.resigned
        )

    @property
    def next(self) -> str | None:
        """Player who throws a projectile next; None between ends.

        Printed rules, "Play"; rulings ice_boule.3 and .7. The player who does not lead throws on.
        Then it goes in turn order, without the leader while anybody else has a piece to throw.
        """
        if self.target is None:
            return None
        if self.last is None:
            return self.starter
        thrower = self.last.player
        able = [
            player
            for player in self.after(thrower)
            if self.remaining_projectiles(player) and player not in self.resigned
        ]
        others = [player for player in able if player != self.leading]
        if thrower in others and (self.layout.lies or self.ruling("out") == "on"):
            return thrower
        return next(iter(others or able), None)

    @property
    def may_stop(self) -> bool:
        """True if only the leader has pieces left, and may stop (ruling ice_boule.7)."""
        return (
            self.leading is not None and self.next == self.leading and self.ruling("stop") == "may"
        )

    @property
    def winner(self) -> str | None:
        """Player with 13 points or more, at the end of an end."""
        enough = (
            player
            for player, score in zip(self.players, self.scores, strict=True)
            if score >= POINTS_TO_WIN
        )
        return next((player for player in enough if player not in self.resigned), None)

    def __str__(self) -> str:
        words = {
            "players": " ".join(self.players),
            "scores": " ".join(map(str, self.scores)),
            **write_resigned(self.resigned),
            "starter": self.starter,
            "line": str(self.line).removeprefix("line ") if self.line else NONE,
            "target": self.target or NONE,
            "sizes": " ".join(size or NONE for size in self.sizes),
            "thrown": " ".join(map(str, self.thrown)),
            "last": self.last or NONE,
            "leading": self.leading or NONE,
            "pieces": self.layout,
            **({_TOPPLED: " ".join(self.toppled)} if self.toppled else {}),
            "end": self.end or NONE,
            "rulings": write_rulings(self.rulings),
        }
        return write_line(words)

    @classmethod
    def parse(cls, text: str) -> State:
        """Parse the state in a line of text; raises InvalidNotation, which quotes the error."""
        return read_state(_parse, text)


def fresh(players: Sequence[str], rulings: Chosen) -> State:
    """Return the state before the first target is thrown; raises InputError for invalid players.

    Players are colours, in turn order; the first one starts (the printed rules draw lots for it).
    """
    players = seat(players, 1, PLAYERS_MOST)
    seats = len(players)
    return State(players, (0,) * seats, players[0], (None,) * seats, (0,) * seats, rulings)


_TOPPLED = "toppled"
"""Key that is only present if a piece was pushed over."""
_KEYS = (
    "players",
    "scores",
    RESIGNED,
    "starter",
    "line",
    "target",
    "sizes",
    "thrown",
    "last",
    "leading",
    "pieces",
    _TOPPLED,
    "end",
    "rulings",
)


def _parse(text: str) -> State:
    words = read_line(text, _KEYS, (RESIGNED, _TOPPLED))
    blank = fresh(words["players"].split(" "), read_rulings(RULINGS, words["rulings"]))
    state = State(
        players=blank.players,
        scores=read_counts(words, "scores", len(blank.players)),
        starter=words["starter"],
        sizes=tuple(_parse_optional(size, parse_size) for size in words["sizes"].split(" ")),
        thrown=read_counts(words, "thrown", len(blank.players)),
        rulings=blank.rulings,
        line=_parse_optional(words["line"], _line),
        target=_parse_optional(words["target"], str),
        last=_parse_optional(words["last"], _parse_last_throw),
        leading=_parse_optional(words["leading"], str),
        layout=Layout.parse(words["pieces"]),
        end=_parse_optional(words["end"], _end),
        resigned=read_resigned(words, blank.players),
        toppled=tuple(words[_TOPPLED].split(" ")) if _TOPPLED in words else (),
    )
    _check(state)
    return state


def _parse_optional(text: str, parse: Callable[[str], T]) -> T | None:
    return None if text == NONE else parse(text)


def _line(text: str) -> Line | LineMarked:
    return LineMarked() if text == MARKED else parse_line(text)


def _parse_last_throw(text: str) -> LastThrow:
    player, _, distance = text.partition(" ")
    return LastThrow(player, None if distance == OUT else Lie.parse(text))


def _end(text: str) -> End:
    found = re.fullmatch(r"(tied|void)|won (\w+) (\d{1,2})", text)
    if not found:
        raise InvalidNotation(
            msg(
                "expected a result of the end such as 'won blue 2', 'tied' or 'void', got {raw}",
                raw=repr(text),
            )
        )
    kind, winner, points = found.groups()
    return End("won", winner, int(points)) if winner else End("tied" if kind == "tied" else "void")


def touching(state: State, colours: Sequence[str]) -> tuple[str, ...]:
    """`colours` in turn order, of each at most as many as there are pieces touching the target."""
    at_most = {
        player: sum(not lie.gap_mm and not lie.on_target for lie in state.layout.of(player))
        for player in state.players
    }
    return tuple(
        player
        for player in state.players
        for _ in range(min(at_most[player], colours.count(player)))
    )


def _check(state: State) -> None:
    """Refuse a state that no game can reach by counting its parts."""
    if wrong := _players_error(state) or _wrong_table(state) or _wrong_end(state):
        raise InvalidNotation(wrong)


def _players_error(state: State) -> Message | None:
    """Expected players, if they are wrong; else None."""
    people = {
        *(lie.colour for lie in state.layout.lies),
        state.starter,
        state.last and state.last.player,
        state.leading,
        state.end and state.end.winner,
    }
    if len(state.sizes) != len(state.players):
        return msg("expected sizes of {n} players", n=len(state.players))
    if not people - {None} <= set(state.players):
        return msg("expected starter, last thrower, leader and winner among the players")
    if state.starter in state.resigned:
        return msg("expected a starter who has not resigned")
    return None


def _wrong_table(state: State) -> Message | None:
    """Expected target and throws, if they are wrong; else None."""
    if state.toppled and (
        state.ruling("toppled") != "always"
        or state.target is None
        or state.toppled != touching(state, state.toppled)
    ):
        return msg(
            "expected toppled pieces only under the house rule, touching the target and in"
            " turn order"
        )
    if state.target is not None and state.target not in set(COLOURS) - set(state.players):
        return msg("expected a target of a colour that is not in play")
    if max(state.thrown) > PROJECTILES:
        return msg("expected 0 to {n} pieces thrown by each player", n=PROJECTILES)
    if (state.last is None) == any(state.thrown):
        return msg("expected a last throw if pieces were thrown, and none otherwise")
    return None


def _wrong_end(state: State) -> Message | None:
    """Expected end and leader, if they are wrong; else None."""
    if state.target is not None and state.end is not None:
        return msg("expected no target once the end is over")
    if state.target is None and state.end is None and any(state.thrown):
        return msg("expected the result of the end, or its target")
    if state.leading is not None and state.leading not in state.layout.leaders:
        return msg("expected the leader among the nearest players")
    if any(
        len(state.layout.of(player)) > thrown
        for player, thrown in zip(state.players, state.thrown, strict=True)
    ):
        return msg("expected no more pieces than were thrown, got '{raw}'", raw=state.layout)
    if state.target is not None and state.next is None:
        return msg("expected somebody with a piece left to throw while the end runs")
    return None
