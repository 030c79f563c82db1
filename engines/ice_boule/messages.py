"""Sentences for people, in the tone of a calm umpire."""

from __future__ import annotations

from engines.ice_boule.layout import Layout
from engines.ice_boule.measure import Z95, Gap
from engines.ice_boule.moves import Throw
from engines.ice_boule.rules import outcome, turn
from engines.ice_boule.state import End, State
from table.listing import as_recorded
from table.messages import Listing, Message, all_of, msg, phrase, sentences
from table.observation import SURE


def location(gap: Gap) -> Message:
    """Describe where a piece lies, with its 95 % uncertainty; follows `the piece that`."""
    if gap.on_target:
        return phrase("stands on the target")
    if gap.touching:
        return phrase("appears to touch the target (± {mm} mm)", mm=_margin(gap))
    return phrase("lies {mm} mm from the target", mm=_with_margin(gap))


def colour_and_distance(gap: Gap) -> Message:
    """Describe a piece's colour and distance with its 95 % uncertainty, and an assumed reading.

    `blue 57.5 ± 0.4 mm if it is lying (96% sure)`.
    """
    piece = gap.piece
    message = (
        phrase("{colour} on the target", colour=piece.colour)
        if gap.on_target
        else phrase("{colour} {mm} mm", colour=piece.colour, mm=_with_margin(gap))
    )
    if not gap.reach_mm:
        return message
    if piece.pose_probability < SURE:
        share = f"{piece.pose_probability:.0%}"
        return phrase(
            "{text} if it is {pose} ({raw} sure)", text=message, pose=piece.pose, raw=share
        )
    share = f"{piece.size_probability:.0%}"
    return phrase("{text} if it is {size} ({raw} sure)", text=message, size=piece.size, raw=share)


def throw(before: State, move: Throw, after: State, gap: Gap | None) -> Message:
    """Describe what a throw did, who leads, and who is next or how the end ended."""
    landed = _throw_text(move.player, gap)
    return sentences(landed, lead(before, after), next_step(after, move.player))


def _throw_text(player: str, gap: Gap | None) -> Message:
    if gap is None:
        return msg("{player}'s piece left the play area; it counts as thrown.", player=player)
    if gap.on_target:
        return msg("{player}'s piece stands on the target.", player=player)
    if gap.touching:
        return msg(
            "{player}'s piece appears to touch the target (± {mm} mm).",
            player=player,
            mm=_margin(gap),
        )
    return msg(
        "{player}'s piece lies {mm} mm from the target.", player=player, mm=_with_margin(gap)
    )


def lead(before: State, after: State) -> Message:
    """Who leads after a throw."""
    if after.leading is None:
        return (
            msg("{players} are level, and nobody leads.", players=_leaders(after.layout))
            if after.layout.lies
            else msg("Nobody leads.")
        )
    message = _leader_text(after, still=after.leading == before.leading)
    if len(after.layout.leaders) > 1:
        return msg("{text} (an equal distance does not take the lead).", text=message)
    return msg("{text}.", text=message)


def _leader_text(after: State, still: bool) -> Message:
    """Describe who leads, and from where, without a full stop."""
    player = str(after.leading)
    nearest = after.layout.of(player)[0]
    if not nearest.measured:
        return phrase("{player} still leads" if still else "{player} leads", player=player)
    if nearest.on_target:
        return phrase(
            "{player} still leads, on the target" if still else "{player} leads, on the target",
            player=player,
        )
    if not nearest.gap_mm:
        return phrase(
            "{player} still leads, touching the target"
            if still
            else "{player} leads, touching the target",
            player=player,
        )
    return phrase(
        "{player} still leads, at {mm} mm" if still else "{player} leads, at {mm} mm",
        player=player,
        mm=as_recorded(nearest.gap_mm),
    )


def next_step(after: State, thrower: str) -> Message:
    """Describe who is next, or how the end and perhaps the game ended."""
    if after.end is None:
        again = after.next == thrower and not after.may_stop
        return msg("{player} throws again.", player=thrower) if again else turn(after)
    ended = outcome(after)
    return sentences(
        end(after.end),
        msg("The game is over: {text}.", text=ended.message) if ended else turn(after),
    )


def end(ended: End) -> Message:
    """How an end ended."""
    if ended.winner:
        return msg(
            (
                "The end is over: {player} scores {n} point."
                if ended.points == 1
                else "The end is over: {player} scores {n} points."
            ),
            player=ended.winner,
            n=ended.points,
        )
    if ended.kind == "tied":
        return msg(
            "The end is tied at the leading distance. It is played again, and nobody scores."
        )
    return msg("The end is void. It is played again, and nobody scores.")


def reading(layout: Layout, scoring: bool) -> Message:
    """Label of an order that people may choose, with the points if these are in question."""
    if len(layout.leaders) > 1:
        return msg("{players} are equally near", players=_leaders(layout))
    leader = layout.lies[0].colour
    if not scoring:
        return msg("{player} is nearest", player=leader)
    points = layout.points(leader)
    return msg(
        (
            "{player} is nearest, and scores {n} point"
            if points == 1
            else "{player} is nearest, and scores {n} points"
        ),
        player=leader,
        n=points,
    )


def _leaders(layout: Layout) -> Listing:
    """The colours that share the leading distance: `Blue and yellow`."""
    return all_of(
        dict.fromkeys(lie.colour for lie in layout.lies if lie.colour in layout.leaders), "player"
    )


def _with_margin(gap: Gap) -> str:
    return f"{as_recorded(gap.mm)} ± {_margin(gap)}"


def _margin(gap: Gap) -> str:
    return f"{Z95 * gap.sigma_mm:.1f}"
