"""Write docs/LOOP.md from the table of the loop's states (`make loop`); a test compares them."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Iterator
from pathlib import Path

from referee.live.referee import HANDLERS
from referee.live.states import OUTSIDE, RULES, TRANSITIONS, LoopState

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "LOOP.md"
GROUPS = {
    "no view of the table": (
        LoopState.CAMERA_LOST,
        LoopState.NO_VIEW,
        LoopState.HAND,
        LoopState.MOVING,
    ),
    "people decide": (LoopState.PAUSED, LoopState.OVER, LoopState.TABLE_MOVED, LoopState.ASKING),
    "coming to rest": (LoopState.SETTLING, LoopState.RESTLESS),
    "at rest": (LoopState.JUDGING, LoopState.UNCHANGED, LoopState.CANNOT_SEE, LoopState.STILL_HAND),
}
TEXT = """# The referee's loop

This page is for developers. `make loop` writes it from `referee/live/states.py`; a test compares
page and code.

Every camera frame puts the loop in one state, and each state has one handler in
`referee/live/referee.py`. The state is chosen in two steps:

1. The facts are collected in a `FrameFacts`: what the frame shows, and the status of the session.
   `referee/live/stability.py` says whether the table is at rest, since when, and whether it is the
   table that was judged last.
2. `classify`, a pure function, returns the state for these facts.

```mermaid
{diagram}
```

## Which state a frame puts the loop in

The first row that applies decides.

| | state | when | what the referee does |
|---|---|---|---|
{rules}

No frame leads to these:

| state | when |
|---|---|
{outside}

## Which state may follow which

Rows are the states before, columns the states after; `x` is possible. Empty cells never happen, for
the reasons below.

| from \\ to | {states} |
|---|{rule}|
{matrix}

{never}

The tests watch every referee that they run. They fail on a transition that is not in this table.
"""


def diagram() -> str:
    """States and transitions as a Mermaid diagram.

    One arrow joins two groups if every state of one can follow every state of the other. Otherwise
    each possible transition has an arrow.
    """
    lines = ["stateDiagram-v2", "  [*] --> starting"]
    names = {name: f"g{number}" for number, name in enumerate(GROUPS)}
    for name, states in GROUPS.items():
        lines += [f'  state "{name}" as {names[name]} {{']
        lines += [f'    state "{state.value}" as {_id(state)}' for state in states]
        lines += ["  }"]
    groups = {"starting": (LoopState.STARTING,)} | {names[name]: GROUPS[name] for name in GROUPS}
    for source, before in groups.items():
        for target, after in groups.items():
            if target != "starting":
                lines += _arrows(source, before, target, after)
    lines += [f"  {source} --> ended" for source in groups]
    return "\n".join([*lines, "  ended --> [*]"])


def _arrows(
    source: str, before: tuple[LoopState, ...], target: str, after: tuple[LoopState, ...]
) -> Iterator[str]:
    always = [state for state in after if all((one, state) in TRANSITIONS for one in before)]
    if len(always) == len(after):
        yield f"  {source} --> {target}"
        return
    yield from (f"  {source} --> {_id(state)}" for state in always)
    for one in before:
        for state in after:
            if state not in always and (one, state) in TRANSITIONS:
                yield f"  {_id(one)} --> {_id(state)}"


def _id(state: LoopState) -> str:
    return state.name.lower()


def _matrix() -> Iterator[str]:
    after = [state for state in LoopState if state is not LoopState.STARTING]
    for before in LoopState:
        if before is not LoopState.ENDED:
            cells = " | ".join("x" if (before, one) in TRANSITIONS else "" for one in after)
            yield f"| {before.value} | {cells} |"


def _never() -> Iterator[str]:
    for rule in RULES:
        if rule.never_after:
            before = ", ".join(state.value for state in LoopState if state in rule.never_after)
            line = f"- *{rule.state.value}* never directly follows {before}: {rule.because}."
            yield textwrap.fill(line, 100, subsequent_indent="  ")


def page() -> str:
    """The page, in Markdown."""
    rules = (
        f"| {number} | {rule.state.value} | {rule.when} | {inspect.getdoc(HANDLERS[rule.state])} |"
        for number, rule in enumerate(RULES, 1)
    )
    after = [state.value for state in LoopState if state is not LoopState.STARTING]
    return TEXT.format(
        diagram=diagram(),
        rules="\n".join(rules).replace("\n\n", " "),
        outside="\n".join(f"| {state.value} | {when} |" for state, when in OUTSIDE.items()),
        states=" | ".join(after),
        rule="|".join("---" for _ in after),
        matrix="\n".join(_matrix()),
        never="\n".join(_never()),
    )


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
