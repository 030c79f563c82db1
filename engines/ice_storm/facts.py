"""Facts of Ice Storm beside its rules, for the other packages."""

from __future__ import annotations

import re
from collections.abc import Mapping

from engines.board_marks import Mark, mark
from engines.game import Document, GameFacts, NamedPiece, OnBoard, Presentation, Sound, Statistics
from engines.ice_storm.alternatives import in_words
from engines.ice_storm.default_table import TABLE
from engines.ice_storm.lessons import lessons
from engines.ice_storm.serialization import IceStormDocument
from engines.ice_storm.state import ANY_SIZE, SAME_SIZE
from engines.ice_storm.statistics import hits, squares, tries
from engines.ice_storm.touches import check_setup
from table.errors import InputError
from table.game_facts import TableFacts
from table.messages import Message, in_a_row, msg
from table.table_config import Setup


def _marks(document: Document) -> tuple[Mark, ...]:
    """The lines of fire."""
    lines = (shot["squares"] for shot in document.get("shots", ()))
    return tuple(one for squares in lines if len(squares) > 1 for one in mark("ray", squares))


def _sound(code: str, _document: Document) -> Sound:
    return "hit" if code == "storm.attack" else ""


def _headline(player: str | None, code: str, _document: Document) -> Message | None:
    """Headline of the point for a captured piece."""
    taken = player is not None and code == "storm.attack"
    return msg("{player} +{n}", player=player, n=1) if taken else None


def _on_board(document: Document) -> OnBoard:
    """Pieces by the numbers of their throws."""
    pieces = []
    for name, place in document.get("pieces", {}).items():
        colour = name.rstrip("0123456789")
        squares = tuple(re.findall("[a-h][1-8]", place))
        pieces.append(NamedPiece(colour, name[len(colour) :], squares))
    return OnBoard(tuple(pieces))


def check_pieces(rulings: Mapping[str, str], setup: Setup) -> None:
    """Raise InputError if the game's pieces do not fit the board, or the table has none of them.

    See rulings ice_storm.6 and ice_storm.13. If the players have not named a size, one fitting size
    of the table is enough.
    """
    named = rulings.get("size", SAME_SIZE)
    sizes = setup.sizes
    if named not in (SAME_SIZE, ANY_SIZE):
        sizes = tuple(size for size in setup.sizes if size.name == named)
        if not sizes:
            raise InputError(
                msg(
                    "rulings.size: expected a size of table.json ({text}), or {raw}, got {raw2}",
                    text=in_a_row(setup.game.sizes, "size"),
                    raw=SAME_SIZE,
                    raw2=repr(named),
                )
            )
    fitting = (
        max(sizes, key=lambda size: size.base_mm)
        if named == ANY_SIZE
        else min(sizes, key=lambda size: size.base_mm)
    )
    check_setup(setup.board, fitting)


FACTS = GameFacts(
    title="Ice Storm",
    document=IceStormDocument,
    table=TableFacts(default=TABLE),
    in_words=in_words,
    lessons=lessons,
    presentation=Presentation(
        verbs={"throw": "throws", "attack": "fires"},
        marks=_marks,
        sound=_sound,
        headline=_headline,
        on_board=_on_board,
        options_in_order=True,
    ),
    statistics=Statistics(squares=squares, hits=hits, tries=tries),
    check_pieces=check_pieces,
)
