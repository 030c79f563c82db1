"""The panel over the stand-ins of panel_standins.py, as a process of its own: prints its address
and its codes, then obeys lines on stdin.

A line is JSON: {"record": true} adds a record, {"view": {...}} changes the view, {"live": {...}}
the moment, {"pointed": [17, "equal"]} the answer that a button points at; each is answered with the
commands that the session has had, as JSON.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import traceback

import msgspec

from tests.support import panel_standins as standins
from webui import create_app
from webui.server import listen, serve

session, live = standins.FakeSession(), standins.FakeLive()
come = threading.Condition()


def wait(after, timeout_s):
    with come:
        come.wait_for(lambda: session.kept[-1].seq > after, timeout_s)
        return session.records(after)


def obey():
    """Obey each line; a line that is wrong ends the process, so that its test fails at once."""
    try:
        for line in sys.stdin:
            change(json.loads(line))
    except Exception:
        traceback.print_exc()
        os.kill(os.getpid(), signal.SIGTERM)


def change(wanted):
    with come:
        session.shown |= wanted.get("view", {})
        live.become(**wanted.get("live", {}))
        if "pointed" in wanted:
            live.point_at(*wanted["pointed"])
        if wanted.get("record"):
            session.kept += standins.records(session.kept[-1].seq + 1, session.kept[-1].seq + 1)
        come.notify_all()
    print(msgspec.json.encode(session.commands).decode(), flush=True)


session.wait = wait
threading.Thread(target=obey, daemon=True).start()
listening = listen(port=0)
app = create_app(session, live)
codes = app.extensions["access"].codes.now
print(f"http://127.0.0.1:{listening.getsockname()[1]}", codes.host, codes.table, flush=True)
serve(app, listening)
