"""Every record reaches the hub once and in order, and the log is never written to."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from pathlib import Path
from shutil import copyfile
from threading import Event
from types import SimpleNamespace

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import delete, select, update

from hub.client import HubGone, HubRefused
from hub.forwarder import Forwarder
from hub.store import LOGS, RECORDS, Store
from hub.wire import MOST_RECORD_BYTES, MOST_RECORDS
from referee.sessions.event_store import Log, LogReader
from referee.sessions.events import Paused, SessionStarted
from tests.support.disks import change
from tests.support.hubs import Club, DirectHub, new_log, play

STARTED = SessionStarted(game="pegs", players=("red", "blue"))


@pytest.fixture
def club(tmp_path: Path):
    """A hub on SQLite; that PostgreSQL does the same is seen in test_intake.py."""
    store = Store(f"sqlite:///{tmp_path / 'hub.sqlite'}")
    store.upgrade()
    yield Club(store)
    store.close()


def kept(club: Club) -> list[tuple[int, str]]:
    """Numbers and fingerprints that the hub has, in the order in which they came."""
    with club.store.reading() as db:
        rows = db.execute(select(RECORDS.c.seq, RECORDS.c.fingerprint).order_by(RECORDS.c.seq))
        return [(row.seq, row.fingerprint) for row in rows]


def written(path: Path) -> list[tuple[int, str]]:
    with LogReader(path) as log:
        return list(log.fingerprints().items())


def drain(forwarder: Forwarder) -> int:
    """Send all that there is; how many records that were."""
    count = 0
    while (sent := forwarder.round()).more:
        count += sent.records
    return count


def forwarding(path: Path, hub, tell=lambda _text: None) -> Forwarder:
    return Forwarder(path, hub, tell, lambda: 1.0)


def test_all_that_is_in_the_log_is_sent_and_then_what_comes(club, tmp_path):
    path = new_log(tmp_path)
    with closing(forwarding(path, DirectHub(club, club.enrol()))) as forwarder:
        assert drain(forwarder) == len(written(path)) > 0
        assert drain(forwarder) == 0
        with Log(path) as log:
            log.append(STARTED, 5)
        assert drain(forwarder) == 1
    assert kept(club) == written(path)


def test_a_log_that_is_being_written_is_read_at_the_same_time(club, tmp_path):
    path = tmp_path / "log.sqlite"
    with Log(path) as log, closing(forwarding(path, DirectHub(club, club.enrol()))) as forwarder:
        session = log.append(STARTED, 0).seq
        for number in range(5):
            log.append(Paused(decided_by="host"), number, session)
            drain(forwarder)
            assert len(kept(club)) == number + 2


def test_the_log_is_not_changed(club, tmp_path):
    path = new_log(tmp_path)
    before = path.read_bytes()
    with closing(forwarding(path, DirectHub(club, club.enrol()))) as forwarder:
        drain(forwarder)
    assert path.read_bytes() == before


def test_another_forwarder_goes_on_where_the_hub_is(club, tmp_path):
    path, hub = new_log(tmp_path), DirectHub(club, club.enrol())
    for _ in range(2):
        with closing(forwarding(path, hub)) as forwarder:
            drain(forwarder)
    assert sum(len(batch.records) for batch in hub.sent) == len(written(path))


def test_nobody_learns_a_secret_vote(club, tmp_path):
    path = tmp_path / "log.sqlite"
    with Log(path) as log:
        for seed in range(6):
            play(log, "icefloe", seed, 60, end=False)
    with LogReader(path) as log:
        secret = [one for one in log.records() if getattr(one.event, "secret", False)]
        key = log.identity().key.hex()
    assert secret
    hub = DirectHub(club, club.enrol())
    with closing(forwarding(path, hub)) as forwarder:
        drain(forwarder)
    sent = {one.document["seq"]: one.document for batch in hub.sent for one in batch.records}
    for record in secret:
        (move,) = record.event.moves
        assert sent[record.seq]["moves"] == []
        assert move not in str(sent[record.seq])
    assert key not in str(hub.sent)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
@given(
    happens=st.lists(
        st.sampled_from(["write", "send", "lost question", "lost answer", "begin again"]),
        max_size=30,
    ),
    seed=st.integers(0, 10**6),
)
def test_whatever_is_lost_every_record_arrives_once(tmp_path_factory, happens, seed):
    folder, chance = tmp_path_factory.mktemp("hub"), random.Random(seed)
    store = Store(f"sqlite:///{folder / 'hub.sqlite'}")
    store.upgrade()
    fate = SimpleNamespace(lost="")
    club, path = Club(store), folder / "log.sqlite"
    hub = DirectHub(club, club.enrol(), lambda: fate.lost)
    with Log(path) as log, closing(store):
        session = log.append(STARTED, 0).seq
        forwarder = forwarding(path, hub)
        for what in happens:
            fate.lost = {"lost question": "asked", "lost answer": "answered"}.get(what, "")
            if what == "write":
                for _ in range(chance.randrange(1, 4)):
                    log.append(Paused(decided_by="host"), chance.randrange(-9, 9), session)
            elif what == "begin again":
                forwarder.close()
                forwarder = forwarding(path, hub)
            else:
                try:
                    forwarder.round()
                except HubGone:
                    assert fate.lost
        fate.lost = ""
        drain(forwarder)
        forwarder.close()
        assert kept(club) == written(path)


def test_a_week_offline_is_sent_in_batches_and_in_order(club, tmp_path):
    path, hub = tmp_path / "log.sqlite", DirectHub(club, club.enrol())
    with Log(path) as log:
        session = log.append(STARTED, 0).seq
        for number in range(2 * MOST_RECORDS + 5):
            log.append(Paused(decided_by="host"), number, session)
    with closing(forwarding(path, hub)) as forwarder:
        drain(forwarder)
    assert [len(batch.records) for batch in hub.sent] == [0, MOST_RECORDS, MOST_RECORDS, 6]
    assert kept(club) == written(path)


def test_large_records_go_in_smaller_batches_and_too_large_ones_without_their_tables(
    club, tmp_path
):
    path, hub = tmp_path / "log.sqlite", DirectHub(club, club.enrol())
    large = {"name": "x" * (MOST_RECORD_BYTES - 9000)}
    with Log(path) as log:
        for number in range(6):
            log.append(SessionStarted(game="pegs", players=("red", "blue"), table=large), number)
        larger = {"name": "x" * (2 * MOST_RECORD_BYTES)}
        log.append(SessionStarted(game="pegs", players=("red", "blue"), table=larger), 7)
    with closing(forwarding(path, hub)) as forwarder:
        drain(forwarder)
    assert len(hub.sent) > 2
    sent = [one.document for batch in hub.sent for one in batch.records]
    assert [one["table"] for one in sent] == [large] * 6 + [{}]
    assert kept(club) == written(path)


def test_a_hub_that_takes_less_gets_less_at_once(tmp_path, club):
    path, hub = new_log(tmp_path, acts=12), DirectHub(club, club.enrol())
    take = hub.send

    def small(batch):
        if len(batch.records) > 2:
            raise HubRefused(413, "too_large", "too large")
        return take(batch)

    hub.send = small
    with closing(forwarding(path, hub)) as forwarder:
        drain(forwarder)
    assert kept(club) == written(path)


def test_a_record_that_a_proxy_does_not_take_goes_without_its_largest_parts(tmp_path, club):
    path, hub = tmp_path / "log.sqlite", DirectHub(club, club.enrol())
    with Log(path) as log:
        for number, size in enumerate((10, 100_000, 10, 100_000)):
            table = {"name": "x" * size}
            log.append(SessionStarted(game="pegs", players=("red", "blue"), table=table), number)
    take = hub.send

    def small(batch):
        if len(msgspec.json.encode(batch)) > 50_000:
            raise HubRefused(413, "too_large", "It takes less at once.")
        return take(batch)

    hub.send = small
    with closing(forwarding(path, hub)) as forwarder:
        drain(forwarder)
    assert kept(club) == written(path)
    sent = [one.document["table"] for batch in hub.sent for one in batch.records]
    assert [len(table.get("name", "")) for table in sent] == [10, 0, 10, 0]


def test_a_hub_that_takes_nothing_is_told_of_and_not_asked_without_end(tmp_path, club):
    path, hub = new_log(tmp_path), DirectHub(club, club.enrol())
    take = hub.send

    def nothing(batch):
        if batch.records:
            raise HubRefused(413, "too_large", "It takes less at once.")
        return take(batch)

    hub.send = nothing
    with (
        closing(forwarding(path, hub)) as forwarder,
        pytest.raises(HubRefused, match="less at once"),
    ):
        drain(forwarder)


@pytest.mark.parametrize("longer", ["original", "copy"])
def test_a_copied_card_is_noticed_and_not_mixed_in(club, tmp_path, longer):
    path, copy, token = new_log(tmp_path), tmp_path / "copy.sqlite", club.enrol()
    copyfile(path, copy)
    for one, count in ((path, 2 if longer == "original" else 1), (copy, 2)):
        with Log(one) as log:
            for number in range(count + (longer == "copy" and one == copy)):
                log.append(STARTED, 1000 * number + (one == copy))
    with closing(forwarding(path, DirectHub(club, token))) as forwarder:
        drain(forwarder)
    before = kept(club)
    assert before == written(path)
    with (
        closing(forwarding(copy, DirectHub(club, token))) as forwarder,
        pytest.raises(HubRefused) as refused,
    ):
        drain(forwarder)
    assert refused.value.code == "another_log"
    assert "rinkside log rename" in refused.value.message
    assert kept(club) == before


def test_a_copied_card_at_another_table_is_refused_until_it_is_renamed(club, tmp_path):
    path, copy = new_log(tmp_path), tmp_path / "copy.sqlite"
    copyfile(path, copy)
    with closing(forwarding(path, DirectHub(club, club.enrol()))) as forwarder:
        drain(forwarder)
    with closing(forwarding(copy, DirectHub(club, club.enrol("Table 2")))) as forwarder:
        with pytest.raises(HubRefused) as refused:
            drain(forwarder)
        assert refused.value.code == "log_of_another_table"
        with Log(copy) as log:
            log.rename()
        assert drain(forwarder) == len(written(copy))
    assert len(kept(club)) == 2 * len(written(path))


def test_a_log_that_is_swapped_for_another_one_is_another_log(club, tmp_path):
    path = new_log(tmp_path)
    other = tmp_path / "other.sqlite"
    with Log(other) as log:
        log.append(STARTED, 9)
    with closing(forwarding(path, DirectHub(club, club.enrol()))) as forwarder:
        first = drain(forwarder)
        other.replace(path)
        assert drain(forwarder) == 1
    assert len(kept(club)) == first + 1


def test_an_old_log_gets_its_id_when_it_is_first_forwarded(club, tmp_path):
    path = new_log(tmp_path)
    with LogReader(path) as log:
        before = log.records()
    change(path, "DROP TABLE identity")
    with closing(forwarding(path, DirectHub(club, club.enrol()))) as forwarder:
        assert drain(forwarder) == len(before)
    with LogReader(path) as log:
        assert log.records() == before


def test_a_hub_that_was_set_back_gets_what_it_has_lost(club, tmp_path):
    path = new_log(tmp_path)
    with closing(forwarding(path, DirectHub(club, club.enrol()))) as forwarder:
        drain(forwarder)
        with club.store.writing() as db:
            db.execute(delete(RECORDS).where(RECORDS.c.seq > 2))
            print_ = db.execute(select(RECORDS.c.fingerprint).where(RECORDS.c.seq == 2)).scalar()
            db.execute(update(LOGS).values(seq=2, fingerprint=print_))
        with Log(path) as log:
            log.append(STARTED, 9)
        drain(forwarder)
    assert kept(club) == written(path)


class Clock(Event):
    """Does not wait, and stops after so many waits; `waits` has their times in seconds."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self.waits: list[float] = []
        self._most = most

    def wait(self, timeout: float | None = None) -> bool:
        self.waits.append(timeout)
        if len(self.waits) >= self._most:
            self.set()
        return self.is_set()


