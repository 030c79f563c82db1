"""Sentences for people, as a calm umpire would say them."""

from __future__ import annotations

from engines.ice_boule.layout import Layout, Lie
from engines.ice_boule.measure import Z95, Gap
from engines.ice_boule.moves import Throw
from engines.ice_boule.rules import outcome, turn
from engines.ice_boule.state import End, State
from table.listing import as_recorded
from table.observation import SURE


def counted(number: int, what: str) -> str:
    """`1 point`, `2 points`."""
    return f"{number} {what}" + ("" if number == 1 else "s")


def where(gap: Gap) -> str:
    """Where a piece lies, with its 95 % uncertainty."""
    if gap.on_target:
        return "stands on the target"
    if gap.touching:
        return f"touches the target, as far as can be seen (± {Z95 * gap.sigma_mm:.1f} mm)"
    return f"lies {measured(gap)} from the target"


def measured(gap: Gap) -> str:
    """A distance with its 95 % uncertainty: `57.5 ± 0.4 mm`."""
    return (
        "on the target" if gap.on_target else f"{as_recorded(gap.mm)} ± {Z95 * gap.sigma_mm:.1f} mm"
    )


def doubt(gap: Gap) -> str:
    """What the distance hangs on besides, where that is not sure: ` if it is lying (96% sure)`."""
    piece = gap.piece
    if not gap.reach_mm:
        return ""
    named = (
        (piece.pose, piece.pose_probability)
        if piece.pose_probability < SURE
        else (piece.size, piece.size_probability)
    )
    return f" if it is {named[0]} ({named[1]:.0%} sure)"


def distance(lie: Lie) -> str:
    """The distance of a lie: `on the target`, `touching it`, `at 57.5 mm`."""
    if lie.on_target:
        return "on the target"
    return f"at {as_recorded(lie.gap_mm)} mm" if lie.gap_mm else "touching it"


def throw(before: State, move: Throw, after: State, gap: Gap | None) -> str:
    """What a throw did, who leads, and who is next or how the end ended."""
    name = move.player.capitalize()
    landed = (
        f"{name}'s piece {where(gap)}."
        if gap
        else f"{name}'s piece left the play area; it counts as thrown."
    )
    return " ".join(filter(None, [landed, lead(before, after), follow(after, move.player)]))


def lead(before: State, after: State) -> str:
    """Who leads after a throw."""
    if after.leading is None:
        return (
            "Nobody leads."
            if not after.layout.lies
            else f"{names(after.layout)} are level, and nobody leads."
        )
    nearest = after.layout.of(after.leading)[0]
    still = "still leads" if after.leading == before.leading else "leads"
    level = " (an equal distance does not take the lead)" if len(after.layout.leaders) > 1 else ""
    where = f", {distance(nearest)}" if nearest.measured else ""
    return f"{after.leading.capitalize()} {still}{where}{level}."


def follow(after: State, thrower: str) -> str:
    """Who is next, or how the end and perhaps the game ended."""
    if after.end is None:
        again = after.next == thrower and not after.may_stop
        return f"{thrower.capitalize()} throws again." if again else turn(after)
    ended = outcome(after)
    return f"{end(after.end)} " + (f"The game is over: {ended}." if ended else turn(after))


def end(ended: End) -> str:
    """How an end ended."""
    if ended.winner:
        return f"The end is over: {ended.winner} scores {counted(ended.points, 'point')}."
    if ended.kind == "tied":
        return "The end is tied at the leading distance and is repeated without a score."
    return "The end is void and is repeated without a score."


def names(layout: Layout) -> str:
    """The colours that share the leading distance: `Blue and yellow`."""
    colours = [lie.colour for lie in layout.lies if lie.colour in layout.leaders]
    *first, last = dict.fromkeys(colours)
    return f"{', '.join(first)} and {last}".capitalize()


def reading(layout: Layout, scoring: bool) -> str:
    """The label of one order that people may choose; with the points where they are what is
    asked.
    """
    if len(layout.leaders) > 1:
        return f"{names(layout)} are equally near"
    leader = layout.lies[0].colour
    points = f", and scores {counted(layout.points(leader), 'point')}" if scoring else ""
    return f"{leader.capitalize()} is nearest{points}"
