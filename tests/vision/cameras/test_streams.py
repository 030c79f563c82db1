"""Streams against real servers on this machine: pictures, and every way to send none."""

from __future__ import annotations

import base64
import shutil
import socket
import ssl
import subprocess
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from table.errors import InputError
from tests.support.live_cameras import SETUP
from tests.support.pictures import HEIGHT, WIDTH, exif, jpeg
from vision.cameras import stream
from vision.cameras.base import CameraLost, open_camera

LOGIN = "Basic " + base64.b64encode(b"anna:pa ss").decode()
WHOLE = jpeg()
DAMAGED = WHOLE[:-60] + WHOLE[-2:]
SMALL = jpeg(width=64, height=48)
ON_ITS_SIDE = WHOLE[:2] + exif(6) + WHOLE[2:]
STREAMS = {
    "/video": [WHOLE] * 12,
    "/some": [DAMAGED, WHOLE, DAMAGED, WHOLE],
    "/most": [DAMAGED] * 12,
    "/small": [SMALL] * 12,
    "/side": [ON_ITS_SIDE] * 12,
    "/none": [],
}
ANSWERS = {
    "/503": (503, "text/html", b"<html>busy</html>"),
    "/403": (403, "text/html", b""),
    "/418": (418, "text/html", b""),
    "/page": (200, "text/html; charset=utf-8", b"<html>IP camera</html>"),
    "/status": (200, "application/json", b"{}"),
    "/shot.jpg": (200, "image/jpeg", WHOLE),
    "/text": (200, "multipart/x-mixed-replace; boundary=x", b"no pictures at all"),
}


class Phone(BaseHTTPRequestHandler):
    """A camera with an answer for each path; at /changing the size of its pictures changes once the
    first was taken.
    """

    go = threading.Event()

    def do_GET(self):
        path = self.path.partition("?")[0]
        if path == "/locked" and self.headers.get("Authorization") != LOGIN:
            self.answer(401, "text/html", b"", {"WWW-Authenticate": 'Basic realm="camera"'})
        elif path == "/digest" and not self.headers.get("Authorization", "").startswith(
            'Digest username="anna"'
        ):
            self.answer(
                401,
                "text/html",
                b"",
                {
                    "WWW-Authenticate": (
                        'Digest realm="camera", nonce="1234", qop="auth", algorithm="MD5"'
                    )
                },
            )
        elif path == "/bearer":
            self.answer(401, "text/html", b"", {"WWW-Authenticate": "Bearer"})
        elif path == "/moved":
            self.answer(302, "text/html", b"", {"Location": "/video"})
        elif path in ("/silent", "/changing"):
            self.begin()
            if path == "/changing":
                self.part(WHOLE)
            self.wfile.flush()
            self.go.wait(20)
            if path == "/changing":
                self.part(SMALL)
        elif path in ANSWERS:
            self.answer(*ANSWERS[path])
        elif path in (*STREAMS, "/locked", "/digest"):
            self.begin()
            for data in STREAMS[path if path in STREAMS else "/video"]:
                self.part(data)
        else:
            self.answer(404, "text/html", b"<html>not found</html>")

    def begin(self):
        self.send_response(200)
        self.send_header("Content-Type", "multipart/x-mixed-replace; boundary=frame")
        self.end_headers()

    def part(self, data):
        self.wfile.write(
            b"--frame\r\nContent-Type: image/jpeg\r\nContent-Length: %d\r\n\r\n" % len(data)
            + data
            + b"\r\n"
        )

    def answer(self, code, kind, body, more=()):
        self.send_response(code)
        self.send_header("Content-Type", kind)
        for name, value in dict(more).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """Quiet."""


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        """Quiet: cameras are let go of in the middle of a picture."""


@pytest.fixture(scope="module")
def phone():
    server = Server(("127.0.0.1", 0), Phone)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield f"127.0.0.1:{server.server_port}"
    Phone.go.set()
    server.shutdown()
    server.server_close()


@pytest.fixture
def a_moment(monkeypatch):
    monkeypatch.setattr(stream, "TIMEOUT_S", 0.2)


