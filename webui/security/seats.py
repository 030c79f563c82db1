"""The seats of a session: which visitor speaks for which player."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock

from referee.sessions.event_store import LogFailed
from referee.sessions.events import SeatFreed, SeatTaken
from table.errors import message_of
from table.messages import msg
from webui.security.codes import Codes
from webui.security.permissions import Visitor
from webui.security.requests import Refusal


class Seats:
    """The holders of seats, stored with the codes.

    A colour has at most one holder, and a holder one colour. Thread-safe.
    """

    def __init__(
        self, codes: Codes, session: int, keep: Callable[[SeatTaken | SeatFreed], object]
    ) -> None:
        """Stored seats of any session other than `session` count as free.

        `keep` records changes.
        """
        self._codes, self._session, self._keep, self._lock = codes, session, keep, Lock()

    def held(self) -> dict[str, str]:
        """Visitor ids by colour."""
        kept = self._codes.now
        return dict(kept.seats) if kept.session == self._session else {}

    def of(self, visitor_id: str) -> str | None:
        """The colour held by a visitor; None for none."""
        return next(
            (
                colour
                for colour, holder in self.held().items()
                if visitor_id and holder == visitor_id
            ),
            None,
        )

    def take(self, visitor: Visitor, colour: str) -> None:
        """Take a free seat, and free the one held before.

        Raises Refusal if another visitor holds it.
        """
        if not visitor.id:
            raise Refusal(
                403,
                "no_ticket",
                msg(
                    "Only people who joined with a code can take a seat: programs keep the"
                    " token from /api/v1/join."
                ),
            )
        with self._lock:
            held = self.held()
            if held.get(colour, visitor.id) != visitor.id:
                raise Refusal(
                    409,
                    "seat_taken",
                    msg(
                        "Somebody else is playing {player} on another phone; the host can"
                        " free the seat.",
                        player=colour,
                    ),
                )
            if colour in held:
                return
            left = [one for one, holder in held.items() if holder == visitor.id]
            others = {one: holder for one, holder in held.items() if one not in left}
            taken = SeatTaken(
                player=colour, message=msg("{player}'s seat is taken.", player=colour)
            )
            self._change(others | {colour: visitor.id}, *map(_seat_freed_event, left), taken)

    def free(self, *colours: str, by: str = "") -> None:
        """Free seats, on the holder's own request or `by` another visitor.

        Former holders remain players without a seat.
        """
        with self._lock:
            held = self.held()
            left = {one: holder for one, holder in held.items() if one not in colours}
            self._change(
                left, *(_seat_freed_event(colour, by) for colour in held.keys() - left.keys())
            )

    def _change(self, seats: dict[str, str], *events: SeatTaken | SeatFreed) -> None:
        """Apply a change atomically to the stored codes and the log."""
        before = self._codes.now
        self._codes.put(session=self._session, seats=seats)
        try:
            for event in events:
                self._keep(event)
        except LogFailed as error:
            self._codes.put(session=before.session, seats=before.seats)
            raise Refusal(507, "not_kept", message_of(error)) from error


def _seat_freed_event(colour: str, by: str = "") -> SeatFreed:
    message = (
        msg("{who} frees {player}'s seat.", who=by.capitalize(), player=colour)
        if by
        else msg("{player}'s seat is free again.", player=colour)
    )
    return SeatFreed(player=colour, decided_by=by or colour, message=message)
