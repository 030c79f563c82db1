"""The rules of Ice Boule: legal moves, their effect, and the end of the game.

Pure: no clock, no chance, no I/O. Clauses are sections of the printed rules ("Before each end",
"Play", "Distances and Scoring", "Goal") or rulings.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import assert_never

from engines.errors import Violation
from engines.house_rules import choose
from engines.ice_boule.layout import FARTHEST_MM, Layout, Lie
from engines.ice_boule.moves import (
    OUT,
    Line,
    LineMarked,
    Move,
    Size,
    Sizes,
    Stop,
    Target,
    Throw,
    Void,
    parse_move,
)
from engines.ice_boule.state import PROJECTILES, RULINGS, End, LastThrow, State, fresh, touching
from engines.legal_moves import Legal
from engines.resigned import in_turn_order, next_remaining_player
from table.boards import Board
from table.errors import InputError
from table.messages import Message, msg, phrase, phrases, sentences
from table.pieces import COLOURS

__all__ = [
    "RULINGS",
    "LegalMoves",
    "Outcome",
    "State",
    "legal_moves",
    "outcome",
    "parse_move",
    "play",
    "start",
    "turn",
    "violation",
]

SETUP, PLAY, SCORING, GOAL = "Before each end", "Play", "Distances and Scoring", "Goal"
SIZES = ("small", "medium", "large")


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a game ended: the winner, and every player's score."""

    winner: str
    players: tuple[str, ...]
    scores: tuple[int, ...]

    @property
    def message(self) -> Message:
        """Who won, with how many points, and how many the others have."""
        score = dict(zip(self.players, self.scores, strict=True))
        won: dict[str, object] = {"players": [self.winner], "n": score.pop(self.winner)}
        if not score:
            return phrase("{players} won with {n} points", **won)
        others = [
            msg("{player}'s {n}", player=player, n=points) for player, points in score.items()
        ]
        return phrase(
            "{players} won with {n} points to {text}", text=phrases(*others, joint=","), **won
        )

    def __str__(self) -> str:
        return self.message


class LegalMoves(Legal[State, Move]):
    """The legal moves of a state.

    Where pieces come to rest is continuous, so `in` answers for every move. Iteration gives legal
    examples of each kind. They are a target of every free colour, the same size for all, stop and
    void. Throws that knock nothing are listed for every place among the pieces, and one that is
    out. `len` counts the examples. Prints what is allowed in words.
    """

    def __contains__(self, move: object) -> bool:
        return isinstance(move, Move) and violation(self.state, move) is None

    def _list(self) -> Iterator[Move]:
        return (move for move in _examples(self.state) if move in self)

    def __str__(self) -> str:
        state = self.state
        if state.winner:
            return "nothing: the game is over"
        if state.next is None:
            return (
                f"line X,Y X,Y | target COLOUR, thrown by {state.starter}, a colour other than"
                f" {', '.join(state.players)}"
            )
        sizes = Sizes(tuple((player, SIZES[0]) for player in _remaining_players(state))) in self
        unsaid = " or ".join(player for player in state.players if Size(player, SIZES[0]) in self)
        throw = f"throw {state.next} {state.size(state.next) or 'SIZE'} DISTANCE: PIECES"
        allowed = {
            "sizes " + " ".join(f"{player}=SIZE" for player in _remaining_players(state)): sizes,
            f"size {unsaid} SIZE": bool(unsaid) and not sizes,
            f"{throw} | throw {state.next} {OUT}: PIECES": not state.undeclared,
            f"stop {state.next}": state.may_stop,
            "void": True,
        }
        return " | ".join(text for text, now in allowed.items() if now)


def start(players: Sequence[str], rulings: Mapping[str, str]) -> State:
    """A new game of 1 to 10 players, who are colours in turn order; the first one starts.

    `rulings` are the house rules that differ from the defaults. Raises InputError.
    """
    return fresh(players, choose(RULINGS, rulings))


def set_up(players: Sequence[str], rulings: Mapping[str, str], _board: Board | None) -> State:
    """As `start`: any ground is allowed."""
    return start(players, rulings)