@contextmanager
def speaking(*answers):
    """A server that says one thing to each connection, whatever it is asked; its port."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve():
            for answer in answers:
                try:
                    connection, _ = listening.accept()
                except OSError:
                    return
                with connection:
                    connection.recv(4096)
                    connection.sendall(answer)

        threading.Thread(target=serve, daemon=True).start()
        yield listening.getsockname()[1]


def reason(address):
    """Why there are no pictures, in one line."""
    camera = open_camera(f"stream:{address}", SETUP)
    try:
        with pytest.raises(CameraLost) as error:
            list(iter(camera.read, None))
    finally:
        camera.close()
    assert "\n" not in str(error.value)
    assert "pa ss" not in str(error.value)
    return str(error.value)


def test_a_stream_of_a_phone_is_read_until_it_ends(phone):
    camera = open_camera(f"stream:http://{phone}/video", SETUP)
    try:
        frame = camera.read()
        assert frame.image.shape == (HEIGHT, WIDTH, 3)
        assert frame.image[HEIGHT // 2, 10, 0] > 150 > frame.image[HEIGHT // 2, 10, 2]
        with pytest.raises(CameraLost, match=r"stream of 127\.0\.0\.1: the stream ended"):
            list(iter(camera.read, None))
    finally:
        camera.close()


@pytest.mark.parametrize("path", ["/video?width=96&x=%20y", "/moved"])
def test_a_stream_is_found_by_its_whole_address_and_where_it_moved_to(phone, path):
    camera = open_camera(f"stream:http://{phone}{path}", SETUP)
    assert camera.read().image.shape == (HEIGHT, WIDTH, 3)
    camera.close()


@pytest.mark.parametrize("path", ["/locked", "/digest"])
def test_a_name_and_password_open_a_stream(phone, path):
    camera = open_camera(f"stream:http://anna:pa%20ss@{phone}{path}", SETUP)
    assert camera.read().image.shape == (HEIGHT, WIDTH, 3)
    camera.close()


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (
            "/locked",
            (
                "the camera asks for a name and a password (401); put them before its"
                " address: stream:http://NAME:PASSWORD@127.0.0.1/..."
            ),
        ),
        ("/bearer", "the camera asks for a name and a password (401)"),
        ("/403", "the camera denies access to /403 (403)"),
        (
            "/nothing",
            (
                "the camera has nothing at /nothing (404); check the camera's app or manual"
                " for the stream address"
            ),
        ),
        ("/503", "the camera reports an internal error (503); restart the camera or its app"),
        ("/418", "expected a stream at /418, got status 418"),
        (
            "/page",
            "expected a stream of JPEGs (MJPEG) at /page, got a web page; check the camera's app",
        ),
        ("/status", "got text (application/json)"),
        ("/shot.jpg", "it sent one picture and ended: this address is for single pictures"),
        ("/none", "the stream ended without a picture"),
        ("/text", "the stream ended without a picture"),
        ("/most", "of its last 10 pictures were damaged; check its cable or network"),
    ],
)
def test_every_answer_that_is_no_stream_has_its_own_sentence(phone, path, message):
    assert message in reason(f"http://{phone}{path}")


def test_a_wrong_password_is_said_and_not_shown(phone):
    assert "the camera does not accept the name and password (401); check them" in reason(
        f"http://anna:wrong@{phone}/locked"
    )


@pytest.mark.usefixtures("a_moment")
def test_a_stream_that_sends_nothing_is_lost(phone):
    assert (
        "it sent nothing for 0.2 s; check that the camera is on and its app is in the foreground"
    ) in reason(f"http://{phone}/silent")


@pytest.mark.usefixtures("a_moment")
def test_a_camera_that_takes_the_connection_and_never_answers_is_lost():
    with socket.create_server(("127.0.0.1", 0)) as listening:
        assert "the camera does not answer within 0.2 s" in reason(
            f"http://127.0.0.1:{listening.getsockname()[1]}/"
        )


def test_a_port_where_nothing_listens_is_said():
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    assert f"nothing answers at port {port}; start the camera's app" in reason(
        f"http://127.0.0.1:{port}/video"
    )


def test_what_speaks_no_http_is_said():
    with speaking(b"SSH-2.0-OpenSSH_9.2\r\n") as port:
        assert f"port {port} answers, but does not speak HTTP" in reason(
            f"http://127.0.0.1:{port}/video"
        )
    with speaking(b"") as port:
        assert f"port {port} answers, but does not speak HTTP" in reason(
            f"http://127.0.0.1:{port}/video"
        )


def test_a_name_that_no_camera_has_is_said():
    assert "no camera named camera.invalid found" in reason("http://camera.invalid/video")


def test_a_camera_without_tls_is_said(phone):
    assert "no TLS at port" in reason(f"https://{phone}/video")


@pytest.mark.skipif(
    shutil.which("openssl") is None, reason="openssl, which makes the certificate, is not installed"
)
def test_a_certificate_that_nobody_vouches_for_is_said_and_can_be_named(tmp_path, monkeypatch):
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    words = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "1",
        "-subj",
        "/CN=phone",
        "-keyout",
        key,
        "-out",
        certificate,
    ]
    subprocess.run(
        [*words, "-addext", "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server = Server(("127.0.0.1", 0), Phone)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        address = f"https://127.0.0.1:{server.server_port}/video"
        message = reason(address)
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        camera = open_camera(f"stream:{address}", SETUP)
        assert camera.read().image.shape == (HEIGHT, WIDTH, 3)
        camera.close()
    finally:
        server.shutdown()
        server.server_close()
    assert "the camera's certificate is not trusted" in message
    assert "the file that SSL_CERT_FILE names" in message


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (b"RTSP/1.0 404 Not Found\r\nCSeq: 1\r\n\r\n", "the camera has nothing at /live (404)"),
        (
            b"RTSP/1.0 401 Unauthorized\r\nCSeq: 1\r\n\r\n",
            "the camera asks for a name and a password (401)",
        ),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "does not speak RTSP"),
    ],
)
def test_why_there_are_no_pictures_by_rtsp_is_said(status, message):
    with speaking(*[status] * 8) as port:
        assert message in reason(f"rtsp://127.0.0.1:{port}/live")


# --- pictures that cannot be used ---


def test_damaged_pictures_of_a_stream_are_left_out(phone):
    camera = open_camera(f"stream:http://{phone}/some", SETUP)
    frame = camera.read()
    camera.close()
    assert np.abs(frame.image.astype(int) - stream_picture()).mean() < 3


def stream_picture():
    camera_picture = np.zeros((HEIGHT, WIDTH, 3), int)
    camera_picture[:, : WIDTH // 2, 0] = camera_picture[:, WIDTH // 2 :, 2] = 200
    camera_picture[:, :, 1] = np.random.default_rng(0).integers(0, 30, (HEIGHT, 1))
    return camera_picture


def test_a_stream_of_another_size_than_the_tables_is_refused(phone):
    camera = open_camera(f"stream:http://{phone}/small", SETUP)
    with pytest.raises(
        InputError,
        match=(
            r"stream of 127\.0\.0\.1: expected 96 x 80 px as in table\.json, got 64 x 48 px;"
            r" calibrate the lens"
        ),
    ):
        camera.read()


def test_a_stream_that_becomes_another_size_is_refused(phone):
    camera = open_camera(f"stream:http://{phone}/changing", SETUP)
    assert camera.read().image.shape == (HEIGHT, WIDTH, 3)
    Phone.go.set()
    try:
        with pytest.raises(InputError, match="expected 96 x 80 px as in table"):
            camera.read()
    finally:
        Phone.go.clear()


def test_a_stream_on_its_side_is_refused(phone):
    camera = open_camera(f"stream:http://{phone}/side", SETUP)
    with pytest.raises(
        InputError,
        match=r"stream of 127\.0\.0\.1: its picture: expected a picture that is not rotated",
    ):
        camera.read()


# --- addresses ---


@pytest.mark.parametrize(
    "address",
    [
        "",
        "video.mp4",
        "file:///etc/passwd",
        "http://",
        "ftp://me:secret@there/x",
        "http://[::1",
        "http://me:secret@there:99999/",
        "http://there:0/",
        "http://there/\ud83d",
        "http://there/\nHost: x",
        "http://" + "a" * 70 + ".example/",
    ],
)
def test_what_is_no_stream_is_refused_and_passwords_are_not_shown(address):
    with pytest.raises(InputError, match="expected an address such as") as error:
        open_camera(f"stream:{address}", SETUP)
    assert "secret" not in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "address",
    [
        "http://[::1]:8080/video",
        "http://10.0.0.7:8080/a:b@c",
        "rtsp://me:it@10.0.0.7:554/live",
        "https://kamera.küche/v",
    ],
)
def test_ports_colons_and_names_stay_what_they_are(address):
    assert open_camera(f"stream:{address}", SETUP).name.startswith("stream of ")
