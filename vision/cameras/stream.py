"""Network cameras: MJPEG over HTTP, decoded here; RTSP and films over HTTP, by OpenCV.

For MJPEG, OpenCV reports neither why there are no frames nor that one is damaged.
"""

from __future__ import annotations

import re
import socket
import ssl
from http.client import HTTPException, HTTPResponse
from urllib import request
from urllib.error import HTTPError, URLError
from urllib.parse import SplitResult, quote, unquote, urlsplit

import cv2

from table.errors import InputError
from table.messages import Message, msg, phrase
from table.table_config import Orientation, Setup
from vision.cameras.base import CameraLost, is_unicode
from vision.cameras.live import Feed, LiveCamera, Picture
from vision.cameras.mjpeg import MjpegPictures
from vision.cameras.opencv import CaptureFeed, check_opened
from vision.cameras.video import disable_rotation

TIMEOUT_S = 4.0
"""Time without an answer after which a stream is lost. It is shorter than the patience with a live
camera, so that the reported reason is the stream's own.
"""
CHUNK = 1 << 16
MJPEG_TYPES = (
    "",
    "multipart/x-mixed-replace",
    "multipart/mixed",
    "image/jpeg",
    "image/jpg",
    "video/x-motion-jpeg",
)
TEXT_TYPES = re.compile(r"text/|application/(json|xml|xhtml\+xml|javascript)")
USUAL = phrase(
    "check the camera's app or manual for the stream address, which is often /video or /stream"
)
RTSP_PORT = 554


class HttpFeed:
    """Images of an MJPEG stream."""

    def __init__(self, response: HTTPResponse, orientation: Orientation) -> None:
        self._response = response
        self._pictures = MjpegPictures(self._more, orientation)
        self._taken = 0

    def picture(self) -> Picture:
        """The next whole image; raises CameraLost."""
        image = self._pictures.next()
        self._taken += 1
        return Picture(image)

    def close(self) -> None:
        """Close the connection."""
        self._response.close()

    def _more(self) -> bytes:
        try:
            data = self._response.read1(CHUNK)
        except TimeoutError as error:
            raise CameraLost(
                msg(
                    "it sent nothing for {mm} s; check that the camera is on and its app is"
                    " in the foreground",
                    mm=f"{TIMEOUT_S:g}",
                )
            ) from error
        except (OSError, HTTPException) as error:
            raise CameraLost(msg("the connection broke ({raw})", raw=error)) from error
        if not data and self._taken == 1 and _content_type(self._response).startswith("image/"):
            raise CameraLost(
                msg(
                    "it sent one picture and ended: this address is for single pictures,"
                    " not for a stream; {text}",
                    text=USUAL,
                )
            )
        if not data:
            raise CameraLost(
                msg("the stream ended")
                if self._taken
                else msg("the stream ended without a picture; {text}", text=USUAL)
            )
        return data


def open_camera(argument: str, setup: Setup | None) -> LiveCamera:
    """`stream:URL`: MJPEG over HTTP, or RTSP, as phones and network cameras send it.

    Raises InputError for an invalid address.
    """
    url = _split_address(argument)
    name = phrase("stream of {name}", name=url.hostname)
    orientation: Orientation = setup.camera.orientation if setup is not None else "sensor"

    def by_opencv() -> Feed:
        patience = [
            cv2.CAP_PROP_OPEN_TIMEOUT_MSEC,
            round(1000 * TIMEOUT_S),
            cv2.CAP_PROP_READ_TIMEOUT_MSEC,
            round(1000 * TIMEOUT_S),
        ]
        capture = cv2.VideoCapture(argument, cv2.CAP_FFMPEG, patience)
        if not capture.isOpened() and url.scheme == "rtsp":
            capture.release()
            raise CameraLost(msg("{name}: {text}", name=name, text=_rtsp_refusal(url)))
        check_opened(capture, name)
        return CaptureFeed(capture, turn=disable_rotation(capture, False, orientation, name))

    def connect() -> Feed:
        if url.scheme == "rtsp":
            return by_opencv()
        response = _answer(url, name)
        kind = _content_type(response)
        if kind in MJPEG_TYPES:
            return HttpFeed(response, orientation)
        response.close()
        if TEXT_TYPES.match(kind):
            got = phrase("a web page") if "html" in kind else phrase("text ({kind})", kind=kind)
            raise CameraLost(
                msg(
                    "{name}: expected a stream of JPEGs (MJPEG) at {path}, got {text}; {text2}",
                    name=name,
                    path=url.path or "/",
                    text=got,
                    text2=USUAL,
                )
            )
        return by_opencv()

    return LiveCamera(name, connect, setup)