def play(state: State, move: Move) -> State:
    """The state after a move; an end that is over is scored. Raises IllegalMove."""
    wrong = violation(state, move)
    if wrong:
        raise wrong.error(move)
    match move:
        case Line() | LineMarked():
            return replace(state, line=move)
        case Target():
            seats = len(state.players)
            begun = replace(state, target=move.colour, sizes=(None,) * seats, thrown=(0,) * seats)
            return replace(begun, last=None, leading=None, layout=Layout(), end=None)
        case Sizes():
            chosen = dict(move.chosen)
            return replace(state, sizes=tuple(map(chosen.get, state.players)))
        case Size():
            sizes = tuple(
                move.size if player == move.player else state.size(player)
                for player in state.players
            )
            return replace(state, sizes=sizes)
        case Throw():
            thrown = _throw(state, move)
            return thrown if thrown.next else _end(thrown)
        case Stop():
            return _end(replace(state, layout=move.layout or state.layout))
        case Void():
            return _end(replace(state, layout=Layout(), leading=None))
        case _:
            assert_never(move)


def resign(state: State, player: str) -> State:
    """The state after a player resigned while others play on.

    An end in which nobody else has a piece left is scored. Raises InputError where its score is too
    close to call.
    """
    resigned = in_turn_order(state.players, (*state.resigned, player))
    after = replace(
        state,
        resigned=resigned,
        starter=next_remaining_player(state.players, resigned, state.starter),
    )
    if state.target is None or after.next:
        return after
    if wrong := _doubt_violation(after):
        raise InputError(sentences(msg("resign: the end would be over."), wrong.message))
    return _end(after)


def _remaining_players(state: State) -> tuple[str, ...]:
    """The players who have not resigned."""
    return tuple(player for player in state.players if player not in state.resigned)


def violation(state: State, move: Move) -> Violation | None:
    """Which rule forbids the move now, or None."""
    if ended := outcome(state):
        return Violation("boule.over", GOAL, msg("The game is over: {text}.", text=ended.message))
    match move:
        case Line() | LineMarked():
            return _line_violation(state, move)
        case Target():
            return _target_violation(state, move)
        case Sizes():
            return _sizes_violation(state, move)
        case Size():
            return _size_violation(state, move)
        case Throw():
            forbidden = (
                _turn_violation(state, move)
                or _layout_violation(state, move)
                or _stack_violation(state, move)
            )
            return forbidden or _doubt_violation(_throw(state, move))
        case Stop():
            return _stop_violation(state, move)
        case Void():
            if state.target is not None:
                return None
            message = msg("The end cannot be void: there is no target on the table.")
            return _no_target(state, "boule.void.time", message)
        case _:
            assert_never(move)


def legal_moves(state: State) -> LegalMoves:
    """All moves that are legal now."""
    return LegalMoves(state)


def outcome(state: State) -> Outcome | None:
    """Who won; None while the game runs.

    The end in which 13 are reached is played out (ruling ice_boule.8).
    """
    return Outcome(state.winner, state.players, state.scores) if state.winner else None


def _throw(state: State, move: Throw) -> State:
    """Return the state after a throw at rest, before the end is scored."""
    here = state.players.index(move.player)
    thrown = tuple(count + (seat == here) for seat, count in enumerate(state.thrown))
    sizes = tuple(
        (move.size or size) if seat == here else size for seat, size in enumerate(state.sizes)
    )
    leading = _leading(state, move)
    after = replace(
        state,
        thrown=thrown,
        sizes=sizes,
        last=LastThrow(move.player, move.lie),
        leading=leading,
        layout=move.layout,
    )
    return (
        replace(after, toppled=_toppled(state, move))
        if state.ruling("toppled") == "always"
        else after
    )


def _toppled(state: State, move: Throw) -> tuple[str, ...]:
    """Colours of pieces pushed over on the target in this end that still touch it by ruling."""
    fallen = list(state.toppled)
    for player in state.players:
        before, after = state.layout.of(player), list(move.layout.of(player))
        if player == move.player and move.lie in after:
            after.remove(move.lie)
        stood, stand = (sum(lie.on_target for lie in lies) for lies in (before, after))
        touched, touch = (
            sum(not lie.gap_mm and not lie.on_target for lie in lies) for lies in (before, after)
        )
        gone = len(before) - len(after)
        fallen += [player] * max(stood - stand - gone, min(stood - stand, touch - touched))
    return touching(replace(state, layout=move.layout), fallen)


