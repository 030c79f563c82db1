"""The data of a game's tests.

In the folder that `rinkside_data` names are:

- `starts.txt`: rows `PLAYERS | HOUSE RULES`; without it the default table's players, no rules;
- `play_*.txt`: `players` and `rulings` (or a `state`) to start from, then moves in notation;
  `-> KEY=VALUE` is what the state document then says (lists: with commas); `!! CODE` says that the
  move before it was refused (`notation`: is no move);
- `violations.txt`: a `state`, then rows `MOVE | CODE`; below a row, `> WHAT IS SAID (CLAUSE)`, once
  or more for every code;
- `bad_moves.txt`: rows `TEXT | WHAT THE MESSAGE SAYS`;
- `bad_states.txt`: a `state`, then rows `WHAT STOOD THERE => WHAT CAME | WHAT THE MESSAGE SAYS`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from table.files import read_text

FILES = {
    "violation_row": "violations.txt",
    "move_row": "bad_moves.txt",
    "state_row": "bad_states.txt",
}
Row = tuple[str, str, str, str]
"""Game, state above the row, and the row's two parts."""


@dataclass(frozen=True, slots=True)
class Rows:
    """The data of a game."""

    game: str
    folder: Path

    def lines(self, file: str) -> list[str]:
        """Lines of a file without comments and blank ones; none if the file is missing."""
        path = self.folder / file
        lines = read_text(path, "rows of a test").splitlines() if path.is_file() else []
        return [line for line in lines if line.strip() and not line.startswith("#")]

    def starts(self) -> list[tuple[list[str], dict[str, str]]]:
        """Players and house rules of every start."""
        rows = (line.partition("|") for line in self.lines("starts.txt"))
        return [
            (players.split(), dict(_pair(word) for word in rulings.split()))
            for players, _, rulings in rows
        ]

    def playthroughs(self) -> list[Path]:
        """The files of playthroughs."""
        return sorted(self.folder.glob("play_*.txt"))

    def with_states(self, file: str) -> Iterator[tuple[str, str, str]]:
        """Every row in two parts, with the state above it; a sentence's first part is empty."""
        state = ""
        for line in self.lines(file):
            if line.startswith("state "):
                state = line.removeprefix("state ")
            elif line.strip().startswith("> "):
                yield state, "", line.strip().removeprefix("> ")
            else:
                text, _, expected = line.rpartition("|")
                yield state, text.strip(), expected.strip()

    def sentences(self) -> list[tuple[str, str, str, str]]:
        """(state, move, code, sentence) of every violation with an expected sentence."""
        found = list(self.with_states("violations.txt"))
        return [(*before, message) for before, (_, move, message) in pairwise(found) if not move]

    def of(self, argument: str) -> Iterator[tuple[str, tuple[object, ...]]]:
        """Parameters of a test with this argument, each with its name in reports."""
        if argument == "playthrough":
            yield from (
                (f"{self.game} {path.stem}", (self.game, path)) for path in self.playthroughs()
            )
        elif argument == "sentence_row":
            for state, move, code, message in self.sentences():
                yield f"{self.game}: {code}: {move}", (self.game, state, move, message)
        else:
            for state, text, expected in self.with_states(FILES[argument]):
                if text or argument != "violation_row":
                    named = f"{self.game}: {expected}: {text}"[:100]
                    title = named.encode("ascii", "replace").decode()
                    yield title, (self.game, state, text, expected)


def _pair(word: str) -> tuple[str, str]:
    name, _, value = word.partition("=")
    return name, value
