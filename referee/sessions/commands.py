"""Commands that people give the referee.

The panel, the buttons and the command line send these and nothing else.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from referee.sessions.misreadings import Misread
from table.files import convert
from table.json_data import JsonObject


class _Command(
    msgspec.Struct, frozen=True, kw_only=True, tag_field="command", forbid_unknown_fields=True
):
    decided_by: str = "players"
    """Who decided, as people wrote it; recorded in the log."""


class Answer(_Command, frozen=True, kw_only=True, tag="answer"):
    """Decide the open question `question` (record number).

    `label` is that of one of its choices; `how` says whether the players simply said so (`order`)
    or measured (`calliper`), and `readings_mm` are kept as given.  Without a label the readings
    decide, if they agree with one choice only; they are then named as the game names its pieces:
    `blue` for blue's nearest, `blue 2` for its second.
    """

    question: int
    label: str = ""
    how: Literal["order", "calliper"] = "order"
    readings_mm: dict[str, float] = {}


class Correct(_Command, frozen=True, kw_only=True, tag="correct"):
    """Replace what record `record` ruled by `moves`, in the game's notation.

    No moves: nothing happened there. With pieces that were `misread` on its table, a correction
    without moves counts too: the table is the start, or as it was recorded.
    """

    record: int
    moves: tuple[str, ...]
    reason: str = ""
    misread: Annotated[tuple[Misread, ...], msgspec.Meta(max_length=100)] = ()


class Undo(_Command, frozen=True, kw_only=True, tag="undo"):
    """Take back record `record`.

    Without one, take back the last thing that stands (an open question first).
    """

    record: int | None = None


class Declare(_Command, frozen=True, kw_only=True, tag="declare"):
    """Say what happened where there is nothing to see, as `moves` in the game's notation.

    Example: `stop blue`.
    """

    moves: Annotated[tuple[str, ...], msgspec.Meta(min_length=1)]


class Hear(_Command, frozen=True, kw_only=True, tag="hear", rename={"heard": "said"}):
    """An input that the camera does not see, as a die or a button sends it.

    Example: `{"player": "red", "die": 5}`. The game understands it.
    """

    heard: JsonObject


class Roll(_Command, frozen=True, kw_only=True, tag="roll"):
    """Roll electronic dice.

    The values are drawn when the command is done, and are in the log before anybody sees them. With
    a `player` one die is rolled for the game, which hears it as that player's; without one, `dice`
    are rolled that count for nothing.
    """

    player: str | None = None
    dice: Annotated[int, msgspec.Meta(ge=1, le=2)] = 1


class Appeal(_Command, frozen=True, kw_only=True, tag="appeal"):
    """`player` does not agree with what record `record` ruled.

    The host corrects it, takes it back or upholds it.
    """

    player: str
    record: int
    reason: Annotated[str, msgspec.Meta(max_length=200)] = ""


class Uphold(_Command, frozen=True, kw_only=True, tag="uphold"):
    """The appeal of record `appeal` was heard, and what was ruled stands."""

    appeal: int


class Resign(_Command, frozen=True, kw_only=True, tag="resign"):
    """`player` gives the game up."""

    player: str


class Pause(_Command, frozen=True, kw_only=True, tag="pause"):
    """Look away: frames are shown and not judged."""


class Resume(_Command, frozen=True, kw_only=True, tag="resume"):
    """Look again; what lies there is judged afresh."""


class NextGame(_Command, frozen=True, kw_only=True, tag="next_game"):
    """Begin the next game, with the same players unless others are named.

    `begins` is `lot`, `roll` or the colour of who begins; without it as in the game before.
    """

    players: tuple[str, ...] = ()
    begins: str = ""


Command = (
    Answer
    | Correct
    | Undo
    | Declare
    | Hear
    | Roll
    | Appeal
    | Uphold
    | Resign
    | Pause
    | Resume
    | NextGame
)


def parse_command(raw: object) -> Command:
    """The command in a plain document such as `{"command": "undo", "decided_by": "blue"}`.

    Raises InputError.
    """
    return convert(raw, Command, "command")  # type: ignore[arg-type]  # a union is a type to msgspec
