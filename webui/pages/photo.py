"""The page that measures photographs: upload one, and see its gaps ranked and drawn."""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Callable, Collection
from dataclasses import dataclass
from threading import Lock

from flask import Blueprint, Flask, Response, current_app, render_template, request
from flask.blueprints import BlueprintSetupState
from werkzeug.wrappers import Response as AnyResponse

from calibration.photo_table import mat_sheet
from calibration.sheets.catalogue import PAPER_NAMES
from table.errors import InputError, message_of
from table.messages import msg
from table.pieces import COLOURS
from table.text import printable
from webui.interfaces import InPhoto, MeasuredPhoto, PhotoReader
from webui.pages.sheets import sheet_answer
from webui.security.incoming import LARGER_BODIES, MOST_UPLOAD_BYTES
from webui.security.requests import Refusal
from webui.site import bare_app

ADDRESS = "/measure"
MOST_FILE_BYTES = 48 << 20
"""Maximum size of a photograph, as in `vision.cameras.photographs`."""
MOST_AT_ONCE = 6
"""Maximum number of photographs per request."""
MOST_KEPT, MOST_KEPT_BYTES = 12, 96 << 20
"""Limits of the store of photographs, which can be shown or measured again with other colours."""
BUSY_S = 30.0
"""Longest wait for another photograph's measurement."""
MOST_NAME = 60


@dataclass(frozen=True, slots=True)
class Photo:
    """An uploaded photograph: its file, and its measurement or the reason for none."""

    id: str
    name: str
    data: bytes
    measured: MeasuredPhoto | None
    refusal: str = ""

    @property
    def size_bytes(self) -> int:
        """Memory used, in bytes."""
        return len(self.data) + (len(self.measured.jpeg) if self.measured else 0)


class Photos:
    """The newest photographs, by unguessable ids.  Thread-safe."""

    def __init__(self, read: PhotoReader) -> None:
        self._read = read
        self._kept: OrderedDict[str, Photo] = OrderedDict()
        self._lock, self._reading = Lock(), Lock()

    def measure(self, data: bytes, name: str, named: InPhoto, id_: str = "") -> Photo:
        """Measure a photograph, one at a time; raises Refusal if too many wait.

        With `id_` it replaces an earlier one.
        """
        if not self._reading.acquire(timeout=BUSY_S):
            raise Refusal(503, "busy", msg("Too many photos at once; try again."), 10)
        id_ = id_ or secrets.token_urlsafe(12)
        try:
            photo = Photo(id_, name, data, self._read(data, name, named))
        except InputError as error:
            photo = Photo(id_, name, data, None, message_of(error))
        finally:
            self._reading.release()
        self._add(photo)
        return photo

    def find(self, id_: str) -> Photo:
        """A stored photograph; raises Refusal if it is gone."""
        with self._lock:
            photo = self._kept.get(id_)
        if photo is None:
            raise Refusal(404, "no_photo", msg("This photo is no longer stored; send it again."))
        return photo

    def _add(self, photo: Photo) -> None:
        with self._lock:
            self._kept.pop(photo.id, None)
            self._kept[photo.id] = photo
            while len(self._kept) > 1 and (
                len(self._kept) > MOST_KEPT
                or sum(one.size_bytes for one in self._kept.values()) > MOST_KEPT_BYTES
            ):
                self._kept.popitem(last=False)


def photo_pages(read: PhotoReader, sample: Callable[[], bytes]) -> Blueprint:
    """The page at /measure, for any application; `sample` gives a photograph to try."""
    routes, photos = Blueprint("photo", __name__), Photos(read)

    @routes.record
    def admit_uploads(state: BlueprintSetupState) -> None:
        larger = state.app.config.setdefault(LARGER_BODIES, {})
        larger[ADDRESS] = MOST_UPLOAD_BYTES

    @routes.get(ADDRESS)
    def page() -> str:
        return _page(())

    @routes.post(ADDRESS)
    def send() -> str:
        named = _colours_of_form()
        if "sample" in request.form:
            return _page([photos.measure(sample(), "mat.jpg", named)])
        files = [file for file in request.files.getlist("photo") if file.filename]
        if not 1 <= len(files) <= MOST_AT_ONCE:
            raise Refusal(
                400,
                "no_photo",
                msg("Expected 1 to {n} photos, got {n2}.", n=MOST_AT_ONCE, n2=len(files)),
            )
        names = [printable(file.filename or "")[-MOST_NAME:] for file in files]
        return _page(
            [
                photos.measure(file.read(), name, named)
                for file, name in zip(files, names, strict=True)
            ]
        )

    @routes.post(f"{ADDRESS}/<id_>")
    def again(id_: str) -> str:
        photo = photos.find(id_)
        return _page([photos.measure(photo.data, photo.name, _colours_of_form(), photo.id)])

    @routes.get(f"{ADDRESS}/<id_>.jpg")
    def drawn(id_: str) -> AnyResponse:
        photo = photos.find(id_)
        if photo.measured is None:
            raise Refusal(404, "no_photo", photo.refusal)
        answer = Response(photo.measured.jpeg, mimetype="image/jpeg")
        if "download" in request.args:
            answer.headers["Content-Disposition"] = 'attachment; filename="gaps.jpg"'
        return answer

    @routes.get(f"{ADDRESS}/mat-<paper>.pdf")
    def mat(paper: str) -> AnyResponse:
        return sheet_answer(mat_sheet(), paper)

    return routes


def _page(photos: Collection[Photo]) -> str:
    return render_template(
        "photo.html",
        photos=photos,
        colours=COLOURS,
        papers=PAPER_NAMES,
        most_bytes=MOST_FILE_BYTES,
        token=current_app.config["FORM_TOKEN"],
    )


def _colours_of_form() -> InPhoto:
    """The colours in a form; raises Refusal for an unknown one."""
    target, colours = request.form.get("target", ""), tuple(request.form.getlist("colour"))
    for colour in (*colours, target or COLOURS[0]):
        if colour not in COLOURS:
            raise Refusal(
                400,
                "bad_colour",
                msg(
                    "Expected colours ({raw}), got '{raw2}'.",
                    raw=", ".join(COLOURS),
                    raw2=colour[:40],
                ),
            )
    return InPhoto(target, tuple(one for one in colours if one != target))


def create_photo_app(
    read: PhotoReader, sample: Callable[[], bytes], hosts: Collection[str] = ()
) -> Flask:
    """An application with this page only, at / and /measure."""
    app = bare_app(hosts)
    app.register_blueprint(photo_pages(read, sample))
    app.add_url_rule("/", view_func=app.view_functions["photo.page"])
    return app