def test_a_hub_that_is_gone_is_asked_less_and_less_often_and_told_of_once(club, tmp_path):
    messages: list[str] = []
    hub = DirectHub(club, club.enrol(), lambda: "asked")
    clock = Clock(9)
    with closing(forwarding(new_log(tmp_path), hub, messages.append)) as forwarder:
        forwarder.run(clock)
    assert clock.waits == [1, 2, 4, 8, 16, 32, 60, 60, 60]
    assert messages == ["The hub cannot be reached (lost); trying again."]


def test_when_it_is_back_all_is_sent_and_that_is_said(club, tmp_path):
    messages: list[str] = []
    path, fates = new_log(tmp_path), iter(["asked"] * 3)
    hub = DirectHub(club, club.enrol(), lambda: next(fates, ""))
    clock = Clock(8)
    with closing(forwarding(path, hub, messages.append)) as forwarder:
        forwarder.run(clock)
    assert kept(club) == written(path)
    assert messages[-1] == "The hub has everything again."
    assert clock.waits[:3] == [1, 2, 4]
    assert set(clock.waits[3:]) == {0.25}


def test_a_hub_may_say_how_long_to_wait(tmp_path, club):
    hub, clock = DirectHub(club, club.enrol()), Clock(1)

    def busy(_batch):
        raise HubGone("busy", 30)

    hub.send = busy
    with closing(forwarding(new_log(tmp_path), hub)) as forwarder:
        forwarder.run(clock)
    assert clock.waits == [30]