def _split_address(address: str) -> SplitResult:
    """The parts of an address; raises InputError, without showing a password."""
    try:
        url = urlsplit(address)
        fits = (
            url.scheme in ("http", "https", "rtsp")
            and bool(url.hostname)
            and (url.port is None or url.port > 0)
        )
        fits = (
            fits
            and is_unicode(address)
            and address.isprintable()
            and bool(str(url.hostname).encode("idna"))
        )
    except ValueError:
        fits = False
    if not fits:
        raise InputError(
            msg(
                "camera: stream: expected an address such as stream:http://192.168.1.20:8080/video"
                " or stream:rtsp://..., got {raw}",
                raw=repr(_redact_password(address)),
            )
        )
    return url


def _redact_password(address: str) -> str:
    """An address without its password."""
    before, at, after = address.rpartition("@")
    return f"{before.partition('://')[0]}://...@{after}" if at else address


def _answer(url: SplitResult, name: str) -> HTTPResponse:
    """The camera's response; raises CameraLost with the reason if it is no stream."""
    host = f"[{url.hostname}]" if ":" in str(url.hostname) else str(url.hostname)
    place = host if url.port is None else f"{host}:{url.port}"
    path = quote(url.path or "/", safe="/%:=&?~+!$,;'@()*") + (
        f"?{quote(url.query, safe='/%:=&?~+!$,;@()*')}" if url.query else ""
    )
    address = f"{url.scheme}://{place}{path}"
    try:
        response = _opener(url, address).open(address, timeout=TIMEOUT_S)
    except HTTPError as error:
        error.close()
        raise CameraLost(
            msg("{name}: {text}", name=name, text=_refusal(error.code, url))
        ) from error
    except (URLError, HTTPException, OSError, ValueError) as error:
        raise CameraLost(
            msg("{name}: {text}", name=name, text=_failure_reason(error, url))
        ) from error
    assert isinstance(response, HTTPResponse)
    return response


class _Closing(request.BaseHandler):
    """Closes a response that asks for a password before the request is repeated.

    urllib leaves it open.
    """

    handler_order = 480  # before those that ask again

    def http_error_401(self, _request: object, answer: HTTPResponse, *_words: object) -> None:
        """Close, and leave the answer to the next handler."""
        answer.close()


def _opener(url: SplitResult, address: str) -> request.OpenerDirector:
    """An opener for HTTP only, without a proxy, because a camera is on the same network."""
    opener = request.OpenerDirector()
    handlers: list[request.BaseHandler] = [
        request.HTTPHandler(),
        request.HTTPSHandler(),
        request.HTTPRedirectHandler(),
        request.HTTPDefaultErrorHandler(),
        request.HTTPErrorProcessor(),
        request.UnknownHandler(),
    ]
    if url.username is not None:
        passwords = request.HTTPPasswordMgrWithDefaultRealm()
        passwords.add_password(None, address, unquote(url.username), unquote(url.password or ""))
        handlers += [
            _Closing(),
            request.HTTPBasicAuthHandler(passwords),
            request.HTTPDigestAuthHandler(passwords),
        ]
    for handler in handlers:
        opener.add_handler(handler)
    return opener


def _content_type(response: HTTPResponse) -> str:
    """The content type without its parameters; empty if there is none."""
    return str(response.headers.get("Content-Type", "")).partition(";")[0].strip().lower()


