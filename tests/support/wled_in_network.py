"""A double of a WLED controller in the network: real sockets, read as the firmware reads them."""

from __future__ import annotations

import json
import socket
import struct
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from hardware.backends.wled_network import Address

PATIENCE_S = 20.0


class WledInNetwork:
    """Reads DDP as `wled00/e131.cpp` does, and answers the JSON API.

    `answer` is what `/json/info` says; None: 503, as of a controller that is too busy.
    """

    def __init__(self, lamps: int) -> None:
        self.pixels = [(0, 0, 0)] * lamps
        self.shown = 0
        self.states: list[dict[str, object]] = []
        self.asked = threading.Semaphore(0)
        self.answer: object = {"ver": "0.15.0", "brand": "WLED", "uptime": 100} | {
            "leds": {"count": lamps}
        }
        self._udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._udp.bind(("127.0.0.1", 0))
        self._udp.settimeout(PATIENCE_S)
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,))
        self._thread.start()

    @property
    def address(self) -> Address:
        return Address("127.0.0.1", self._http.server_port, self._udp.getsockname()[1])

    def receive(self) -> None:
        """Take packets until a frame is shown."""
        while True:
            packet = self._udp.recv(2000)
            flags, _, kind, _, begin, length = struct.unpack(">BBBBIH", packet[:10])
            assert flags & 0xC0 == 0x40, "version 1"
            assert kind == 0x0B, "RGB, 8 bits each"
            assert len(packet) == 10 + length
            data = packet[10:]
            for at in range(length // 3):
                if begin // 3 + at < len(self.pixels):
                    red, green, blue = data[3 * at : 3 * at + 3]
                    self.pixels[begin // 3 + at] = (red, green, blue)
            if flags & 1:
                self.shown += 1
                return

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        double = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                assert self.path == "/json/info"
                double.asked.release()
                self._say(double.answer)

            def do_POST(self) -> None:
                assert self.path == "/json/state"
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if double.answer is not None:
                    double.states.append(json.loads(body))
                self._say(None if double.answer is None else {"success": True})

            def _say(self, document: object) -> None:
                text = document if isinstance(document, bytes) else json.dumps(document).encode()
                self.send_response(503 if document is None else 200)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_said: object) -> None:
                return

        return Handler

    def stop_answering(self) -> None:
        """Nothing listens for HTTP any more."""
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    def close(self) -> None:
        if self._thread.is_alive():
            self.stop_answering()
        self._udp.close()
