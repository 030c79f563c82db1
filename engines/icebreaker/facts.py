"""Facts of Icebreaker beside its rules, for the other packages."""

from __future__ import annotations

import numpy as np

from engines.game import Document, GameFacts, Presentation, Printed
from engines.icebreaker.computer_player import COMPUTER
from engines.icebreaker.default_table import TABLE
from engines.icebreaker.lessons import lessons
from engines.icebreaker.rules import move_text
from engines.icebreaker.serialization import IcebreakerDocument
from table.game_facts import PiecePrior, TableFacts
from table.messages import Message, msg

PIECES = PiecePrior(np.array([0.99, 0.008, 0.002]), 3, apart=True)
"""Prior probabilities of POSES, and the largest number of pieces of a colour on the board."""


def _headline(player: str | None, code: str, document: Document) -> Message | None:
    """Headline: icebergs of the player who moved, of those needed to win."""
    if player is None or code != "icebreaker.move":
        return None
    fields = {"n": document["scores"][player], "n2": document["majority"]}
    return msg("{player}: {n} of {n2}", player=player, **fields)


FACTS = GameFacts(
    title="Icebreaker",
    document=IcebreakerDocument,
    table=TableFacts(pieces=PIECES, default=TABLE),
    presentation=Presentation(headline=_headline),
    computer_player=COMPUTER,
    in_words=move_text,
    lessons=lessons,
    first_player=Printed("hand", "Rules", ways=("hand",), rests_on_it=("hand",)),
)
