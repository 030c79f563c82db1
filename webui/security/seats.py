"""The seats of a session: which player's phone is which."""

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
    """The holders of seats, kept beside the codes.

    A colour has one holder, and a holder one colour. Safe to use from many threads.
    """

    def __init__(
        self, codes: Codes, session: int, keep: Callable[[SeatTaken | SeatFreed], object]
    ) -> None:
        """Seats of another session than number `session` count as free.

        `keep` writes down what changes.
        """
        self._codes, self._session, self._keep, self._lock = codes, session, keep, Lock()

    def held(self) -> dict[str, str]:
        """Holders' ids by colour."""
        kept = self._codes.now
        return dict(kept.seats) if kept.session == self._session else {}

    def of(self, visitor_id: str) -> str | None:
        """The colour that somebody holds."""
        return next(
            (
                colour
                for colour, holder in self.held().items()
                if visitor_id and holder == visitor_id
            ),
            None,
        )

    def take(self, visitor: Visitor, colour: str) -> None:
        """Take a free seat, and leave the one held before.

        Raises Refusal where somebody else holds it.
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
        """Give seats back, or have them freed `by` somebody else.

        Who held them is then a player without a seat.
        """
        with self._lock:
            held = self.held()
            left = {one: holder for one, holder in held.items() if one not in colours}
            self._change(
                left, *(_seat_freed_event(colour, by) for colour in held.keys() - left.keys())
            )

    def _change(self, seats: dict[str, str], *events: SeatTaken | SeatFreed) -> None:
        """Make all of a change or nothing: beside the codes, and in the log."""
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
