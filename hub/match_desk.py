"""Report, confirm, dispute and decide results of matches.

Players identify themselves by a code from the organiser. Each answer names the result it refers to,
so that nobody confirms a result that they have not seen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, select, update

from hub.audit import Actor, note
from hub.event_standings import Participant
from hub.events import Event, Events
from hub.matches import DRAWN, LOST, OPEN, WON, Evidence, MatchResult, Settled, result_text
from hub.store import EVENT_PLAYERS, EVENTS, MATCHES, SEATS, Store
from table.messages import msg
from webui.security.codes import plain
from webui.security.requests import Refusal
from webui.security.wrong_codes import Guesses

MOST_SCORE = 10_000


@dataclass(frozen=True, slots=True)
class PlayersView:
    """An event as one player sees it: own matches in order, and the next open one."""

    event: Event
    player: Participant
    matches: tuple[Settled, ...]
    next: Settled | None


class MatchDesk:
    """Results of all clubs.  Thread-safe."""

    def __init__(
        self,
        store: Store,
        events: Events,
        now_ms: Callable[[], int],
        guesses: Guesses | None = None,
    ) -> None:
        """`now_ms` is the hub's wall clock; `guesses` counts wrong codes."""
        self._store, self._events, self._now_ms = store, events, now_ms
        self._guesses = guesses or Guesses()

    # ---- players

    def player(self, code: str, client: str) -> PlayersView:
        """The view of the player with this code; raises Refusal for a wrong or too many codes."""
        self._guesses.check(client)
        wanted = (
            select(EVENT_PLAYERS.c.id, EVENT_PLAYERS.c.event_id, EVENTS.c.club_id)
            .join(EVENTS, EVENTS.c.id == EVENT_PLAYERS.c.event_id)
            .where(EVENT_PLAYERS.c.code == plain(code))
        )
        with self._store.reading() as db:
            row = db.execute(wanted).one_or_none()
        if row is None:
            self._guesses.wrong(client)
            raise Refusal(404, "no_such_player", msg("No player has this code."))
        event = self._events.event(row.club_id, row.event_id)
        (player,) = (one for one in event.players if one.id == row.id)
        mine = tuple(one for one in event.matches if _place(one, player.id) is not None)
        upcoming = next((one for one in mine if one.status in OPEN), None)
        return PlayersView(event, player, mine, upcoming)

    def claim(
        self, view: PlayersView, match_id: int, share: float, scores: Sequence[float] = ()
    ) -> None:
        """Enter a player's claim of a result in a match of two.

        The opponent must agree. Raises Refusal if a table or an organiser gave a result already.
        """
        one, place = _own(view, match_id)
        if len(one.match.seats) != 2 or one.status not in (*OPEN, "reported"):
            raise _not_now_refusal()
        if one.source == "table":
            raise Refusal(409, "table_says", msg("The table says how this match ended."))
        order = (share, WON - share) if place == 0 else (WON - share, share)
        ordered = tuple(scores if place == 0 else reversed(scores))
        result = checked(MatchResult(order, ordered), 2)
        with self._store.writing() as db:
            self._running(db, view.event)
            _set(db, match_id, entered_by="player", entered=result_text(result), confirmed="")
            _agree(db, match_id, None, "")
            _agree(db, match_id, view.player.id, result_text(result))

    def agree(self, view: PlayersView, match_id: int, result: str) -> None:
        """Record a player's agreement to `result`; raises Refusal if the result has changed."""
        one, _ = _own(view, match_id)
        _check_same(one, result)
        with self._store.writing() as db:
            self._running(db, view.event)
            _agree(db, match_id, view.player.id, result)

    def dispute(self, view: PlayersView, match_id: int, result: str) -> None:
        """Dispute a result for a player; it is frozen until an organiser decides."""
        one, _ = _own(view, match_id)
        _check_same(one, result)
        if one.result is None or one.match.confirmed == result:  # confirmed by an organiser
            raise _not_now_refusal()
        game = one.game if one.source == "table" else None
        frozen = Evidence(
            one.result,
            game.log_id if game else "",
            game.session if game else 0,
            game.last if game else 0,
        )
        with self._store.writing() as db:
            self._running(db, view.event)
            _set(db, match_id, disputed_by=view.player.id, frozen=result_text(frozen))

    # ---- organisers

    def confirm(self, actor: Actor, event_id: int, match_id: int, result: str) -> None:
        """Confirm `result` as an organiser; raises Refusal if the result has changed."""
        event, one = self._match(actor, event_id, match_id)
        _check_same(one, result)
        with self._store.writing() as db:
            self._running(db, event)
            _set(db, match_id, confirmed=result)
            note(db, self._now_ms(), actor, "result confirmed", _match_label(event, one))

    def decide(self, actor: Actor, event_id: int, match_id: int, result: MatchResult) -> None:
        """Enter an organiser's result, which overrides all others; raises Refusal."""
        event, one = self._match(actor, event_id, match_id)
        if one.status == "bye":
            raise _not_now_refusal()
        text = result_text(checked(result, len(one.match.seats)))
        with self._store.writing() as db:
            self._running(db, event)
            _set(
                db,
                match_id,
                entered_by="organiser",
                entered=text,
                confirmed=text,
                disputed_by=None,
                frozen="",
            )
            note(db, self._now_ms(), actor, "result decided", _match_label(event, one))

    def let_go(self, actor: Actor, event_id: int, match_id: int) -> None:
        """Delete entered results, agreements and disputes; a table's result counts again."""
        event, one = self._match(actor, event_id, match_id)
        with self._store.writing() as db:
            self._running(db, event)
            _set(db, match_id, entered_by="", entered="", confirmed="", disputed_by=None, frozen="")
            _agree(db, match_id, None, "")
            note(db, self._now_ms(), actor, "result taken back", _match_label(event, one))

    def _match(self, actor: Actor, event_id: int, match_id: int) -> tuple[Event, Settled]:
        event = self._events.event(actor.club_id, event_id)
        return event, match_of(event, match_id)

    def _running(self, db: Connection, event: Event) -> None:
        """Lock the event; raises Refusal unless it is running."""
        found = select(EVENTS.c.state).where(EVENTS.c.id == event.id).with_for_update()
        if db.execute(found).scalar_one() != "running":
            raise _not_now_refusal()


