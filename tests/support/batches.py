"""Batches of made-up records, as tables send them, and what is kept of them."""

from __future__ import annotations

from sqlalchemy import select

from hub.store import RECORDS

LOG = "01234567-89ab-4def-8123-456789abcdef"


def print_of(seq, other=""):
    return f"{seq:02x}{other}".ljust(64, "0")


def record(seq, /, **more):
    """A record of one session, as a table sends it."""
    fact = {"fact": "session_started"} if seq == 1 else {"fact": "paused", "decided_by": "host"}
    document = {"seq": seq, "session": 1, "at_ms": 5, "frame": False, "schema": 9, **fact}
    return {"fingerprint": print_of(seq), "document": document | more}


def batch(*seqs, after=None, log=LOG, **more):
    records = [one if isinstance(one, dict) else record(one) for one in seqs]
    after = seqs[0] - 1 if after is None else after
    print_ = print_of(after) if after else ""
    return {"log": log, "after": after, "fingerprint": print_, "records": records} | more


def kept(store, log=LOG):
    with store.reading() as db:
        rows = db.execute(
            select(RECORDS.c.seq).where(RECORDS.c.log_id == log).order_by(RECORDS.c.seq)
        )
        return [seq for (seq,) in rows]
