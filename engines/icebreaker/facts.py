"""What Icebreaker states beside its rules, for the other packages."""

from __future__ import annotations

import numpy as np

from engines.game import GameFacts, Printed
from engines.icebreaker.default_table import TABLE
from engines.icebreaker.serialization import IcebreakerDocument
from table.game_facts import PiecePrior, TableFacts

PIECES = PiecePrior(np.array([0.99, 0.008, 0.002]), 3, apart=True)
"""Prior probabilities of POSES, and the most pieces of a colour on the board."""

FACTS = GameFacts(
    title="Icebreaker",
    document=IcebreakerDocument,
    table=TableFacts(pieces=PIECES, default=TABLE),
    first_player=Printed("hand", "Rules", ways=("hand",), rests_on_it=("hand",)),
)