def match_of(event: Event, match_id: int) -> Settled:
    """The match with this id; raises Refusal if the event does not have it."""
    for one in event.matches:
        if one.match.id == match_id:
            return one
    raise Refusal(404, "no_such_match", msg("There is no such match."))


def checked(result: MatchResult, seats: int) -> MatchResult:
    """The result with numbers as floats; raises Refusal for an impossible one."""
    shares, scores = tuple(map(float, result.shares)), tuple(map(float, result.scores))
    total = sum(shares)
    right = (
        len(shares) == seats
        and all(one in (WON, DRAWN, LOST) for one in shares)
        and (WON not in shares or total == WON)
        and shares.count(DRAWN) != 1
        and len(scores) in (0, seats)
        and all(-MOST_SCORE <= one <= MOST_SCORE for one in scores)
    )
    if not right:
        raise Refusal(
            400,
            "bad_result",
            msg("Expected one winner, or a draw of several, and points of all; nothing was done."),
        )
    return MatchResult(shares, scores)


def _place(one: Settled, player_id: int) -> int | None:
    places = [n for n, seat in enumerate(one.match.seats) if seat.player_id == player_id]
    return places[0] if places else None


def _own(view: PlayersView, match_id: int) -> tuple[Settled, int]:
    one = match_of(view.event, match_id)
    place = _place(one, view.player.id)
    if place is None:
        raise Refusal(404, "no_such_match", msg("There is no such match."))
    return one, place


def _check_same(one: Settled, result: str) -> None:
    if one.status not in ("reported", "confirmed"):
        raise _not_now_refusal()
    if result_text(one.result) != result:
        raise Refusal(
            409, "changed", msg("The result has changed meanwhile; look again. Nothing was done.")
        )


def _match_label(event: Event, one: Settled) -> str:
    """Label of a match for the audit log, without players' names, which may be erased."""
    return f"{event.name}, {one.match.round}.{one.match.number}"


def _set(db: Connection, match_id: int, **values: Any) -> None:
    db.execute(update(MATCHES).where(MATCHES.c.id == match_id).values(**values))


def _agree(db: Connection, match_id: int, player_id: int | None, result: str) -> None:
    """Set the result that one player, or for None every player, agrees to."""
    mine = update(SEATS).where(SEATS.c.match_id == match_id)
    if player_id is not None:
        mine = mine.where(SEATS.c.player_id == player_id)
    db.execute(mine.values(agreed=result))


def _not_now_refusal() -> Refusal:
    return Refusal(409, "not_now", msg("This match is not open for that now; nothing was done."))
