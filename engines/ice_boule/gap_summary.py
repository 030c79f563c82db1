"""Describe a measurement of gaps in a sentence."""

from __future__ import annotations

from engines.ice_boule.measure import Measurement, difference_sigma_mm
from table.measured_text import with_margin
from table.messages import Message, msg, phrase, phrases, sentences

SHOWN = 3
"""Most pairs too close to call that are named."""


def sentence(measured: Measurement) -> Message:
    """Describe who leads, and with how many points if the end stopped now.

    If that is too close to call, the sentence says what to do.
    """
    if measured.leading is None:
        return msg("There is no thrown piece in the play area.")
    if not measured.too_close:
        return phrase(
            (
                "{player} leads and would score {n} point if the end stopped now."
                if measured.points == 1
                else "{player} leads and would score {n} points if the end stopped now."
            ),
            player=measured.leading,
            n=measured.points,
        )
    if not measured.pairs:
        return sentences(
            msg("Too close to call."), *measured.doubts, msg("Check whose piece it is.")
        )
    pairs = [_difference(measured, *pair) for pair in measured.pairs[:SHOWN]]
    if len(measured.pairs) > SHOWN:
        pairs.append(phrase("and {n} more pairs", n=len(measured.pairs) - SHOWN))
    measure = msg("Measure them with a calliper, or agree who is nearer.")
    if any(0 in pair for pair in measured.pairs) or measured.doubts:
        return sentences(
            msg("Too close to call: {text}.", text=phrases(*pairs)), *measured.doubts, measure
        )
    return phrase(
        "{player} leads, but the points are too close to call: {text}. {text2}",
        player=measured.leading,
        text=phrases(*pairs),
        text2=measure,
    )


def _difference(measured: Measurement, i: int, j: int) -> Message:
    a, b = measured.gaps[i], measured.gaps[j]
    pair = {
        "cell": f"#{i + 1}",
        "player": a.piece.colour,
        "cell2": f"#{j + 1}",
        "player2": b.piece.colour,
    }
    if a.on_target or b.on_target:
        return phrase("{cell} {player} and {cell2} {player2}", **pair)
    return phrase(
        "{cell} {player} and {cell2} {player2} differ by {mm} mm",
        mm=with_margin(b.mm - a.mm, difference_sigma_mm(a, b, measured.target)),
        **pair,
    )
