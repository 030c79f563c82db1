"""`/healthz` and `/metrics` of the hub: counts and states, no names or results."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import metadata
from typing import TYPE_CHECKING

from sqlalchemy import func, select

from hub.store import EVENTS, LOGS, TABLES, Store
from table.messages import msg
from webui.pages.health import Health

if TYPE_CHECKING:
    from prometheus_client.core import Metric


class HubHealth:
    """Health and metrics for monitoring.  Thread-safe."""

    def __init__(self, store: Store, now_ms: Callable[[], int]) -> None:
        self._store, self._now_ms = store, now_ms

    def health(self) -> Health:
        """Query the database; a failure there is answered with status 503."""
        with self._store.reading() as db:
            db.execute(select(LOGS.c.log_id).limit(1)).all()
        return Health(True, msg("The hub works."))

    def collect(self) -> Iterator[Metric]:
        """Current metrics in Prometheus's format."""
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily

        with self._store.reading() as db:
            tables = db.execute(select(func.count()).select_from(TABLES)).scalar_one()
            running = select(func.count()).where(EVENTS.c.state == "running")
            events = db.execute(running).scalar_one()
            logs = db.execute(
                select(
                    func.coalesce(func.sum(LOGS.c.seq), 0).label("records"),
                    func.max(LOGS.c.heard_ms).label("heard_ms"),
                )
            ).one()
            wrong = select(func.count()).where(LOGS.c.trouble != "")
            troubles = db.execute(wrong).scalar_one()
        version = {"version": metadata.version("rinkside")}
        yield InfoMetricFamily("rinkside", "The program that answers", version)
        yield GaugeMetricFamily("rinkside_hub_tables", "Tables that are known", tables)
        yield CounterMetricFamily(
            "rinkside_hub_records", "Records that tables have sent", int(logs.records)
        )
        yield GaugeMetricFamily(
            "rinkside_hub_logs_in_trouble", "Logs that an organiser should look at", troubles
        )
        yield GaugeMetricFamily("rinkside_hub_events_running", "Events that are running", events)
        if logs.heard_ms is not None:
            silent_s = max(0.0, (self._now_ms() - logs.heard_ms) / 1000)
            yield GaugeMetricFamily(
                "rinkside_hub_silent_seconds", "Since a table sent something", silent_s
            )
