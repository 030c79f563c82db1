"""Questions about recorded pieces that the camera does not see."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from engines.verdict import Choice
from table.messages import msg

NONE_OF_THESE = Choice(msg("None of these: fix the table"), ())
NOT_SO = Choice(msg("No, something else: fix the table"), ())


def mostly_seen(unseen: Collection[object], count: int) -> bool:
    """True if at least half of `count` pieces are seen.

    Otherwise people may be setting up or clearing the table.
    """
    return 2 * len(unseen) <= count


def true_act_choices(ways: Iterable[Choice], still: str | None) -> tuple[Choice, ...]:
    """Return the choices of a question: the table as recorded, and the ways in which it may differ.

    `still` is the label of "all lies as recorded", or None if that is impossible. Empty if nothing
    explains the table.
    """
    confirming = () if still is None else (Choice(still, (), confirms_record=True),)
    choices = (*confirming, *ways)
    return (*choices, NONE_OF_THESE) if choices else ()