def _leading(state: State, move: Throw) -> str | None:
    """Who leads in the layout after a throw.

    An equal distance leaves the lead where it was (ruling ice_boule.6).
    """
    nearest = move.layout.leaders
    if len(nearest) < 2:
        return next(iter(nearest), None)
    level = (
        move.player in nearest
        and move.lie is not None
        and move.lie.rank == move.layout.lies[0].rank
    )
    if level and state.ruling("equal") == "take":
        return move.player
    return state.leading if state.leading in nearest else None


def _end(state: State) -> State:
    """Score the end (printed rules, "Distances and Scoring"; rulings ice_boule.4 to .6)."""
    nearest = state.layout.leaders
    if len(nearest) == 1:
        (winner,) = nearest
        end = End("won", winner, state.layout.points(winner))
        starter = winner
    else:
        end = End("tied" if nearest else "void")
        starter = (
            state.starter if state.ruling("repeat") == "same" else state.after(state.starter)[0]
        )
    starter = next_remaining_player(state.players, state.resigned, starter)
    scores = tuple(
        score + (end.points if player == end.winner else 0)
        for player, score in zip(state.players, state.scores, strict=True)
    )
    return replace(
        state, scores=scores, starter=starter, line=None, target=None, end=end, toppled=()
    )


def _no_target(state: State, code: str, message: Message) -> Violation:
    return Violation(code, SETUP, sentences(message, turn(state)))


def _line_violation(state: State, move: Line | LineMarked) -> Violation | None:
    if state.target is not None:
        message = sentences(
            msg(
                "The starting line cannot change now. It is chosen before the target is"
                " thrown and stays for the whole end."
            ),
            turn(state),
        )
        return Violation("boule.line.time", SETUP, message)
    if isinstance(move, Line) and move.from_mm == move.to_mm:
        return Violation(
            "boule.line.short", SETUP, msg("A starting line must run between two different points.")
        )
    return None


def _target_violation(state: State, move: Target) -> Violation | None:
    if state.target is not None:
        message = sentences(
            msg(
                "A {colour} target cannot be thrown: the {colour2} one is in play until the end is"
                " over.",
                colour=move.colour,
                colour2=state.target,
            ),
            turn(state),
        )
        return Violation("boule.target.time", SETUP, message)
    if move.colour in state.players:
        message = msg(
            "The target cannot be {player}, because a player has that colour. Any colour"
            " except {players} is allowed.",
            player=move.colour,
            players=state.players,
        )
        return Violation("boule.target.colour", SETUP, message)
    return None


def _sizes_violation(state: State, move: Sizes) -> Violation | None:
    if state.target is None or any(state.thrown) or any(state.sizes):
        message = sentences(
            msg(
                "Sizes cannot be chosen now. They are chosen once per end, after the target"
                " is thrown and before the first piece."
            ),
            turn(state),
        )
        return Violation("boule.sizes.time", SETUP, message)
    if sorted(player for player, _ in move.chosen) != sorted(_remaining_players(state)):
        declared = [player for player, _ in move.chosen]
        message = (
            msg(
                "Sizes were given for {players}. Each player chooses one: {players2}.",
                players=declared,
                players2=_remaining_players(state),
            )
            if declared
            else msg(
                "No sizes were given. Each player chooses one: {players}.",
                players=_remaining_players(state),
            )
        )
        return Violation("boule.sizes.players", SETUP, message)
    return None


def _size_violation(state: State, move: Size) -> Violation | None:
    if move.player not in state.players:
        return Violation(
            "boule.size.player",
            SETUP,
            sentences(
                msg(
                    "{player} chose a size, but nobody plays {player2}.",
                    player=move.player,
                    player2=move.player,
                ),
                turn(state),
            ),
        )
    if (
        state.target is None
        or any(state.thrown)
        or state.size(move.player)
        or move.player in state.resigned
    ):
        message = sentences(
            msg(
                "{player} cannot choose a size now. Sizes are declared once per end, after"
                " the target is thrown and before the first piece.",
                player=move.player,
            ),
            turn(state),
        )
        return Violation("boule.size.time", SETUP, message)
    return None


