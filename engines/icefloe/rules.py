"""The rules of IceFloe: legal moves, their effect, and the end of the game.

Pure: no clock, no chance, no I/O. Clauses are sections of the printed rules ("Piece Movement",
"Voting Coins", "Torch Bearer" ...) or rulings.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import assert_never

from engines.errors import Violation
from engines.house_rules import choose
from engines.icefloe import ballots, checks, flow, messages
from engines.icefloe.moves import (
    Coin,
    Decision,
    Done,
    Finding,
    Move,
    Movement,
    Objection,
    Penalty,
    Placing,
    Removal,
    Selection,
    Slide,
    Torch,
    Vote,
    parse_move,
)
from engines.icefloe.state import RULINGS, State, fresh
from engines.legal_moves import Legal
from table.boards import Board, Tiles, kind_in_words
from table.errors import InputError
from table.messages import Message, Word, msg, phrase, sentences

__all__ = [
    "RULINGS",
    "LegalMoves",
    "Outcome",
    "State",
    "legal_moves",
    "outcome",
    "parse_move",
    "play",
    "set_up",
    "start",
    "violation",
]

_TO_COME, _NONE_TO_COME = (
    ("move", "vote", "coins", "decide"),
    msg("A breach costs votes in its round, and this round has no votes left."),
)
_TIMES: dict[type[Move], tuple[str, tuple[str, ...], str, Message]] = {
    Placing: (
        "icefloe.place.time",
        ("place",),
        checks.PLACING,
        msg("Pyramids are placed before the first round, each once."),
    ),
    Movement: (
        "icefloe.move.time",
        ("move",),
        "Movement",
        msg("Pyramids move in the first part of a round."),
    ),
    Slide: (
        "icefloe.slide.time",
        ("move",),
        "Movement",
        msg("Tiles slide in the first part of a round."),
    ),
    Vote: (
        "icefloe.vote.time",
        ("vote",),
        "Game Summary",
        msg(
            "Players vote after the movement. They may vote on the value from the last"
            " player's move on."
        ),
    ),
    Coin: (
        "icefloe.coin.time",
        ("coins",),
        ballots.COINS,
        msg("Coins are laid when all votes are shown, until everybody is done."),
    ),
    Done: (
        "icefloe.done.time",
        ("coins",),
        "ruling icefloe.2",
        msg("Players are asked for coins when all votes are shown."),
    ),
    Decision: (
        "icefloe.decide.time",
        ("decide", "name"),
        ballots.TORCH,
        msg("There is no tie for the torch bearer to decide."),
    ),
    Removal: (
        "icefloe.remove.time",
        ("remove", "extra"),
        checks.REMOVING,
        msg("A tile is removed after the votes."),
    ),
    Selection: (
        "icefloe.score.time",
        ("score",),
        checks.SCORING,
        msg("Players score after tiles were removed, in rounds that count."),
    ),
    Torch: (
        "icefloe.torch.time",
        ("torch",),
        checks.ROUND,
        msg("The torch is handed on at the end of a round."),
    ),
    Penalty: ("icefloe.penalty.time", _TO_COME, ballots.COMMENTARY, _NONE_TO_COME),
    Objection: ("icefloe.objection.time", _TO_COME, ballots.COMMENTARY, _NONE_TO_COME),
    Finding: ("icefloe.breach.time", _TO_COME, ballots.COMMENTARY, _NONE_TO_COME),
}
"""Code, phases in which a move is possible, clause, and the reason in other phases."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a game ended: the winner, or several who share the victory, and every player's score."""

    winners: tuple[str, ...]
    players: tuple[str, ...]
    scores: tuple[int, ...]
    message: Message

    def __str__(self) -> str:
        return self.message


class LegalMoves(Legal[State, Move]):
    """The legal moves of a state: iterates, counts, answers `in`, and prints in words.

    All moves are listed but penalties and objections, which are no player's choice, and votes that
    are set before the vote is open. `in` answers for them too.
    """

    def __contains__(self, move: object) -> bool:
        return isinstance(move, Move) and violation(self.state, move) is None

    def _list(self) -> Iterator[Move]:
        return _every_legal_move(self.state)


def start(players: Sequence[str], rulings: Mapping[str, str]) -> State:
    """A new game of 3 or 4 players, who are colours, clockwise; the winner of the die roll first.

    `rulings` are the house rules that differ from the defaults. Raises InputError.
    """
    return fresh(players, choose(RULINGS, rulings))


def set_up(players: Sequence[str], rulings: Mapping[str, str], board: Board | None) -> State:
    """As `start`; also raises InputError for a board other than 5 x 5 tiles."""
    if board is not None and not (isinstance(board, Tiles) and (board.rows, board.cols) == (5, 5)):
        got = (
            phrase("{n} x {n2} tiles", n=board.cols, n2=board.rows)
            if isinstance(board, Tiles)
            else kind_in_words(board)
        )
        raise InputError(
            msg("IceFloe needs {n} x {n2} places for tiles; this is {text}", n=5, n2=5, text=got)
        )
    return start(players, rulings)


def legal_moves(state: State) -> LegalMoves:
    """All moves that are legal now."""
    return LegalMoves(state)


def outcome(state: State) -> Outcome | None:
    """Who won, None while the game runs."""
    return (
        Outcome(state.winners, state.players, state.scores, messages.result_text(state))
        if state.winners
        else None
    )


def violation(state: State, move: Move) -> Violation | None:
    """Which rule forbids the move now, or None."""
    if state.phase == "over":
        return Violation("icefloe.over", ballots.ENDING, messages.turn(state))
    return (
        _stranger(state, move)
        or _phase_violation(state, move)
        or _resigned(state, move)
        or _violation(state, move)
    )


