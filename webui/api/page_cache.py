"""Cache of rendered pages.

A page is rendered once per state, role and language.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import fields
from threading import Lock

from flask import Response, current_app, make_response, request
from werkzeug.wrappers import Response as AnyResponse

from referee.presentation.session_view import SessionView
from referee.sessions.status import RefereeStatus
from table.table_config import Setup
from webui.i18n import language
from webui.security.login import visitor

MOST = 24
"""Cache size in pages: one per role and seat, in one or two languages."""
UNSEEN = {"stamp", "frame_seq", "at_ms", "observation"}
"""Fields left out of the cache key: they change with every frame. The observation's own arrays are
compared by identity instead.
"""


class PageCache:
    """Rendered pages with their ETags, newest last.

    Thread-safe; one page is rendered at a time.
    """

    def __init__(self) -> None:
        self._pages: OrderedDict[tuple[Hashable, ...], tuple[tuple[object, ...], str, str]] = (
            OrderedDict()
        )
        self._lock = Lock()

    def page(
        self,
        view: SessionView,
        live: RefereeStatus,
        setup: Setup,
        shown: str,
        write: Callable[[], str],
    ) -> AnyResponse:
        """The current page for the visitor, or Not Modified if they have it.

        `view` is the session's; it is the same object until something happens. `shown` is the way
        of drawing the table.
        """
        seen = live.observation
        objects = (view, setup, *((seen.pieces, seen.off_board, seen.counters) if seen else ()))
        words = tuple(
            getattr(live, field.name) for field in fields(live) if field.name not in UNSEEN
        )
        who, held = visitor(), frozenset(current_app.extensions["seats"].held())
        key = (request.path, shown, language(), who.role, who.seat, held, words, *map(id, objects))
        with self._lock:
            if key not in self._pages:
                page = write()
                # The entry keeps the objects alive, so that their ids are not reused.
                self._pages[key] = objects, page, hashlib.sha256(page.encode()).hexdigest()[:32]
                if len(self._pages) > MOST:
                    self._pages.popitem(last=False)
            self._pages.move_to_end(key)
            _, page, mark = self._pages[key]
        response: Response = make_response(page)
        response.set_etag(mark)
        return response.make_conditional(request)
