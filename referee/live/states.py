"""States of the referee's loop: the state after each frame, and the allowed transitions.

`RULES` is the only list. `classify`, the transition table and docs/LOOP.md all come from it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple


class LoopState(Enum):
    """State of the loop; the value is the name in docs/LOOP.md."""

    STARTING = "starting"
    CAMERA_LOST = "camera lost"
    ENDED = "ended"
    NO_VIEW = "no view"
    PAUSED = "paused"
    OVER = "over"
    HAND = "hand"
    MOVING = "moving"
    TABLE_MOVED = "table moved"
    ASKING = "asking"
    RESTLESS = "restless"
    SETTLING = "settling"
    UNCHANGED = "unchanged"
    STILL_HAND = "still hand"
    CANNOT_SEE = "cannot see"
    JUDGING = "judging"


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameFacts:
    """Facts that determine the state after a frame."""

    readable: bool = True
    """The frame gave an observation. Without one, no other fact counts."""
    paused: bool = False
    resigned: bool = False
    """The game is over because somebody resigned. A game that is over by its rules is still judged,
    as people may put pieces right.
    """
    hand: bool = False
    """A hand is over the board, and it has not kept still for `HAND_STILL_MS`."""
    moving: bool = False
    """The picture changes."""
    table_moved: bool = False
    """A card or the board has moved, and people have not accepted that."""
    question_open: bool = False
    restless: bool = False
    """The table has not come to rest for `RESTLESS_MS`."""
    settled: bool = False
    """The table is at rest."""
    unchanged: bool = False
    """It is the table that was judged last, and no input came since."""
    cannot_see: bool = False
    """The reading is the same, and the judge said that it cannot be judged."""
    still_hand: bool = False
    """As `cannot_see`, because something like a hand lies still over the table."""


class StateRule(NamedTuple):
    """When a frame puts the loop in `state`, if no earlier rule applies."""

    state: LoopState
    when: str
    applies: Callable[[FrameFacts], bool]
    never_after: frozenset[LoopState] = frozenset()
    because: str = ""
    """Why `state` never directly follows one of `never_after`."""


_S = LoopState
_LOOKED_AWAY = frozenset({_S.STARTING, _S.PAUSED, _S.OVER})
_NO_REPEAT = _LOOKED_AWAY | {_S.TABLE_MOVED}
_REPEATS = (
    "a moved table, a pause and the end of a game end with a record, after which every table is"
    " judged as new; at the start no table was judged"
)

RULES = (
    StateRule(_S.NO_VIEW, "the frame cannot be read", lambda facts: not facts.readable),
    StateRule(_S.PAUSED, "people paused the referee", lambda facts: facts.paused),
    StateRule(_S.OVER, "somebody resigned, so the game is over", lambda facts: facts.resigned),
    StateRule(_S.HAND, "a hand is over the board", lambda facts: facts.hand),
    StateRule(_S.MOVING, "something moves in the picture", lambda facts: facts.moving),
    StateRule(
        _S.TABLE_MOVED,
        "a card or the board is not where `table.json` says",
        lambda facts: facts.table_moved,
    ),
    StateRule(_S.ASKING, "a question is open", lambda facts: facts.question_open),
    StateRule(
        _S.RESTLESS,
        "the pieces have not come to rest for 4 s",
        lambda facts: facts.restless,
        frozenset({_S.STARTING, _S.CAMERA_LOST, _S.NO_VIEW, _S.HAND, _S.MOVING}),
        "the time is counted from the first clear frame",
    ),
    StateRule(_S.SETTLING, "the table is not at rest yet", lambda facts: not facts.settled),
    StateRule(
        _S.UNCHANGED,
        "the table is the one judged last, and no input came since",
        lambda facts: facts.unchanged,
        _LOOKED_AWAY,
        "after a pause and after the end of a game the table is judged as new; at the start no"
        " table was judged",
    ),
    StateRule(
        _S.STILL_HAND,
        "the same reading was judged, and something like a hand lies still over the board",
        lambda facts: facts.still_hand,
        _NO_REPEAT,
        _REPEATS,
    ),
    StateRule(
        _S.CANNOT_SEE,
        "the same reading was judged, and the judge could not decide",
        lambda facts: facts.cannot_see,
        _NO_REPEAT,
        _REPEATS,
    ),
    StateRule(_S.JUDGING, "the table is at rest, and no row above applies", lambda _facts: True),
)
"""In order of precedence: the first rule that applies decides. The last one always applies."""

OUTSIDE = {
    _S.STARTING: "there was no frame yet",
    _S.CAMERA_LOST: "the camera gives no frames; Rinkside keeps trying",
    _S.ENDED: "the camera or the session has ended, or the referee was stopped",
}
"""States that no frame puts the loop in."""


def classify(facts: FrameFacts) -> LoopState:
    """The state that a frame puts the loop in."""
    return next(rule.state for rule in RULES if rule.applies(facts))


def _transitions() -> Iterator[tuple[LoopState, LoopState]]:
    left = [state for state in LoopState if state is not LoopState.ENDED]
    for rule in RULES:
        yield from ((before, rule.state) for before in left if before not in rule.never_after)
    for before in left:
        yield from ((before, LoopState.CAMERA_LOST), (before, LoopState.ENDED))


TRANSITIONS = frozenset(_transitions())
"""Pairs of states: the second may directly follow the first."""


class StateMachine:
    """The state that the loop is in."""

    def __init__(self) -> None:
        self.state = LoopState.STARTING

    def enter(self, state: LoopState) -> None:
        """Enter a state.

        Transitions are not checked here, so that a running referee never stops; the tests check
        every one.
        """
        self.state = state
