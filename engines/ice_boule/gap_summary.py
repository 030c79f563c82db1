"""A measurement of gaps in a sentence."""

from __future__ import annotations

from engines.ice_boule.measure import Measurement, difference_sigma_mm
from table.measured_text import with_margin


def sentence(measured: Measurement) -> str:
    """Who leads and with how many points if the end stopped now; or that it is too close to call,
    and what to do.
    """
    if measured.leading is None:
        return "No projectile lies in the play area."
    points = f"{measured.points} point{'s' if measured.points != 1 else ''}"
    if not measured.too_close:
        return f"{measured.leading} leads and would score {points} if the end stopped now."
    if any(0 in pair for pair in measured.pairs) or measured.doubts:
        said = "Too close to call"
    else:
        said = f"{measured.leading} leads, but how many points that makes is too close to call"
    listed = [_difference(measured, *pair) for pair in measured.pairs[:3]]
    if len(measured.pairs) > 3:
        listed.append(f"and {len(measured.pairs) - 3} more pairs")
    what_to_do = (
        " Measure them with a calliper, or agree who is nearer (ruling ice_boule.2)."
        if listed
        else " Look whose it is."
    )
    return (
        f"{said}: {'; '.join(listed)}.".replace(": .", ".")
        + " ".join(["", *measured.doubts])
        + what_to_do
    )


def _difference(measured: Measurement, i: int, j: int) -> str:
    a, b = measured.gaps[i], measured.gaps[j]
    names = f"#{i + 1} {a.piece.colour} and #{j + 1} {b.piece.colour}"
    if a.on_target or b.on_target:
        return names
    return (
        f"{names} differ by"
        f" {with_margin(b.mm - a.mm, difference_sigma_mm(a, b, measured.target))} mm"
    )