def _turn_violation(state: State, move: Throw) -> Violation | None:
    """Why this player may not throw now, or not a piece of this size; None if they may."""
    player = move.player
    if player not in state.players:
        return Violation(
            "boule.throw.player",
            PLAY,
            sentences(
                msg("{player} threw, but nobody plays {player2}.", player=player, player2=player),
                turn(state),
            ),
        )
    if state.target is None:
        message = msg("{player} threw too early: there is no target on the table.", player=player)
        return _no_target(state, "boule.throw.no_target", message)
    if unsaid := state.undeclared:
        message = msg(
            "{player} threw too early. House rule: every player declares a size first"
            " (still to declare: {players}).",
            player=player,
            players=unsaid,
        )
        return Violation("boule.throw.sizes", SETUP, message)
    if not state.remaining_projectiles(player):
        message = sentences(
            msg(
                "{player} has thrown all {n}; the last piece is never thrown.",
                player=player,
                n=PROJECTILES,
            ),
            turn(state),
        )
        return Violation("boule.throw.spent", f"{PLAY}; ruling ice_boule.3", message)
    if player != state.next:
        message = sentences(msg("{player} threw out of turn.", player=player), turn(state))
        return Violation(
            "boule.throw.turn", f"{PLAY}; rulings ice_boule.3 and ice_boule.7", message
        )
    size = state.size(player)
    if move.size and size and move.size != size:
        message = msg(
            "{player} threw a {size} piece, but must throw {size2} ones in this end.",
            player=player,
            size=move.size,
            size2=size,
        )
        return Violation("boule.throw.size", SETUP, message)
    return None


def turn(state: State) -> Message:
    """Describe whose throw it is."""
    if state.next is None:
        return msg("{player} throws the target next.", player=state.starter)
    if state.undeclared:
        return msg(
            "Every player declares a size. Still to declare: {players}.", players=state.undeclared
        )
    if state.may_stop:
        return msg(
            "Only {player} has pieces left and may keep throwing or stop.", player=state.next
        )
    return msg("{player} throws next.", player=state.next)


def _layout_violation(state: State, move: Throw) -> Violation | None:
    """Return why the pieces cannot lie there after this throw; None if they can."""
    for colour in dict.fromkeys(lie.colour for lie in move.layout.lies):
        if colour not in state.players:
            message = msg(
                "A {colour} piece is among the measured ones, but nobody plays {player}."
                " Take it off the table.",
                colour=colour,
                player=colour,
            )
            return Violation("boule.throw.colour", PLAY, message)
        most = len(state.layout.of(colour)) + (colour == move.player and move.lie is not None)
        if len(move.layout.of(colour)) > most:
            got = len(move.layout.of(colour))
            fields: dict[str, object] = {"player": move.player, "player2": colour, "n2": got}
            message = (
                msg(
                    "One piece is thrown at a time: after {player}'s throw {player2} can have {n}"
                    " in play, not {n2}.",
                    n=most,
                    **fields,
                )
                if most
                else msg(
                    "One piece is thrown at a time: after {player}'s throw {player2} can have none"
                    " in play, not {n2}.",
                    **fields,
                )
            )
            return Violation("boule.throw.pieces", PLAY, message)
    return None


def _stack_violation(state: State, move: Throw) -> Violation | None:
    """Violation of house rules on pieces on the target, or pushed over there; else None."""
    standing = [lie for lie in move.layout.lies if lie.on_target]
    if len(standing) > 1 and state.ruling("on_target") == "lowest":
        message = msg(
            "House rule: only the piece directly on the target stands on it, not {n}: '{text}'.",
            n=len(standing),
            text=move.layout.in_words,
        )
        return Violation("boule.throw.stack", "ruling ice_boule.10", message)
    if state.ruling("toppled") != "always":
        return None
    for player in dict.fromkeys(lie.colour for lie in state.layout.lies if lie.on_target):
        stood = sum(lie.on_target for lie in state.layout.of(player))
        gone = (
            len(state.layout.of(player))
            + (player == move.player and move.lie is not None)
            - len(move.layout.of(player))
        )
        if sum(not lie.gap_mm for lie in move.layout.of(player)) < stood - gone:
            message = msg(
                "House rule: {player}'s piece stood on the target and touches it for the"
                " rest of the end: '{text}'.",
                player=player,
                text=move.layout.in_words,
            )
            return Violation("boule.throw.toppled", "ruling ice_boule.9", message)
    return None


