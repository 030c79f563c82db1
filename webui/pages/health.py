"""`/healthz` and `/metrics`, for monitoring programs.

They are public, like the page itself, and contain counts and states only, no names or results.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import metadata
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from flask import Blueprint, Response, request

from table.messages import msg
from table.text import printable
from webui.interfaces import LivePort, SessionPort
from webui.security.requests import Refusal

if TYPE_CHECKING:
    from prometheus_client.core import Metric

AT_ONCE = 200
"""Records counted per batch."""


class Health(NamedTuple):
    """Health flag with one line of detail."""

    well: bool
    text: str


def health_pages(
    health: Callable[[], Health], metrics: Callable[[], Iterable[Metric]]
) -> Blueprint:
    """The two routes."""
    routes = Blueprint("health", __name__)

    @routes.get("/healthz")
    def healthz() -> Response:
        now = health()
        text = printable(f"{'ok' if now.well else 'not well'}: {now.text}\n", keep_lines=True)
        return Response(text, 200 if now.well else 503, mimetype="text/plain")

    @routes.get("/metrics", endpoint="metrics")
    def show() -> Response:
        try:
            from prometheus_client import CollectorRegistry, ProcessCollector
            from prometheus_client.exposition import choose_encoder
        except ImportError as error:
            missing = msg(
                "expected prometheus-client in this environment, but it is not installed; run: pip"
                " install '{program}'",
                program="rinkside[metrics]",
            )
            raise Refusal(404, "no_metrics", missing) from error
        registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        registry.register(_Made(metrics))
        encode, kind = choose_encoder(request.headers.get("Accept", ""))
        return Response(encode(registry), content_type=kind)

    return routes


class _Made:
    """Collector interface of a prometheus-client registry."""

    def __init__(self, collect: Callable[[], Iterable[Metric]]) -> None:
        self.collect = collect

    def describe(self) -> Iterable[Metric]:
        """No descriptions: names are not checked for duplicates."""
        return ()


def while_preparing(text: str) -> Blueprint:
    """The two routes before a game: healthy, with no metrics."""
    return health_pages(lambda: Health(True, text), home_metrics)


def home_metrics() -> Iterator[Metric]:
    """The home page's metrics: no game is running."""
    yield from _program(running=False)


def _program(running: bool) -> Iterator[Metric]:
    from prometheus_client.core import GaugeMetricFamily, InfoMetricFamily

    yield InfoMetricFamily(
        "rinkside", "The program that answers", {"version": metadata.version("rinkside")}
    )
    yield GaugeMetricFamily("rinkside_game_running", "1 while a game is refereed", float(running))


class GameMetrics:
    """Health and metrics of a game.  Thread-safe."""

    def __init__(
        self,
        session: SessionPort,
        live: LivePort,
        devices: Callable[[], Mapping[str, str]],
        log: Path | None,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """`devices` returns each part's fault; `clock` is that of `live.seen`."""
        self._session, self._live, self._devices = session, live, devices
        self._log, self._clock = log, clock
        self._counting = threading.Lock()
        self._counted, self._verdicts = 0, Counter[str]()

    def health(self) -> Health:
        """Health of the referee."""
        from referee.sessions.status import ILL

        latest = self._live.latest
        if latest.error:
            return Health(False, latest.error)
        return Health(latest.status not in ILL, latest.message)

    def collect(self) -> Iterator[Metric]:
        """All metrics of the game."""
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

        from referee.sessions.status import TROUBLE

        yield from _program(running=True)
        seen, latest = self._live.seen, self._live.latest
        yield CounterMetricFamily("rinkside_pictures", "Pictures looked at", seen.pictures)
        yield CounterMetricFamily(
            "rinkside_readings", "Pictures in which the table could be read", seen.readings
        )
        if seen.at_s is not None:
            yield GaugeMetricFamily(
                "rinkside_last_picture_age_seconds",
                "Time since the last picture",
                max(0.0, self._clock() - seen.at_s),
            )
        yield GaugeMetricFamily(
            "rinkside_camera_trouble",
            "1 while the table cannot be read, the camera is lost, or the referee cannot work",
            float(latest.status in TROUBLE or bool(latest.error)),
        )
        yield GaugeMetricFamily(
            "rinkside_questions_open",
            "Questions that wait for people",
            float(self._session.view().question is not None),
        )
        verdicts = CounterMetricFamily(
            "rinkside_verdicts", "Rulings of this session, by kind", labels=["kind"]
        )
        for kind, count in sorted(self._count().items()):
            verdicts.add_metric([kind], count)
        yield verdicts
        works = GaugeMetricFamily(
            "rinkside_device_up", "1 while a connected part works", labels=["part"]
        )
        for part, why_not in self._devices().items():
            works.add_metric([part], float(not why_not))
        yield works
        if self._log is not None:
            yield GaugeMetricFamily(
                "rinkside_event_store_bytes", "Size of the log on disk", _bytes(self._log)
            )

    def _count(self) -> Counter[str]:
        """Count rulings by kind; each record is read once."""
        from referee.presentation.view_model import decision_of

        with self._counting:
            while records := self._session.records(self._counted, AT_ONCE):
                decisions = filter(None, (decision_of(record.event) for record in records))
                self._verdicts.update(decision.verdict for decision in decisions)
                self._counted = records[-1].seq
            return Counter(self._verdicts)


def _bytes(log: Path) -> float:
    """Size of a log and its journal, in bytes."""
    size = 0
    for path in (log, log.with_name(f"{log.name}-wal")):
        try:
            size += path.stat().st_size
        except OSError:
            continue
    return float(size)
