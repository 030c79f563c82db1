"""The state of a game of IceFloe: frozen, printed as one line, parsed back from it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from engines.errors import InvalidNotation
from engines.house_rules import Chosen, HouseRule, read_rulings, seat, write_rulings
from engines.icefloe.board import LETTERS, POINTS, SUITS, VALUES, WEIGHT_MOST, Board, starting_board
from engines.icefloe.moves import ANSWERS, COINS
from engines.resigned import RESIGNED, next_remaining_player, read_resigned, write_resigned
from engines.state_notation import NONE, read_counts, read_line, read_state, write_line
from table.errors import InputError
from table.messages import in_a_row, msg

HIDDEN = "?"
PLAYS = {"red": "S", "black": "M", "yellow": "C", "green": "C", "blue": "A"}
"""The suit of each colour; crowns are printed yellow in some sets and green in others."""

Phase = Literal[
    "place", "move", "vote", "coins", "decide", "remove", "extra", "score", "torch", "name", "over"
]
"""What comes next: pyramids are placed; moved; votes cast; coins laid; the torch bearer decides a
vote; removes the tile; perhaps an empty one; players score; the torch is handed on; the torch
bearer names the winner; nothing.
"""

RULINGS = (
    HouseRule(
        "void",
        "ruling icefloe.1",
        ("torch", "again"),
        "if no vote counts, the torch bearer names a choice that could be voted for, or all"
        " vote again",
    ),
    HouseRule(
        "done",
        "ruling icefloe.2",
        ("stands", "reopens"),
        "if a coin is laid after others said 'done', they stay done, or all are asked again",
    ),
    HouseRule(
        "overweight",
        "ruling icefloe.3",
        ("at_once",),
        "an overloaded tile is removed at once, even in the middle of a move",
    ),
    HouseRule(
        "stay", "ruling icefloe.4", ("may", "never"), "may a move of two actions end where it began"
    ),
    HouseRule(
        "corners",
        "ruling icefloe.4",
        ("may", "never"),
        "may tiles slide to the corners that three players leave empty",
    ),
    HouseRule(
        "scoring",
        "ruling icefloe.5",
        ("later", "always"),
        "scoring begins once everybody has had the torch, or in the first round",
    ),
    HouseRule(
        "breach",
        "ruling icefloe.6",
        ("to_come",),
        "commentary after votes are shown costs the votes still to come in the round; shown"
        " votes stand",
    ),
    HouseRule(
        "muted_coins",
        "ruling icefloe.6",
        ("may", "never"),
        "may a player who lost the vote for commentary lay coins on others' votes",
    ),
    HouseRule(
        "ballot",
        "ruling icefloe.6",
        ("voters", "all"),
        "players who vote on a breach of commentary: the others who have a vote, or all others",
    ),
    HouseRule(
        "ending",
        "ruling icefloe.7",
        ("at_once",),
        "the game ends at once when a player has no pyramids left, in any part of the round",
    ),
    HouseRule(
        "tie",
        "ruling icefloe.8",
        ("torch", "shared"),
        "a tie for the win: the torch bearer names the winner, or the victory is shared",
    ),
)


@dataclass(frozen=True, slots=True)
class Objected:
    """An open objection: `by` says that `accused` broke the commentary rules.

    `ballot` is what the others said of it so far.
    """

    accused: str
    by: str
    ballot: tuple[tuple[str, bool], ...] = ()

    def __str__(self) -> str:
        message = "".join(
            f" {player}={'yes' if guilty else 'no'}" for player, guilty in self.ballot
        )
        return f"{self.accused} by {self.by}{message}"

    @property
    def breach_majority(self) -> int:
        """Votes for a breach minus votes against it."""
        return sum(1 if guilty else -1 for _, guilty in self.ballot)


@dataclass(frozen=True, slots=True)
class State:
    """The whole state of a game, secret votes too; `public_state` is what players may see.

    `scores`, `coins`, `votes` and `laid` go with `players`, who are in turn order. `mover` places,
    moves or scores next, in phases where players do so one after the other. `value` was voted on,
    and the vote is on its suit; `tile` is to be removed; `sunk` went down under the last move.
    `laid` is what coins add to a vote. Who `resigned` has no turn, no vote and no torch any more;
    their pyramids stay, and score for nobody who can win.
    """

    players: tuple[str, ...]
    rulings: Chosen
    board: Board
    scores: tuple[int, ...]
    coins: tuple[str, ...]
    votes: tuple[str | None, ...]
    laid: tuple[int, ...]
    phase: Phase = "place"
    round: int = 1
    mover: str | None = None
    muted: tuple[str, ...] = ()
    value: str | None = None
    done: tuple[str, ...] = ()
    tile: str | None = None
    sunk: str | None = None
    winners: tuple[str, ...] = ()
    objection: Objected | None = None
    resigned: tuple[str, ...] = ()

    def ruling(self, name: str) -> str:
        """The value in force of a house rule."""
        return dict(self.rulings)[name]

    @property
    def torch(self) -> str:
        """Torch bearer of this round; if that player resigned, the next one."""
        return next_remaining_player(
            self.players, self.resigned, self.players[(self.round - 1) % len(self.players)]
        )

    @property
    def remaining_players(self) -> tuple[str, ...]:
        """Players who have not resigned."""
        return tuple(player for player in self.players if player not in self.resigned)

    def after(self, player: str) -> str:
        """The next player, clockwise."""
        return next_remaining_player(
            self.players,
            self.resigned,
            self.players[(self.players.index(player) + 1) % len(self.players)],
        )

    @property
    def next(self) -> str | None:
        """Player who chooses what happens next.

        None while players vote or lay coins, and when the game is over. At the end of a round it is
        the bearer, who hands the torch on.
        """
        bearer = self.phase in ("decide", "remove", "extra", "torch", "name")
        return self.torch if bearer else self.mover

    @property
    def following(self) -> str | None:
        """Player who moves or scores after `mover` in this round; None after the last."""
        following = self.after(self.mover) if self.mover else None
        return None if following == self.torch else following

    @property
    def last_to_move(self) -> bool:
        """True if the last player of the round moves now.

        Votes on the value may already be set then, still hidden.
        """
        return self.phase == "move" and self.mover in self.players and self.following is None

    def owner(self, pyramid: str) -> str | None:
        """Player of a pyramid's suit; None without one."""
        return next((player for player in self.players if PLAYS[player] == pyramid[1]), None)

    def pyramids(self, player: str) -> tuple[str, ...]:
        """A player's pyramids that are still in the game."""
        return tuple(
            sorted(pyramid for pyramid in self.board.pyramids if pyramid[1] == PLAYS[player])
        )

    def worth(self, pyramids: Sequence[str]) -> tuple[int, ...]:
        """Points of some pyramids for each player."""
        return tuple(
            sum(POINTS[pyramid[0]] for pyramid in pyramids if pyramid[1] == PLAYS[player])
            for player in self.players
        )

    @property
    def placing_order(self) -> tuple[str, ...]:
        """All pyramids in the order of placing.

        See printed rules, "Placing The Pyramids". For resigned players only those already placed.
        """
        every = (f"{letter}{PLAYS[player]}" for letter in LETTERS for player in self.players)
        placed = self.board.pyramids
        return tuple(
            pyramid
            for pyramid in every
            if pyramid in placed or self.owner(pyramid) not in self.resigned
        )

    @property
    def voters(self) -> tuple[str, ...]:
        """Players with a vote in this round."""
        return tuple(player for player in self.remaining_players if player not in self.muted)

    @property
    def missing_voters(self) -> tuple[str, ...]:
        """Players with a vote who have not cast it."""
        return tuple(
            player
            for player, vote in zip(self.players, self.votes, strict=True)
            if vote is None and player in self.voters
        )

    @property
    def cast(self) -> tuple[str, ...]:
        """The players whose votes are cast."""
        return tuple(
            player
            for player, vote in zip(self.players, self.votes, strict=True)
            if vote is not None
        )

    def others(self, accused: str) -> tuple[str, ...]:
        """Players who vote on another's breach of the commentary rules: all others.

        By default only those with a vote in this round (ruling icefloe.6).
        """
        those = self.remaining_players if self.ruling("ballot") == "all" else self.voters
        return tuple(player for player in those if player != accused)

    @property
    def asked(self) -> tuple[str, ...]:
        """Players who may answer on the open objection; none without one.

        Others who have not answered, then, in a tie, the torch bearer.
        """
        if self.objection is None:
            return ()
        message = dict(self.objection.ballot)
        return tuple(
            player for player in self.others(self.objection.accused) if player not in message
        ) or (self.torch,)

    @property
    def scoring(self) -> bool:
        """True if players score in this round (ruling icefloe.5)."""
        return self.round > len(self.players) or self.ruling("scoring") == "always"

    @property
    def has_votes_to_show(self) -> bool:
        """True if votes of this round are still to be shown, so that a player can lose them."""
        return self.phase in ("move", "vote") or (
            self.phase in ("coins", "decide") and self.value is None
        )

    @property
    def open_choices(self) -> tuple[str, ...]:
        """Choices of a vote that are not void.

        Values still in play, or suits with the value voted on.
        """
        tiles = {floe.tile for floe in self.board.floes}
        if self.value is None:
            return tuple(value for value in VALUES if any(suit + value in tiles for suit in SUITS))
        return tuple(suit for suit in SUITS if suit + self.value in tiles)

    @property
    def tally(self) -> dict[str, int]:
        """Votes and coins by choice; void ones count for nothing (ruling icefloe.1)."""
        counted: dict[str, int] = {}
        for vote, laid in zip(self.votes, self.laid, strict=True):
            if vote in self.open_choices:
                counted[vote] = counted.get(vote, 0) + 1 + laid
        return counted

    @property
    def leading_choices(self) -> tuple[str, ...]:
        """Choices with most votes; several in a tie, and every open one if no vote counts.

        See ruling icefloe.1.
        """
        tally = self.tally
        return tuple(
            choice
            for choice in self.open_choices
            if not tally or tally.get(choice) == max(tally.values())
        )

    @property
    def best(self) -> tuple[str, ...]:
        """Players with the highest score among those who have not resigned."""
        score = {
            player: score
            for player, score in zip(self.players, self.scores, strict=True)
            if player in self.remaining_players
        }
        return tuple(player for player, points in score.items() if points == max(score.values()))

    def __str__(self) -> str:
        return write_line(
            {
                "players": _words(self.players),
                "round": self.round,
                "phase": self.phase,
                "mover": self.mover or NONE,
                "scores": _words(self.scores),
                "coins": " ".join(coins or NONE for coins in self.coins),
                **write_resigned(self.resigned),
                "muted": _words(self.muted),
                **({"objection": self.objection} if self.objection else {}),
                "value": self.value or NONE,
                "votes": " ".join(vote or NONE for vote in self.votes),
                "laid": _words(self.laid),
                "done": _words(self.done),
                "tile": self.tile or NONE,
                "sunk": self.sunk or NONE,
                "winners": _words(self.winners),
                "board": self.board if self.board.floes else NONE,
                "rulings": write_rulings(self.rulings),
            }
        )

    @classmethod
    def parse(cls, text: str) -> State:
        """The state in a line of text; raises InvalidNotation, which quotes what is wrong."""
        return read_state(_parse, text)