def _refusal(code: int, url: SplitResult) -> Message:
    """What an HTTP or RTSP status means for a camera, and what to do."""
    path = url.path or "/"
    if code in (401, 407):
        if url.username is not None:
            return phrase(
                "the camera does not accept the name and password ({code}); check them", code=code
            )
        return phrase(
            "the camera asks for a name and a password ({code}); put them before its"
            " address: stream:{raw}://NAME:PASSWORD@{raw2}/...",
            code=code,
            raw=url.scheme,
            raw2=url.hostname,
        )
    if code in (404, 410):
        return phrase(
            "the camera has nothing at {path} ({code}); {text}", path=path, code=code, text=USUAL
        )
    if code == 403:
        return phrase(
            "the camera denies access to {path} ({code}); check in its settings who may view it",
            path=path,
            code=code,
        )
    if code >= 500:
        return phrase(
            "the camera reports an internal error ({code}); restart the camera or its app",
            code=code,
        )
    return phrase(
        "expected a stream at {path}, got status {code}; {text}", path=path, code=code, text=USUAL
    )


def _failure_reason(error: Exception, url: SplitResult) -> Message:
    """Why there is no answer, and what to do."""
    reason = (
        error.reason
        if isinstance(error, URLError) and isinstance(error.reason, Exception)
        else error
    )
    port = url.port or {"http": 80, "https": 443}.get(url.scheme, RTSP_PORT)
    match reason:
        case ssl.SSLCertVerificationError():
            advice = phrase(
                "put its certificate into the file that SSL_CERT_FILE names, or use http:// at home"
            )
            return phrase(
                "the camera's certificate is not trusted ({raw}); {text}",
                raw=reason.verify_message,
                text=advice,
            )
        case ssl.SSLError():
            return phrase(
                "no TLS at port {port} ({text}); try http:// instead of https://",
                port=port,
                text=reason.reason or phrase("it failed"),
            )
        case socket.gaierror():
            return phrase(
                "no camera named {raw} found; check the name, or use the camera's IP"
                " address such as 192.168.1.20",
                raw=url.hostname,
            )
        case ConnectionRefusedError():
            return phrase(
                "nothing answers at port {port}; start the camera's app and check the port",
                port=port,
            )
        case TimeoutError():
            return phrase(
                "the camera does not answer within {mm} s; check that it is on and in the"
                " same network",
                mm=f"{TIMEOUT_S:g}",
            )
        case ConnectionError() | HTTPException():
            return phrase(
                "port {port} answers, but does not speak {raw}; check the port",
                port=port,
                raw=url.scheme.upper(),
            )
        case ValueError():
            return phrase(
                "the camera asks for an unknown kind of login; allow Basic or Digest in its"
                " settings"
            )
        case OSError():
            return phrase(
                "the camera cannot be reached ({raw}); check that it is on and in the same network",
                raw=reason.strerror or reason,
            )
        case _:
            return phrase("the camera cannot be reached ({raw})", raw=reason)


def _rtsp_refusal(url: SplitResult) -> Message:
    """Why OpenCV got no frames by RTSP, found by a plain request (RFC 2326, 10.2)."""
    host = f"[{url.hostname}]" if ":" in str(url.hostname) else url.hostname
    port = url.port or RTSP_PORT
    question = (
        f"DESCRIBE rtsp://{host}:{port}{quote(url.path, safe='/%:=&~+')} RTSP/1.0\r\nCSeq:"
        " 1\r\nAccept: application/sdp\r\n\r\n"
    )
    try:
        with socket.create_connection((str(url.hostname), port), TIMEOUT_S) as connection:
            connection.sendall(question.encode())
            answer = connection.recv(CHUNK)
    except OSError as error:
        return _failure_reason(error, url)
    status = re.match(rb"RTSP/1\.\d (\d{3})", answer)
    if status is None:
        return phrase("port {port} answers, but does not speak RTSP; check the port", port=port)
    return (
        phrase("the camera answers, but sends no readable pictures")
        if status[1] == b"200"
        else _refusal(int(status[1]), url)
    )
