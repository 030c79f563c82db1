"""Games of Ice Boule as rulings, with what was measured in them."""

from __future__ import annotations

from engines import GAMES
from referee.sessions.events import VerdictReached
from referee.sessions.session import Session


def accepted(session: Session, move: str, **sigmas_mm: float) -> int:
    """A ruling with what was measured: by colour, distances of the move with their sigma."""
    message = dict(lie.split() for lie in move.partition(": ")[2].split(" < ") if " " in lie)
    gaps = [
        {"colour": colour, "gap_mm": float(message[colour]) + 0.004, "sigma_mm": sigma_mm}
        for colour, sigma_mm in sigmas_mm.items()
    ]
    record = session.append(
        VerdictReached(
            verdict="accepted",
            code="boule.throw",
            message="",
            moves=(move,),
            evidence={"gaps": gaps},
        )
    )
    assert record
    return record.seq


def won_by_blue(session: Session, gap_mm: float) -> None:
    """A whole game of an end after the other: blue throws one near piece, yellow four that go out,
    and blue stops.
    """
    while GAMES["ice_boule"].outcome(session.ledger.state) is None:
        starter = session.ledger.state.starter
        accepted(session, "target green")
        blue = f"throw blue large {gap_mm:.2f}: blue {gap_mm:.2f}"
        throws = [blue] if starter == "blue" else ["throw yellow out: nothing", blue]
        for throw in throws:
            accepted(session, throw, **({"blue": 0.1} if " large " in throw else {}))
        while session.ledger.state.remaining_projectiles("yellow"):
            accepted(session, f"throw yellow out: blue {gap_mm:.2f}")
        session.append(
            VerdictReached(verdict="accepted", code="boule.stop", message="", moves=("stop blue",))
        )