def fresh(players: Sequence[str], rulings: Chosen) -> State:
    """The state before the first pyramid is placed; raises InputError for players that cannot play.

    Players are colours, clockwise, the winner of the die roll first.
    """
    players = seat(players, 3, 4)
    for player in players:
        if player not in PLAYS:
            raise InputError(
                msg(
                    "players: expected colours of the suits ({text}), got {raw}",
                    text=in_a_row(PLAYS, "colour"),
                    raw=repr(player),
                )
            )
    for player in players:
        sharing = [other for other in players if PLAYS[other] == PLAYS[player]]
        if len(sharing) > 1:
            raise InputError(
                msg(
                    "players: expected each suit once, got {raw} {n} times ({text})",
                    raw=SUITS[PLAYS[player]],
                    n=len(sharing),
                    text=in_a_row(sharing, "colour"),
                )
            )
    seats = len(players)
    return State(
        players,
        rulings,
        starting_board(seats),
        (0,) * seats,
        ("".join(COINS),) * seats,
        (None,) * seats,
        (0,) * seats,
        mover=players[0],
    )


def public_state(state: State) -> State:
    """What players may see: votes are `?` until they are shown.

    Its line is for reading; `State.parse` refuses it.
    """
    if state.phase not in ("move", "vote"):
        return state
    return replace(state, votes=tuple(vote and HIDDEN for vote in state.votes))


