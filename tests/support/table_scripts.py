"""Scripts of what happens at a table, and what the referee must make of it; they stand in
`GAME.toml` under `at_table`.

A line that begins a table: `state FIELDS` or `players NAMES`, as `tests/support/table_hands.py`
reads it.  Then, line by line:

- `unset`, as the first: nobody has looked at the table before what follows is done;
- `lay ACT`: an act of the hands before anybody looks;
- an act of the hands, also in `table_hands.py`; `back`: everything is put where it lay at the last
  verdict that counts; `look`: nobody does anything, and the table is looked at again;
- `say NAME=VALUE ...`: what the panel or a microphone hears; `answer BEGINNING`: the answer to the
  open question that begins so;
- `-> KIND CODE: MOVES`: what comes of the table as it lies now, or of what was just said.  Kinds:
  `accepted`, `refused`, `out_of_sync`, `cannot_see`, `noted`, `waiting` (nothing is said),
  `uncounted` (nothing counts, whatever is said, and nobody is blamed), `unplayed` (nothing counts,
  and somebody may be blamed), and `asked`, where the moves of each answer follow, ` / ` between
  answers and `-` for none.  Moves are separated by ` + `; without `: ` they are left open;
- `rests TEXT`: what the verdict rests on has this in it; `said TEXT`: so has its sentence;
- `is KEY=VALUE ...`: what the state document says now, lists with commas.
"""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass


@dataclass(frozen=True)
class Came:
    """What came of a table or of what was said: kind, code, the moves (of each answer, where people
    are asked), and the words.
    """

    kind: str
    code: str = ""
    moves: str = ""
    rests_on: str = ""
    message: str = ""


NOTHING = Came("waiting")
UNCOUNTED = ("waiting", "asked", "cannot_see", "out_of_sync")
ALSO = {"uncounted": UNCOUNTED, "unplayed": (*UNCOUNTED, "refused")}
"""Kinds that stand for several."""


def tables(script):
    """The tables of a script, each a list of its lines."""
    found = []
    for line in map(str.strip, script.splitlines()):
        if line.startswith(("state ", "players ")):
            found.append([])
        if line and not line.startswith("#"):
            found[-1].append(line)
    return found


def begins(line):
    """The fields with which a table begins."""
    return line if line.startswith("players ") else line.removeprefix("state ")


NUMBERS = ("die", "coin")
"""What is told in numbers; values of votes are names."""


def heard(words):
    """What `player=red die=4` tells."""
    pairs = (pair.split("=", 1) for pair in shlex.split(words))
    return {
        name: json.loads(value) if name in NUMBERS or value in ("true", "false", "null") else value
        for name, value in pairs
    }


def written(moves):
    return " + ".join(moves)


def choices_written(choices):
    return " / ".join(written(choice.moves) or "-" for choice in choices)


def check(line, came, document):
    """Assert what a line of a script says of what came last."""
    word, _, rest = line.partition(" ")
    match word:
        case "->":
            expected, _, moves = rest.partition(": ")
            kind, _, code = expected.partition(" ")
            assert came.kind in ALSO.get(kind, (kind,)), came
            assert came.code == (code or came.code), came
            assert not moves or came.moves == moves, came
        case "rests":
            assert rest in came.rests_on, came
        case "said":
            assert rest in came.message, came
        case "is":
            for pair in shlex.split(rest):
                key, _, value = pair.partition("=")
                assert looked_up(document, key) == value, f"{key} after {came}"


def looked_up(document, path):
    for key in path.split("."):
        document = document[key]
    return ",".join(map(str, document)) if isinstance(document, list) else str(document)


CHECKS = ("-> ", "rests ", "said ", "is ")