def resign(state: State, player: str) -> State:
    """The state after a player resigned while others play on."""
    return flow.resigned(state, player)


def _violation(state: State, move: Move) -> Violation | None:
    match move:
        case Placing():
            return checks.placing(state, move)
        case Movement():
            return checks.movement(state, move)
        case Slide():
            return checks.slide(state, move)
        case Vote():
            return ballots.vote(state, move)
        case Coin():
            return ballots.coin(state, move)
        case Done():
            return ballots.done_violation(state, move)
        case Decision():
            return ballots.decision(state, move)
        case Removal():
            return checks.removal(state, move)
        case Selection():
            return checks.selection(state, move)
        case Torch():
            return checks.torch(state, move)
        case Penalty():
            return ballots.penalty(state, move)
        case Objection():
            return ballots.objection(state, move)
        case Finding():
            return ballots.finding(state, move)
        case _:
            assert_never(move)


def _stranger(state: State, move: Move) -> Violation | None:
    """Violation if a move names somebody who does not play."""
    strangers: list[Message | Word | str]
    match move:
        case Placing(pyramid=pyramid) | Movement(pyramid=pyramid):
            strangers = [] if state.owner(pyramid) else [messages.choice(pyramid[1])]
        case Coin(player=player, to=to) | Objection(player=player, to=to):
            strangers = [Word(name) for name in (player, to) if name not in state.players]
        case Vote() | Done() | Decision() | Selection() | Torch() | Penalty() | Finding():
            strangers = [Word(move.player)] if move.player not in state.players else []
        case Slide() | Removal():
            strangers = []
        case _:
            assert_never(move)
    if strangers:
        message = msg(
            "Nobody plays {text}. The players are {players}.",
            text=strangers[0],
            players=state.players,
        )
        return Violation("icefloe.player", "Player's Pieces", message)
    return None


def _resigned(state: State, move: Move) -> Violation | None:
    """Violation if a resigned player makes an announcement, or is accused."""
    match move:
        case Objection(player=player, to=to):
            people = [player, to]
        case Vote() | Coin() | Done() | Penalty() | Finding():
            people = [move.player]
        case _:
            people = []
    gone = [player for player in people if player in state.resigned]
    if gone:
        return Violation(
            "icefloe.resigned",
            "Game Summary",
            sentences(msg("{player} has resigned.", player=gone[0]), messages.turn(state)),
        )
    return None


def _phase_violation(state: State, move: Move) -> Violation | None:
    code, phases, clause, message = _TIMES[type(move)]
    if state.phase in phases and (
        state.has_votes_to_show or not isinstance(move, Penalty | Objection | Finding)
    ):
        return None
    if isinstance(move, Vote) and state.last_to_move:
        return None
    return Violation(code, clause, sentences(message, messages.turn(state)))


def play(state: State, move: Move) -> State:
    """The state after a move; raises IllegalMove."""
    wrong = violation(state, move)
    if wrong:
        raise wrong.error(move)
    state = replace(state, sunk=None)
    match move:
        case Placing():
            return flow.placed(state, move)
        case Movement():
            return flow.after_movement(state, move)
        case Slide():
            return flow.after_turn(replace(state, board=state.board.slid(move.origin, move.target)))
        case Vote():
            return flow.after_vote(state, move.player, move.choice)
        case Coin():
            return flow.after_coin(state, move)
        case Done():
            return flow.after_last_coin(state, move.player)
        case Decision():
            return (
                flow.after_naming(state, move.choice)
                if state.phase == "name"
                else flow.after_decision(state, move.choice)
            )
        case Removal():
            return flow.after_removal(state, move.tile)
        case Selection():
            return flow.after_scoring(state, move.tile)
        case Torch():
            return flow.after_torch(state, move.player)
        case Penalty():
            return flow.after_muting(state, move.player)
        case Objection():
            return flow.after_objection(state, move)
        case Finding():
            return flow.after_finding(state, move)
        case _:
            assert_never(move)


def _every_legal_move(state: State) -> Iterator[Move]:
    """Yield every legal move but penalties and objections; first those of an open objection."""
    yield from (Finding(player, guilty) for player in state.asked for guilty in (True, False))
    match state.phase:
        case "place":
            due = state.placing_order[len(state.board.pyramids)]
            yield from (Placing(due, floe.place) for floe in state.board.empty)
        case "move":
            for floe in state.board.floes:
                own = [pyramid for pyramid in floe.pyramids if state.owner(pyramid) == state.mover]
                yield from (
                    Movement(p, floe.place, place)
                    for p in own
                    for place in checks.reachable(state, p, floe.place)
                )
                yield from (
                    Slide(floe.place, place)
                    for place in (checks.slides(state, floe.place) if own else ())
                )
        case "vote":
            yield from (
                Vote(player, choice)
                for player in state.missing_voters
                for choice in ballots.choices(state)
            )
        case "coins":
            yield from (
                Done(player) for player in state.remaining_players if player not in state.done
            )
            every = (
                Coin(p, coin, to)
                for p, held in zip(state.players, state.coins, strict=True)
                for coin in held
                for to in state.cast
            )
            yield from (move for move in every if violation(state, move) is None)
        case "decide" | "name":
            yield from (Decision(state.torch, choice) for choice in ballots.choices(state))
        case "remove":
            yield Removal(state.tile)
        case "extra":
            yield Removal(None)
            yield from (Removal(floe.tile) for floe in state.board.empty)
        case "score":
            yield from (Selection(state.mover or "", floe.tile) for floe in state.board.floes)
        case "torch":
            yield Torch(state.after(state.torch))
        case "over":
            return
        case _:
            assert_never(state.phase)
