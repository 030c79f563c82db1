"""Pegs, the smallest game that a referee can have: players in turn put a piece of their colour
down; five win.

A move is a colour.  A piece that leans makes the referee ask, one whose colour is unsure cannot be
seen.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from engines.board_marks import Option
from engines.errors import InvalidNotation
from engines.game_document import GameDocument
from engines.verdict import Accepted, Ambiguous, CannotSee, Choice, Noted, Refused, Waiting

PEGS_TO_WIN = 5


@dataclass(frozen=True)
class State:
    players: tuple[str, ...]
    pegs: tuple[str, ...] = ()

    @property
    def next(self) -> str:
        return self.players[len(self.pegs) % len(self.players)]

    def __str__(self) -> str:
        return f"players {' '.join(self.players)}; pegs {' '.join(self.pegs)}"

    @classmethod
    def parse(cls, text: str) -> State:
        players, pegs = text.removeprefix("players ").split("; pegs")
        return cls(tuple(players.split()), tuple(pegs.split()))


def start(players, rulings):
    if len(set(players)) < 2 or rulings.keys() - {"open"}:
        raise ValueError("pegs needs two players or more, and has one ruling, open")
    return State(tuple(players))


def set_up(players, rulings, _board):
    return start(players, rulings)


def parse_move(text):
    return text.strip()


def play(state, move):
    if outcome(state) is not None or move != state.next:
        raise ValueError(f"it is not {move}'s turn")
    return State(state.players, (*state.pegs, move))


def resign(state, player):
    return State(tuple(other for other in state.players if other != player), state.pegs)


def outcome(state):
    winner = next(
        (player for player in state.players if state.pegs.count(player) >= PEGS_TO_WIN), None
    )
    return None if winner is None else f"{winner} won."


def state_document(state) -> GameDocument:
    """Every pair of pegs is an end, so that there are some."""
    pairs, odd = divmod(len(state.pegs), 2)
    end = {"winner": state.pegs[-1], "points": pairs} if pairs and not odd else None
    scores = {player: state.pegs.count(player) for player in state.players}
    return {
        "next": state.next,
        "scores": scores,
        "end": end,
        "turn": f"{state.next.capitalize()} is to put one down.",
        "rulings": {},
        "state": str(state),
        "outcome": outcome(state),
    }


def hidden_voters(_state) -> tuple[str, ...]:
    return ()


def secret_voter(_spoken) -> None:
    return None


def measurement(state, seen):
    assert isinstance(state, State)
    return {
        "gaps": [{"colour": piece.colour, "gap_mm": 10.0, "sigma_mm": 0.1} for piece in seen.pieces]
    }


def judge_answer(asked, answer, decided_by="the players"):
    """A calliper finds that a piece counts if it is a tenth of a millimetre off the ground, or
    less.
    """
    if answer.keys() != {"height"}:
        raise InvalidNotation(f"expected the height, got {', '.join(answer)}")
    choice = asked.choices[answer["height"] > 0.1]
    return Accepted(code=asked.code, message=f"{choice.label}: {decided_by}", moves=choice.moves)


def hear(_state, heard, _in_doubt=False):
    """A player says that they put one down blindly, or in secret, or how many are in hand."""
    match heard:
        case {"player": player, "put": "blindly"}:
            return Accepted(
                code="pegs.put", message=f"{player} put one down.", moves=(player,), player=player
            )
        case {"player": player, "put": "secretly"}:
            return Noted(
                code="pegs.secret", message="Somebody put one down.", moves=(player,), secret=True
            )
        case {"player": player, "hand": int()}:
            return Waiting(code="pegs.hand", message="So many are left.", player=player)
    raise InvalidNotation(f"expected put or hand, got {heard}")


def judge(state, seen, before, _board):
    facts = {
        "player": state.next,
        "rests_on": "Pegs",
        "evidence": {"before": None if before is None else len(before.pieces)},
    }
    if any(piece.colour_probability < 0.9 for piece in seen.pieces):
        return CannotSee(code="pegs.colour", message="A piece has no sure colour.", **facts)
    new = Counter(piece.colour for piece in seen.pieces) - Counter(state.pegs)
    if new.total() != 1:
        return Waiting(code="pegs.wait", message=f"{state.next} is to put one down.", **facts)
    (colour,) = new
    if any(piece.pose == "leaning" for piece in seen.pieces):
        choices = (Choice("it counts", (colour,)), Choice("it does not", ()))
        return Ambiguous(
            code="pegs.leans", message="Does the leaning piece count?", choices=choices, **facts
        )
    if colour != state.next:
        return Refused(
            code="pegs.turn", message=f"It is {state.next}'s turn.", tried=(colour,), **facts
        )
    return Accepted(code="pegs.put", message=f"{colour} put one down.", moves=(colour,), **facts)


def options(state):
    return (Option(state.next, "puts one down"),) if outcome(state) is None else ()


def trace(_state, _move):
    return ()
