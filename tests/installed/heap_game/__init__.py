"""Heap, a game from another package, as small as one can be: players in turn put one or two pieces
on the board, and who puts the last one on wins.
"""

from collections import Counter
from dataclasses import dataclass, replace

from engines.board_marks import Mark, Option, mark
from engines.computer_player import ComputerPlayer
from engines.errors import InvalidNotation, Violation
from engines.game import (
    Declaration,
    GameFacts,
    NamedPiece,
    OnBoard,
    Presentation,
    Printed,
    Statistics,
)
from engines.house_rules import HouseRule, choose, read_rulings, seat, write_rulings
from engines.legal_moves import Legal
from engines.resigned import in_turn_order, next_remaining_player, read_resigned, write_resigned
from engines.secret_inputs import no_hidden_voters as hidden_voters
from engines.secret_inputs import no_secret_voter as secret_voter
from engines.state_notation import read_line, read_state, write_line
from engines.statistics import Hit
from engines.verdict import Accepted, Choice, Noted, Refused, Waiting, nothing_measured
from engines.verdict import answer_by_label as judge_answer
from table.boards import Chessboard
from table.errors import InputError
from table.game_facts import BoardPrint, DefaultTable, PiecePrior, TableFacts
from table.messages import msg

__all__ = ["hidden_voters", "judge_answer", "measurement", "secret_voter"]

NAME = "heap"
RULINGS = (HouseRule("last", "Winning", ("wins", "loses"), "whether the last piece wins or loses"),)
PIECES = 7
measurement = nothing_measured


@dataclass(frozen=True)
class Put:
    player: str
    count: int

    def __str__(self):
        return f"{self.player} {self.count}"


@dataclass(frozen=True)
class State:
    players: tuple[str, ...]
    put: tuple[int, ...]
    turn: int = 0
    rulings: tuple[tuple[str, str], ...] = (("last", "wins"),)
    resigned: tuple[str, ...] = ()

    @property
    def next(self):
        if self.left == 0:
            return None
        return next_remaining_player(self.players, self.resigned, self.players[self.turn])

    @property
    def left(self):
        return PIECES - sum(self.put)

    @property
    def scores(self):
        return self.put

    def __str__(self):
        return write_line(
            {
                "players": " ".join(self.players),
                "put": " ".join(map(str, self.put)),
                "turn": self.turn,
                "rulings": write_rulings(self.rulings),
                **write_resigned(self.resigned),
            }
        )

    @classmethod
    def parse(cls, text):
        return read_state(cls._parse, text)

    @classmethod
    def _parse(cls, text):
        words = read_line(text, ("players", "put", "turn", "rulings"), ("resigned",))
        players = tuple(words["players"].split(" "))
        return cls(
            players,
            tuple(map(int, words["put"].split(" "))),
            int(words["turn"]),
            read_rulings(RULINGS, words["rulings"]),
            read_resigned(words, players),
        )


def start(players, rulings):
    players = seat(players, 2, 4)
    return State(players, (0,) * len(players), rulings=choose(RULINGS, rulings))


def set_up(players, rulings, board):
    if board is not None and not isinstance(board, Chessboard):
        raise InputError("board: expected a chessboard")
    return start(players, rulings)


def parse_move(text):
    player, _, count = " ".join(text.split()).partition(" ")
    if not player or count not in ("1", "2"):
        raise InvalidNotation(f"expected a move such as 'red 2', got {text!r}")
    return Put(player, int(count))


class _Legal(Legal):
    def _list(self):
        moves = (Put(self.state.next, count) for count in (1, 2) if self.state.next)
        return (move for move in moves if violation(self.state, move) is None)

    def __contains__(self, move):
        return isinstance(move, Put) and violation(self.state, move) is None


def legal_moves(state):
    return _Legal(state)


def violation(state, move):
    if state.next is None:
        return Violation("heap.over", "Winning", "The game is over.")
    if move.player != state.next:
        return Violation("heap.turn", "Turns", f"It is {state.next}'s turn.")
    if move.count > state.left:
        return Violation("heap.left", "Turns", f"Only {state.left} pieces are left.")
    return None


def play(state, move):
    if wrong := violation(state, move):
        raise wrong.error(move)
    at = state.players.index(move.player)
    put = (*state.put[:at], state.put[at] + move.count, *state.put[at + 1 :])
    return replace(state, put=put, turn=(at + 1) % len(state.players))


