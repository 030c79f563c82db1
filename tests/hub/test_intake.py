"""Records come in once, in order, from the table whose log it is; everything else is refused."""

from __future__ import annotations

import msgspec
import pytest
from sqlalchemy import select

from hub.intake import News
from hub.store import LOGS, RECORDS
from hub.wire import MOST_RECORD_BYTES, MOST_RECORDS
from referee.sessions.event_store import LogReader
from referee.sessions.events import public_document, read_public_document
from tests.support.batches import LOG, batch, kept, print_of, record
from tests.support.hubs import new_log
from webui.security.requests import Refusal


def sender(club, name="Table 1"):
    token = club.enrol(name)
    return lambda document: club.intake.take(token, msgspec.json.encode(document))


def test_a_record_is_kept_once_however_often_it_is_sent(club, store):
    take = sender(club)
    assert take(batch(1, 2)).seq == 2
    assert take(batch(1, 2)).seq == 2
    assert take(batch(2, 3)).seq == 3
    assert take(batch(1)).seq == 3
    answer = take(batch(after=0))
    assert (answer.log, answer.seq, answer.fingerprint) == (LOG, 3, print_of(3))
    assert kept(store) == [1, 2, 3]


def test_what_does_not_follow_is_left_and_the_answer_says_from_where(club, store):
    take = sender(club)
    assert take(batch(5)).seq == 0
    take(batch(1))
    assert take(batch(3, 4)).seq == 1
    assert kept(store) == [1]


def test_numbers_that_a_rescued_log_has_lost_are_no_gap(club, store):
    take = sender(club)
    take(batch(1, 2))
    assert take(batch(7, 9, after=2)).seq == 9
    assert kept(store) == [1, 2, 7, 9]


@pytest.mark.parametrize(
    "forked",
    [
        batch({**record(2), "fingerprint": print_of(2, "f")}, after=1),
        batch(4, after=3, fingerprint=print_of(3, "f")),
        batch(2, after=1, fingerprint=print_of(1, "f")),
        batch(2, record(3) | {"fingerprint": print_of(3, "f")}, 4, after=1),
    ],
)
def test_another_log_with_the_same_id_is_noticed_and_nothing_of_it_is_kept(club, store, forked):
    take = sender(club)
    take(batch(1, 2, 3))
    with pytest.raises(Refusal, match="two logs have one id") as refused:
        take(forked)
    assert (refused.value.status, refused.value.code) == (409, "another_log")
    assert kept(store) == [1, 2, 3]
    (table,) = club.tables.listed(club.actor.club_id)
    assert table.trouble == "another_log"
    assert take(batch(4)).seq == 4
    club.tables.dismiss(club.actor, table.id)
    assert club.tables.listed(club.actor.club_id)[0].trouble == ""


def test_a_log_belongs_to_the_table_that_sent_it_first(club, store):
    first, second = sender(club), sender(club, "Table 2")
    first(batch(1))
    with pytest.raises(Refusal, match="another table's") as refused:
        second(batch(2))
    assert refused.value.code == "log_of_another_table"
    assert kept(store) == [1]
    assert [one.trouble for one in club.tables.listed(club.actor.club_id)] == [
        "log_of_another_table",
        "",
    ]


def test_a_table_with_a_new_token_goes_on_with_its_log(club, store):
    sender(club)(batch(1))
    assert sender(club)(batch(2)).seq == 2
    assert kept(store) == [1, 2]


BAD = {
    "no JSON": b"{",
    "no object": b"[]",
    "no text": b'{"log": "\xff"}',
    "half a character": b'{"log": "\\ud800"}',
    "deep": b'{"log": ' + b"[" * 100_000,
    "no log": b"{}",
    "another log": msgspec.json.encode(batch(1, log="../../etc")),
    "a name more": msgspec.json.encode(batch(1, admin=True)),
    "backwards": msgspec.json.encode(batch(2, 1, after=0)),
    "twice": msgspec.json.encode(batch(1, 1, after=0)),
    "not after": msgspec.json.encode(batch(1, after=3)),
    "a number too large": msgspec.json.encode(batch(record(1, seq=2**60), after=0)),
    "a time too large": msgspec.json.encode(batch(1, record(2, at_ms=2.5e30), after=0)),
    "no number": msgspec.json.encode(batch(record(1, seq="1"), after=0)),
    "a session to come": msgspec.json.encode(batch(1, record(2, session=3), after=0)),
    "a session without its start": msgspec.json.encode(batch(record(2, session=2), after=0)),
    "a start within": msgspec.json.encode(batch(1, record(2, fact="session_started"), after=0)),
    "no fact": msgspec.json.encode(batch(1, record(2, fact=""), after=0)),
    "no fingerprint": msgspec.json.encode(batch({**record(1), "fingerprint": ""}, after=0)),
    "a mark for numbers": b'{"log": "%b", "records": NaN}' % LOG.encode(),
}