_KEYS = (
    *(
        "players",
        "round",
        "phase",
        "mover",
        "scores",
        "coins",
        RESIGNED,
        "muted",
        "objection",
        "value",
    ),
    *("votes", "laid", "done", "tile", "sunk", "winners", "board", "rulings"),
)


def _words(values: Sequence[object]) -> str:
    return " ".join(map(str, values)) or NONE


def _parse(text: str) -> State:
    words = read_line(text, _KEYS, (RESIGNED, "objection"))
    blank = fresh(words["players"].split(" "), read_rulings(RULINGS, words["rulings"]))
    phase = next((phase for phase in get_args(Phase) if phase == words["phase"]), None)
    if phase is None:
        raise InvalidNotation(
            f"expected a phase ({', '.join(get_args(Phase))}), got {words['phase']!r}"
        )
    state = State(
        players=blank.players,
        rulings=blank.rulings,
        board=Board(()) if words["board"] == NONE else Board.parse(words["board"]),
        scores=read_counts(words, "scores", len(blank.players)),
        coins=tuple("" if coins == NONE else coins for coins in words["coins"].split(" ")),
        votes=tuple(None if vote == NONE else vote for vote in words["votes"].split(" ")),
        laid=read_counts(words, "laid", len(blank.players)),
        phase=phase,
        round=read_counts(words, "round", 1)[0],
        mover=_parse_optional(words["mover"]),
        muted=_people(blank, words, "muted"),
        value=_parse_optional(words["value"]),
        done=_people(blank, words, "done"),
        tile=_parse_optional(words["tile"]),
        sunk=_parse_optional(words["sunk"]),
        winners=_people(blank, words, "winners"),
        objection=_objection(words["objection"]) if "objection" in words else None,
        resigned=read_resigned(words, blank.players),
    )
    _check(state)
    return state