def _doubt_violation(after: State) -> Violation | None:
    """The violation if the state depends on a distance too close to call."""
    if after.layout.lead_in_doubt:
        message = msg(
            "The lead is too close to call: {text}. The players measure or decide.",
            text=after.layout.in_words,
        )
        return Violation("boule.too_close", "ruling ice_boule.2", message)
    if after.next is None:
        return _points_doubt(after.layout)
    return None


def _points_doubt(layout: Layout) -> Violation | None:
    if any(layout.points_in_doubt(leader) for leader in layout.leaders):
        message = msg(
            "The score of this end is too close to call: {text}. The players measure or decide.",
            text=layout.in_words,
        )
        return Violation("boule.too_close", "ruling ice_boule.2", message)
    return None


def _stop_violation(state: State, move: Stop) -> Violation | None:
    if state.target is None:
        message = msg("{player} cannot stop: there is no target on the table.", player=move.player)
        return _no_target(state, "boule.stop.time", message)
    if state.ruling("stop") == "never":
        message = sentences(
            msg(
                "{player} cannot stop. House rule: the leader throws all pieces.",
                player=move.player,
            ),
            turn(state),
        )
        return Violation("boule.stop.ruling", "ruling ice_boule.7", message)
    if not state.may_stop or move.player != state.next:
        message = sentences(
            msg(
                "{player} cannot stop: only the leader may stop, once nobody else has a"
                " piece left.",
                player=move.player,
            ),
            turn(state),
        )
        return Violation("boule.stop.turn", "ruling ice_boule.7", message)
    layout = move.layout or state.layout
    pieces, lying = (
        sorted((lie.colour, lie.on_target) for lie in placed.lies)
        for placed in (layout, state.layout)
    )
    if pieces != lying or layout.leaders != state.layout.leaders:
        message = msg(
            "The end cannot finish with '{text}': nothing has moved since the last throw,"
            " and '{text2}' are in play.",
            text=layout.in_words,
            text2=state.layout.in_words,
        )
        return Violation("boule.stop.pieces", SCORING, message)
    return _doubt_violation(replace(state, layout=layout)) or _points_doubt(layout)


def _examples(state: State) -> Iterator[Move]:
    """Yield moves that may be legal, at least one of each kind with finitely many results."""
    if state.next is None:
        yield from (Target(colour) for colour in COLOURS)
        return
    player = state.next
    yield from (
        Sizes(tuple((other, size) for other in _remaining_players(state))) for size in SIZES
    )
    for size in [state.size(player)] if state.size(player) else SIZES:
        for lie in _places(player, state.layout):
            yield Throw(player, size, lie, _with_lie(state.layout, lie))
        for lie, layout in _level(state.layout, player):
            yield Throw(player, size, lie, layout)
    yield Throw(player, None, None, state.layout)
    yield Stop(player)
    yield Void()


def _places(player: str, layout: Layout) -> Iterator[Lie]:
    """Places for one more piece: on the target, touching, before, between and behind the others."""
    if not any(lie.on_target for lie in layout.lies):
        yield Lie(player, 0.0, on_target=True)
    yield Lie(player, 0.0)
    gaps_mm = [0.0, *(lie.gap_mm for lie in layout.lies)]
    yield from (
        Lie(player, (near + far) / 2) for near, far in pairwise(gaps_mm) if far - near >= 0.02
    )
    yield Lie(player, min(gaps_mm[-1] + 50.0, FARTHEST_MM))


def _with_lie(layout: Layout, lie: Lie) -> Layout:
    """Add a piece, behind all that are as near or nearer; in doubt where its neighbours are."""
    at = sum(other.rank <= lie.rank for other in layout.lies)
    joined = list(layout.relations)
    if 0 < at < len(layout.lies):
        joined[at - 1 : at] = ["~", "~"] if joined[at - 1] == "~" else ["<", "<"]
    elif layout.lies:
        joined.insert(at, "<")
    return Layout((*layout.lies[:at], lie, *layout.lies[at:]), tuple(joined))


def _level(layout: Layout, player: str) -> Iterator[tuple[Lie, Layout]]:
    """Return a piece decided to be level with the leading one, and the layout with it."""
    if layout.lies and not layout.lies[0].on_target:
        lie = replace(layout.lies[0], colour=player)
        yield lie, Layout((layout.lies[0], lie, *layout.lies[1:]), ("=", *layout.relations))
