"""The seats of a session: which player's phone is which."""

from __future__ import annotations

from threading import Lock

from webui.access import Visitor
from webui.codes import Codes
from webui.guard import Refusal


class Seats:
    """Who holds which seat, kept beside the codes; a colour has one holder, and a holder one colour.  Safe to use from many threads."""

    def __init__(self, codes: Codes, session: int) -> None:
        """Seats of another session than `session` (number) are nobody's any more."""
        self._codes, self._session, self._lock = codes, session, Lock()

    def held(self) -> dict[str, str]:
        """Holders' ids by colour."""
        kept = self._codes.now
        return dict(kept.seats) if kept.session == self._session else {}

    def of(self, visitor_id: str) -> str | None:
        """The colour that somebody holds."""
        return next((colour for colour, holder in self.held().items() if visitor_id and holder == visitor_id), None)

    def take(self, visitor: Visitor, colour: str) -> None:
        """Take a free seat, and leave the one held before; raises Refusal where somebody else holds it."""
        if not visitor.id:
            raise Refusal(403, "no_ticket", "Only who joined with a code takes a seat: programs keep the token that /api/v1/join gives.")
        with self._lock:
            held = self.held()
            if held.get(colour, visitor.id) != visitor.id:
                raise Refusal(409, "seat_taken", f"Somebody else plays {colour} on another phone; the host can free the seat.")
            others = {one: holder for one, holder in held.items() if holder != visitor.id}
            self._codes.put(session=self._session, seats=others | {colour: visitor.id})

    def free(self, *colours: str) -> None:
        """Give seats back; who held them is a player without one."""
        with self._lock:
            self._codes.put(session=self._session, seats={one: holder for one, holder in self.held().items() if one not in colours})