def _parse_optional(text: str) -> str | None:
    return None if text == NONE else text


def _objection(text: str) -> Objected:
    found = re.fullmatch(r"(\w+) by (\w+)((?: \w+=(?:yes|no))*)", text)
    if not found:
        raise InvalidNotation(
            f"expected an objection such as 'blue by red yellow=yes', got {text!r}"
        )
    message = (word.partition("=") for word in found[3].split())
    return Objected(
        found[1], found[2], tuple((player, ANSWERS[answer]) for player, _, answer in message)
    )


def _people(blank: State, words: dict[str, str], key: str) -> tuple[str, ...]:
    """Players in turn order."""
    people = () if words[key] == NONE else tuple(words[key].split(" "))
    if people != tuple(player for player in blank.players if player in people):
        raise InvalidNotation(
            f"expected {key} among the players, in turn order, got {words[key]!r}"
        )
    return people


def _check(state: State) -> None:
    """Refuse a state that no game can reach, by counting its parts."""
    seats = len(state.players)
    if not len(state.coins) == len(state.votes) == seats:
        raise InvalidNotation(f"expected coins and votes of {seats} players")
    for faults in (
        _faults_in_parts,
        _faults_in_turns,
        _faults_in_votes,
        _faults_in_coins,
        _faults_in_phases,
    ):
        for expected, fault in faults(state).items():
            if fault:
                raise InvalidNotation(f"expected {expected}")


def _faults_in_parts(state: State) -> dict[str, bool]:
    """What is expected of tiles, pyramids, coins and rounds; True where it is not so."""
    seats, floes = len(state.players), state.board.floes
    return {
        f"tiles of a game for {seats}": not _tiles_in_game(state) <= _tiles(state),
        "a round from 1": state.round < 1 or (state.phase == "place" and state.round > 1),
        "pyramids of the players' suits": any(
            state.owner(pyramid) is None for pyramid in state.board.pyramids
        ),
        f"{WEIGHT_MOST} at most on a tile": any(floe.weight > WEIGHT_MOST for floe in floes),
        "coins 'a2', 'a', '2' or '-'": not set(state.coins) <= {"a2", "a", "2", ""},
    }


def _tiles(state: State) -> set[str]:
    """The tiles that the game was laid out with."""
    return {floe.tile for floe in starting_board(len(state.players)).floes}


def _tiles_in_game(state: State) -> set[str]:
    """The tiles that are still in the game."""
    return {floe.tile for floe in state.board.floes}