@pytest.mark.parametrize("body", BAD.values(), ids=BAD.keys())
def test_what_is_no_batch_is_refused_in_one_line(club, store, body):
    token = club.enrol()
    with pytest.raises(Refusal) as refused:
        club.intake.take(token, body)
    assert (refused.value.status, refused.value.code) == (400, "bad_batch")
    assert "\n" not in refused.value.message
    assert len(refused.value.message) < 400
    assert kept(store) == []


def test_what_a_stranger_sends_is_not_even_parsed(club):
    unreadable = object()  # parsing it would be a TypeError
    with pytest.raises(Refusal) as refused:
        club.intake.take("guessed", unreadable)
    assert refused.value.code == "no_token"


def test_a_token_that_was_used_and_then_withdrawn_keeps_nothing_more(club, store):
    take = sender(club)
    take(batch(1))
    (table,) = club.tables.listed(club.actor.club_id)
    club.tables.withdraw(club.actor, table.id)
    with pytest.raises(Refusal) as refused:
        take(batch(2))
    assert refused.value.code == "token_withdrawn"
    assert kept(store) == [1]


def test_too_many_and_too_large_records_are_refused_as_such(club):
    take = sender(club)
    with pytest.raises(Refusal) as refused:
        take(batch(*range(1, MOST_RECORDS + 2)))
    assert (refused.value.status, refused.value.code) == (413, "too_many_records")
    with pytest.raises(Refusal) as refused:
        take(batch(1, record(2, decided_by="x" * MOST_RECORD_BYTES)))
    assert (refused.value.status, refused.value.code) == (413, "record_too_large")
    assert take(batch(*range(1, MOST_RECORDS + 1))).seq == MOST_RECORDS


def test_a_table_cannot_fill_the_hub_with_logs(club):
    take = sender(club)
    for number in range(100):
        take(batch(after=0, log=f"{number:08x}-89ab-4def-8123-456789abcdef"))
    with pytest.raises(Refusal) as refused:
        take(batch(1))
    assert refused.value.code == "too_many_logs"


def test_zeroes_and_other_alphabets_in_a_record_come_back_as_they_were(club, store):
    text = 'Zoë\x00 "\u2028" \U0001f9ca'
    sender(club)(batch(1, record(2, decided_by=text)))
    with store.reading() as db:
        document = db.execute(select(RECORDS.c.document).where(RECORDS.c.seq == 2)).scalar_one()
    assert msgspec.json.decode(document)["decided_by"] == text


def test_all_that_a_table_sends_can_be_read_back(tmp_path):
    with LogReader(new_log(tmp_path, "icebreaker", 20)) as log:
        for one in log.records():
            document = msgspec.json.decode(msgspec.json.encode(public_document(one)))
            assert read_public_document(document, "test") == one


def test_who_waits_hears_of_what_was_taken_in(club):
    take = sender(club)
    assert club.news.wait(0) == []
    take(batch(1, 2))
    take(batch(2))
    (taken,) = club.news.wait(0)
    assert (taken.table.name, taken.log_id, taken.after) == ("Table 1", LOG, 0)
    assert [one.place.seq for one in taken.records] == [1, 2]
    assert club.news.wait(0) == []


def test_of_much_news_the_oldest_is_left_out(club, monkeypatch):
    monkeypatch.setattr("hub.intake.MOST_NEWS", 2)
    news = News()
    for seq in (1, 2, 3):
        sender(club)(batch(seq))
        news.tell(club.news.wait(0))
    assert [one.after for one in news.wait(0)] == [1, 2]
    assert news.wait(0) == []


def test_two_logs_do_not_know_of_one_another(club, store):
    take = sender(club)
    other = "11234567-89ab-4def-8123-456789abcdef"
    take(batch(1, 2))
    assert take(batch(1, log=other)).seq == 1
    assert (kept(store), kept(store, other)) == ([1, 2], [1])
    with store.reading() as db:
        assert len(db.execute(select(LOGS)).all()) == 2
