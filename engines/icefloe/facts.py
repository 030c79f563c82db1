"""Facts of IceFloe beside its rules, for the other packages."""

from __future__ import annotations

import numpy as np

from engines.board_marks import Mark
from engines.game import (
    Document,
    GameFacts,
    NamedPiece,
    OnBoard,
    Presentation,
    Printed,
    SimultaneousTexts,
    Sound,
)
from engines.icefloe.alternatives import in_words
from engines.icefloe.board import WEIGHT_MOST
from engines.icefloe.computer_player import COMPUTER
from engines.icefloe.default_table import TABLE
from engines.icefloe.lessons import lessons
from engines.icefloe.moves import Vote
from engines.icefloe.serialization import IceFloeDocument
from engines.icefloe.state import HIDDEN
from table.game_facts import PiecePrior, TableFacts
from table.messages import phrase

SUIT_OF = {"red": "S", "black": "M", "yellow": "C", "green": "C", "blue": "A"}
"""The suit that pyramids of a colour have."""
PIECES = PiecePrior(np.array([0.99, 0.005, 0.005]), 6)
"""Prior probabilities of POSES, and the largest number of pieces of a colour on the board."""


def _marks(document: Document) -> tuple[Mark, ...]:
    """Marks of tiles at their weight limit (ruling icefloe.3), and of the one to be removed."""
    heavy = (
        place
        for place, floe in document.get("board", {}).items()
        if floe["weight"] >= WEIGHT_MOST or floe["tile"] == document.get("tile")
    )
    return tuple(Mark("here", (place,)) for place in heavy)


def _sound(code: str, document: Document) -> Sound:
    sinks = document.get("sunk") or code in ("icefloe.removed", "icefloe.removed_empty")
    return "sink" if sinks else ""


def _on_board(document: Document) -> OnBoard:
    """Tiles, and the letters of pyramids."""
    board, players = document.get("board", {}), [*document.get("left", ())]
    pieces = tuple(
        NamedPiece(player, name[0], (place,))
        for place, floe in board.items()
        for name in floe["pyramids"]
        for player in players
        if SUIT_OF.get(player) == name[1]
    )
    return OnBoard(pieces, tiles={place: floe["tile"] for place, floe in board.items()})


def _cast_vote(document: Document, player: str) -> str | None:
    """A player's vote as shown by a state."""
    vote = document.get("votes", {}).get(player)
    return vote and ("" if vote == HIDDEN else str(Vote(player, vote)))


FACTS = GameFacts(
    title="IceFloe",
    document=IceFloeDocument,
    table=TableFacts(pieces=PIECES, default=TABLE),
    first_player=Printed("roll", "Roll The Die", rests_on_it=("roll",), has_null=True),
    computer_player=COMPUTER,
    in_words=in_words,
    lessons=lessons,
    presentation=Presentation(
        verbs={
            "place": phrase("places"),
            "decide": phrase("decides"),
            "remove": phrase("removes a tile"),
            "extra": phrase("may remove a tile"),
            "score": phrase("scores"),
            "torch": phrase("hands on the torch"),
            "name": phrase("names the winner"),
        },
        together={"vote": SimultaneousTexts(phrase("All vote"), phrase("Vote"))},
        marks=_marks,
        sound=_sound,
        on_board=_on_board,
    ),
    cast_vote=_cast_vote,
)
