"""Listens to a panel as many pages would (`benchmarks.suite.panel`).

Uses the standard library only, so that it costs little.
"""

from __future__ import annotations

import json
import selectors
import socket
import sys
import time
from dataclasses import dataclass, field

STREAMS, PICTURES = 200, 10
"""Pages that listen, and pages that show the camera's picture."""
PICTURE_S = 0.4
"""A page asks for a new picture so often."""


@dataclass
class ListenerResult:
    """What one connection has heard; pictures are asked for again and again."""

    path: str
    text: bytes = b""
    records: dict[int, float] = field(default_factory=dict)
    pictures: int = 0
    refused: int = 0
    bytes_read: int = 0
    wanted: int = 0
    due_s: float = 0.0
    asked: bool = True

    def read(self, data: bytes) -> None:
        self.bytes_read += len(data)
        if "stream" in self.path:
            self._stream(data)
        else:
            self._picture(data)

    def _stream(self, data: bytes) -> None:
        *events, self.text = (self.text + data).split(b"\n\n")
        for event in events:
            if b"event: record" in event:
                number = int(event[event.index(b"id: ") + 4 :].split(b"\n")[0])
                assert not self.records or number == max(self.records) + 1, (
                    f"record {number} came after {max(self.records)}"
                )
                self.records[number] = time.monotonic()

    def _picture(self, data: bytes) -> None:
        self.text += data
        if not self.wanted and b"\r\n\r\n" in self.text:
            head = self.text.split(b"\r\n\r\n")[0]
            length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
            self.wanted = len(head) + 4 + length
        if self.wanted and len(self.text) >= self.wanted:
            self.pictures += b" 200 " in self.text[:20]
            self.refused += b" 503 " in self.text[:20]
            self.text, self.wanted, self.asked = b"", 0, False


def connect(port: int, heard: ListenerResult) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port))
    ask(connection, heard.path)
    return connection


def ask(connection: socket.socket, path: str) -> None:
    connection.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())


def listen_for(port: int, after: int, seconds: float) -> dict[str, object]:
    """What clients that know all records up to `after` heard in `seconds`.

    Prints on stdout when all have joined.
    """
    streams = [ListenerResult(f"/api/v1/stream?after={after}") for _ in range(STREAMS)]
    pictures = [ListenerResult("/api/v1/camera.jpg") for _ in range(PICTURES)]
    selector = selectors.DefaultSelector()
    for heard in streams + pictures:
        connection = connect(port, heard)
        connection.setblocking(False)
        selector.register(connection, selectors.EVENT_READ, heard)
    print("joined", flush=True)
    joined_s, joined_cpu_s = time.monotonic(), time.process_time()
    while (now := time.monotonic()) < joined_s + seconds:
        for key, _ in selector.select(0.02):
            data = key.fileobj.recv(2**18)
            assert data, f"{key.data.path} was hung up"
            key.data.read(data)
        for key in list(selector.get_map().values())[STREAMS:]:
            if not key.data.asked and now > key.data.due_s:
                key.data.due_s, key.data.asked = now + PICTURE_S, True
                ask(key.fileobj, key.data.path)
    for key in list(selector.get_map().values()):
        key.fileobj.close()
    complete = set.intersection(*(set(one.records) for one in streams))
    return {
        "joined_s": joined_s,
        "last_s": {number: max(one.records[number] for one in streams) for number in complete},
        "shown": sum(one.pictures for one in pictures),
        "refused": sum(one.refused for one in pictures),
        "cpu": (time.process_time() - joined_cpu_s) / seconds,
    }


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(listen_for(*json.loads(line))), flush=True)
