"""Write docs/LOOP.md from the table of the loop's states (`make loop`); a test holds them equal."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path

from referee.live.referee import HANDLERS
from referee.live.states import OUTSIDE, RULES, TRANSITIONS, LoopState

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "LOOP.md"
GROUPS = {
    "nothing is seen of the table": (
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

Written by `make loop` from `referee/live/states.py`; a test holds this page and the code equal.

Every frame of the camera puts the loop in one state, and each state has one handler in
`referee/live/referee.py`. What decides is a `FrameFacts`: what the frame shows
(`referee/live/stability.py` says whether the table is at rest, since when, and whether it is the
table that was judged last), and how the session stands. `classify` is a pure function of it.

```mermaid
{diagram}
```

## Which state a frame puts the loop in

The first line that applies decides.

| | state | when | what is done |
|---|---|---|---|
{rules}

No frame leads to these:

| state | when |
|---|---|
{outside}

## Which state may follow which

A row is the state before, a column the one after it. An empty cell never happens; why stands below.

| from \\ to | {states} |
|---|{rule}|
{matrix}

{never}

The tests watch every referee that they run and fail at a transition that is not in this table.
"""


def diagram() -> str:
    """States and transitions as a Mermaid diagram.

    An arrow joins two groups where every state of one may be followed by every state of the other;
    otherwise an arrow leads to each state that may follow.
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
            yield f"- *{rule.state.value}* never follows directly on {before}: {rule.because}."


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