def resign(state, player):
    return replace(state, resigned=in_turn_order(state.players, (*state.resigned, player)))


@dataclass(frozen=True)
class Outcome:
    winners: tuple[str, ...]

    def __str__(self):
        return f"{self.winners[0]} won"


def outcome(state):
    if state.left:
        return None
    last = state.players[state.turn - 1]
    wins = dict(state.rulings)["last"] == "wins"
    return Outcome((last if wins else state.players[state.turn],))


def state_document(state):
    over = outcome(state)
    return {
        "next": state.next,
        "phase": "over" if over else "put",
        "scores": dict(zip(state.players, state.scores, strict=True)),
        "turn": f"The game is over: {over}." if over else f"{state.next.capitalize()} puts next.",
        "left": state.left,
        "may_say": [],
        "rulings": dict(state.rulings),
        "state": str(state),
        "outcome": str(over) if over else None,
    }


def options(state):
    return tuple(
        Option(move.player, f"puts {move.count} on", mark("here", ("a1",)))
        for move in legal_moves(state)
    )


def trace(_state, _move):
    return mark("here", ("a1",))


def judge(state, seen, _before, _board):
    lie = Counter(piece.colour for piece in seen.pieces)
    new = {
        player: lie[player] - put
        for player, put in zip(state.players, state.put, strict=True)
        if lie[player] != put
    }
    if not new:
        return Waiting(code="heap.wait", message="Nothing was put on.", as_recorded=True)
    player, count = next(iter(new.items()))
    move = Put(player, count)
    if len(new) > 1 or count not in (1, 2):
        return Waiting(code="heap.count", message="Put one or two on.")
    if wrong := violation(state, move):
        return Refused(
            code=wrong.code, message=wrong.message, rests_on=wrong.clause, tried=(str(move),)
        )
    return Accepted(
        code="heap.put",
        message=f"{player.capitalize()} put {count} on.",
        rests_on="Turns",
        player=player,
        moves=(str(move),),
    )


def hear(_state, heard, _in_doubt=False):
    if heard.keys() != {"player", "put"}:
        raise InputError(f"input: expected a player and what they put on, got {dict(heard)}")
    return Noted(
        code="heap.put",
        message="Heard.",
        player=heard["player"],
        moves=(str(Put(**_count(heard))),),
    )


def _count(heard):
    return {"player": heard["player"], "count": heard["put"]}


def alternatives(state, moves):
    return tuple(
        Choice(str(move), (str(move),)) for move in legal_moves(state) if [str(move)] != list(moves)
    )


def _marks(document) -> tuple[Mark, ...]:
    return mark("ray", ("a1", "a8")) if document["left"] == 1 else mark("here", ("a1",))


FACTS = GameFacts(
    title="The Heap",
    table=TableFacts(
        pieces=PiecePrior(poses=(0.98, 0.01, 0.01), most=PIECES),
        default=DefaultTable(
            board=lambda cell_mm: Chessboard(square_mm=cell_mm),
            sizes=("small",),
            cell_mm=40.0,
            sheet=BoardPrint("heap", "The Heap", "The Heap is played here.", "squares of {mm} mm"),
        ),
    ),
    first_player=Printed("lot", "Turns", rests_on_it=("lot",)),
    presentation=Presentation(
        verbs={"put": "puts pieces on"},
        marks=_marks,
        on_board=lambda _: OnBoard((NamedPiece("red", "H", ("a1",)),)),
        sound=lambda code, _: "hit" if code == "heap.put" else "",
        declarations=lambda document: (
            (Declaration(f"{document['next']} 1", "One was put on"),) if document["next"] else ()
        ),
    ),
    computer_player=ComputerPlayer(
        asked=lambda state: (state.next,) if state.next else (),
        choose=lambda state, _player, _strength, chance, _out_of_time: chance.choice(
            list(legal_moves(state))
        ),
        wants=lambda _state, move: msg("{player} puts {n} on.", player=move.player, n=move.count),
        announced=lambda _state, _move: None,
    ),
    statistics=Statistics(
        hits=lambda steps: (
            Hit(step.record, step.at_ms, step.move.player, str(step.move), "put") for step in steps
        )
    ),
    next_button=lambda document: {"player": document["next"], "put": 1},
)