def _faults_in_turns(state: State) -> dict[str, bool]:
    """What is expected of who is next, and of what players have; True where it is not so."""
    phase = state.phase
    stood = [bool(state.pyramids(player)) for player in state.remaining_players]
    return {
        "somebody to place, move or score next, and only then": (
            (state.mover in state.remaining_players) != (phase in ("place", "move", "score"))
            or (state.mover is not None and state.mover not in state.remaining_players)
        ),
        "pyramids placed in their order, one on a tile": (
            phase == "place" and not _placed_in_order(state)
        ),
        "a pyramid of every player while the game runs": (
            phase not in ("place", "name", "over") and not all(stood)
        ),
    }


def _faults_in_votes(state: State) -> dict[str, bool]:
    """What is expected of votes and of an objection; True where it is not so."""
    phase = state.phase
    voting = phase in ("vote", "coins", "decide")
    ballots = SUITS if state.value else VALUES
    votes = {*state.votes} - {None}
    return {
        "a value in play while its suit is voted on": (
            state.value is not None and not (voting and state.open_choices)
        ),
        f"votes among {' '.join(ballots)}, and only while they are cast or counted": (
            bool(votes) and not ((voting or state.last_to_move) and votes <= {*ballots})
        ),
        "no vote of a player who lost it": (
            not (state.value is None and phase in ("coins", "decide"))
            and any(player in state.muted for player in state.cast)
        ),
        "votes awaited while they are cast, and only then, or an objection open": (
            voting
            and bool(state.missing_voters or (state.objection and phase == "vote"))
            != (phase == "vote")
        ),
        "an objection that is open, to a player with a vote to come, by another one": (
            not _can_be_open(state)
        ),
    }


def _faults_in_coins(state: State) -> dict[str, bool]:
    """What is expected of coins that are laid on votes, and of ties; True where it is not so."""
    phase = state.phase
    left = sum(COINS.get(coin, 0) for coin in "".join(state.coins))
    spent = len(state.players) * sum(COINS.values()) - left
    return {
        "coins laid on votes, while they are counted": (
            any(state.laid) and phase not in ("coins", "decide")
        ),
        "no more laid than was spent, where votes are": (
            sum(state.laid) > spent
            or any(
                count and vote is None for count, vote in zip(state.laid, state.votes, strict=True)
            )
        ),
        "not everybody done, and nobody while no coins are laid": (
            bool(state.done) and (phase != "coins" or {*state.remaining_players} <= {*state.done})
        ),
        "votes to lay coins on": phase == "coins" and not state.cast,
        "a tie, or no vote that counts, where the torch bearer decides": (
            phase == "decide" and bool(state.tally) and len(state.leading_choices) == 1
        ),
    }


def _faults_in_phases(state: State) -> dict[str, bool]:
    """What is expected of the phases after the votes; True where it is not so."""
    phase, tile = state.phase, state.tile
    return {
        "a tile in play to remove, and only then": (
            (state.board.floe_of(tile) is not None) != (phase == "remove")
            or (tile is None) != (phase != "remove")
        ),
        "players who score once everybody has had the torch": (
            phase == "score" and not state.scoring
        ),
        "several empty tiles where one may be removed": (
            phase == "extra" and len(state.board.empty) < 2
        ),
        "a tile that sank among those out of the game": (
            state.sunk is not None and state.sunk not in _tiles(state) - _tiles_in_game(state)
        ),
        "a tie where the torch bearer names the winner": phase == "name" and len(state.best) == 1,
        "winners with the highest score at the end, and only there": (
            bool(state.winners) != (phase == "over") or not {*state.winners} <= {*state.best}
        ),
    }


def _can_be_open(state: State) -> bool:
    """True if the objection of a state, if any, can be open."""
    objection = state.objection
    if objection is None:
        return True
    message = [player for player, _ in objection.ballot]
    others = state.others(objection.accused)
    known = (
        objection.accused in state.voters
        and objection.by in state.players
        and objection.by != objection.accused
    )
    return (
        known
        and state.has_votes_to_show
        and {*message} <= {*others}
        and len({*message}) == len(message)
        and (len(message) < len(others) or objection.breach_majority == 0)
    )


def _placed_in_order(state: State) -> bool:
    order, count = state.placing_order, len(state.board.pyramids)
    if (
        count == len(order)
        or {*state.board.pyramids} != {*order[:count]}
        or state.mover != state.owner(order[count])
    ):
        return False
    return all(len(floe.pyramids) < 2 for floe in state.board.floes)
