"""The heap with moods: a function whose name is in FAILS does what that says, not what it should.

Beside `FACTS.x` of the facts, names are those of the game's functions, and `State.parse`.
"""

from dataclasses import fields, replace
from threading import Event
from types import SimpleNamespace

import heap_game

from engines.game import Game, Rules

NAME = "moody"
RULINGS = heap_game.RULINGS
FAILS = {}


def _raises():
    raise RuntimeError("two\nlines")


def _exits():
    raise SystemExit(3)


MOODS = {
    "raises": _raises,
    "exits": _exits,
    "hangs": lambda: Event().wait(),
    "garbage": lambda: 7,
    "huge": lambda: "x" * 10_000_000,
}


def _moody(name, function):
    def answer(*given):
        return MOODS[FAILS[name]]() if name in FAILS else function(*given)

    return answer


def _facts(group):
    moody = {
        field.name: _moody(f"FACTS.{field.name}", getattr(group, field.name))
        for field in fields(group)
        if callable(getattr(group, field.name)) and field.name != "document"
    }
    return replace(group, **moody)


FUNCTIONS = [
    name for shape in (Rules, Game) for name in vars(shape) if name.islower() and name[0] != "_"
]
globals().update({name: _moody(name, getattr(heap_game, name)) for name in FUNCTIONS})
State = SimpleNamespace(parse=_moody("State.parse", heap_game.State.parse))
FACTS = replace(
    _facts(heap_game.FACTS),
    title="The Moody Heap",
    presentation=_facts(heap_game.FACTS.presentation),
    statistics=_facts(heap_game.FACTS.statistics),
    computer_player=_facts(heap_game.FACTS.computer_player),
)