def test_a_log_that_is_not_there_yet_is_waited_for(club, tmp_path):
    messages: list[str] = []
    path, clock = tmp_path / "log.sqlite", Clock(4)
    with closing(forwarding(path, DirectHub(club, club.enrol()), messages.append)) as forwarder:
        forwarder.run(clock)
        assert messages == [f"{path}: waiting for the first game"]
        new_log(tmp_path)
        forwarder.run(Clock(1))
    assert clock.waits == [1, 2, 4, 5]
    assert kept(club) == written(path)


def test_a_damaged_record_is_told_and_what_was_before_it_is_not_lost(club, tmp_path):
    messages: list[str] = []
    path = new_log(tmp_path, acts=12)
    with closing(forwarding(path, DirectHub(club, club.enrol()), messages.append)) as forwarder:
        drain(forwarder)
        before = kept(club)
        with Log(path) as log:
            log.append(STARTED, 1)
        with closing(sqlite3.connect(path)) as db, db:
            db.execute("UPDATE records SET at_ms = 7 WHERE seq = (SELECT max(seq) FROM records)")
        forwarder.run(Clock(2))
    assert kept(club) == before
    assert len(messages) == 1
    assert "checksum" in messages[0]


def test_a_withdrawn_token_ends_it_with_the_reason(club, tmp_path):
    token, path = club.enrol(), new_log(tmp_path)
    (table,) = club.tables.listed(club.actor.club_id)
    with closing(forwarding(path, DirectHub(club, token))) as forwarder:
        drain(forwarder)
        club.tables.withdraw(club.actor, table.id)
        with Log(path) as log:
            log.append(STARTED, 1)
        with pytest.raises(HubRefused, match="withdrawn") as refused:
            forwarder.run(Clock(1))
    assert refused.value.code == "token_withdrawn"


def test_what_a_hub_does_not_understand_is_tried_again_later(club, tmp_path):
    messages: list[str] = []
    hub, clock = DirectHub(club, club.enrol()), Clock(3)

    def refuse(_batch):
        raise HubRefused(400, "bad_batch", "expected something else.")

    hub.send = refuse
    with closing(forwarding(new_log(tmp_path), hub, messages.append)) as forwarder:
        forwarder.run(clock)
    assert messages == ["The hub refuses: expected something else."]
    assert clock.waits == [1, 2, 4]
