"""`rinkside calibrate check`: how accurate a table's calibration is, in millimetres.

It also says whether calls can be trusted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import click
import cv2
import numpy as np
from rich.box import SIMPLE_HEAD
from rich.markup import escape
from rich.table import Table

from calibration.quality.check import (
    BY_HAND_MM,
    Distance,
    Residual,
    Spread,
    StillImage,
    card_distance,
    fiducial_residuals,
    larger_than_predicted,
    look,
    piece_residuals,
    spread,
)
from calibration.quality.error_model import EDGE_PX, ErrorMap, Errors, edge_px, error_map
from calibration.quality.gap_error import GapsHere, gaps_here
from calibration.quality.report import Report, Row, Tone, draw_map, page
from calibration.table.placement import read_frames
from cli.options import table_option
from cli.terminal import console, progress, say, say_written
from table.errors import InputError
from table.files import check_output, write_whole
from table.formatting import beside
from table.games import measuring
from table.measured_text import Z_95, with_margin
from table.messages import msg
from table.table_config import Setup, load_table
from vision.annotate.photo import check_picture_path
from vision.cameras.frame import Image, swapped
from vision.cameras.image_files import MOST_MEGAPIXELS_TOGETHER
from vision.cameras.reconnect import take_pictures

PICTURES = 5
"""Number of pictures taken with a camera."""
RADIUS_95 = 2.45
"""Standard deviations of a coordinate within which 95 % of places on a plane are."""
NEARER = (
    "A camera that is nearer or has more pixels, or pieces that stand out from the ground, make it"
    " finer."
)
OFF_TOO_FAR, COARSE_MM = 2.0, 2.5
"""Limits of a usable calibration: error over prediction, and gap in mm that can be told apart.

Larger errors than that show a table that is not as table.json has it; with coarser gaps many calls
are left to the players.
"""


@dataclass(frozen=True, slots=True, eq=False)
class CheckResult:
    """All that was measured and predicted."""

    errors: Errors
    map: ErrorMap
    gaps: GapsHere | None
    fiducials: list[Residual]
    distance: Distance | None
    places: list[Residual]
    spread: Spread | None
    pictures: int
    larger: float | None
    """Ratio of measured to predicted errors; None where no measurement tells."""
    edges_measured: bool


@click.command()
@table_option
@click.option(
    "--from",
    "folder",
    type=click.Path(path_type=Path),
    help="Folder of pictures of the same still table, one or more.",
)
@click.option(
    "--camera",
    "spec",
    metavar="SPEC",
    help=f"Take {PICTURES} pictures with this camera instead, such as rpicam:0.",
)
@click.option("--cards", metavar="N,M", help="Numbers of two markers whose distance was measured.")
@click.option("--distance-mm", type=float, help="What was measured between the centres of --cards.")
@click.option(
    "--at",
    "places",
    metavar="X,Y",
    multiple=True,
    help="Where the base of a piece really is, in mm; may be repeated.",
)
@click.option(
    "--out", type=click.Path(path_type=Path), required=True, help="The page to write: OUT.html."
)
@click.option(
    "--picture",
    type=click.Path(path_type=Path),
    help="Write the map of errors as a picture too: OUT.png.",
)
def check(
    table_path: Path,
    folder: Path | None,
    spec: str | None,
    cards: str | None,
    distance_mm: float | None,
    places: tuple[str, ...],
    out: Path,
    picture: Path | None,
) -> None:
    """Say how far off pieces and gaps may be read on a calibrated table.

    It also says what can be measured of that.
    """
    setup = load_table(table_path)
    if out.suffix.lower() != ".html" or not out.parent.is_dir():
        raise InputError(
            msg(
                "--out: expected the name of a page, OUT.html, in an existing folder, got {out}",
                out=out,
            )
        )
    taken = list(folder.iterdir()) if folder and folder.is_dir() else []
    check_output(out, table_path, *taken)
    if picture:
        check_picture_path(picture)
        check_output(picture, out, table_path, *taken)
    measured = _cards(cards, distance_mm)
    known = [_place(text) for text in places]
    images = _images(folder, spec, setup)
    with progress(msg("Checking the table")) as count:
        stills = []
        for name, image in images.items():
            stills.append(look(name, image, setup))
            count()
        found = _check(stills, setup, measured, known)
    report = _report(found, setup, table_path)
    drawn = draw_map(
        found.map,
        setup,
        found.fiducials,
        f"Errors over the table, {found.pictures} picture{'s' * (found.pictures > 1)}",
        _below(found),
    )
    done, png = cv2.imencode(".png", swapped(drawn))
    assert done, "a uint8 picture can be written as PNG"
    write_whole(out, page(report, png.tobytes()).encode())
    if picture:
        write_whole(picture, png.tobytes())
    _print(report)
    say(msg("{path}: written, with the map of errors and what each figure rests on.", path=out))
    if picture:
        say_written(picture)


def _cards(cards: str | None, distance_mm: float | None) -> tuple[tuple[int, int], float] | None:
    if (cards is None) != (distance_mm is None):
        raise InputError(
            msg(
                "expected --cards N,M and --distance-mm together: two markers, and the"
                " measured distance between their centres"
            )
        )
    if cards is None or distance_mm is None:
        return None
    ids = [part.strip() for part in cards.split(",")]
    if (
        len(ids) != 2
        or not all(part.isascii() and part.isdigit() for part in ids)
        or int(ids[0]) == int(ids[1])
    ):
        raise InputError(
            msg(
                "--cards: expected the numbers of two markers, such as 10,11, got {raw}",
                raw=repr(cards),
            )
        )
    if not 20 <= distance_mm <= 10000:
        raise InputError(
            msg("--distance-mm: expected 20 to 10000 mm, got {mm}", mm=f"{distance_mm:g}")
        )
    return (int(ids[0]), int(ids[1])), distance_mm


def _place(text: str) -> tuple[float, float]:
    try:
        x, y = (float(part) for part in text.split(","))
    except ValueError:
        x = y = np.nan
    if not np.isfinite([x, y]).all():
        raise InputError(
            msg(
                "--at: expected a position on the table in mm, such as 120,85.5, got {raw}",
                raw=repr(text),
            )
        )
    return x, y


def _images(folder: Path | None, spec: str | None, setup: Setup) -> Mapping[str, Image]:
    """Pictures by name, of a folder or a camera.

    Those of a folder stay in memory all together, so their number is limited. Raises InputError.
    """
    if (folder is None) == (spec is None):
        raise InputError(
            msg("expected pictures of the table at rest: either --from FOLDER or --camera SPEC")
        )
    if folder is not None:
        frames = read_frames(folder, setup.camera)
        most = max(
            1, int(1e6 * MOST_MEGAPIXELS_TOGETHER / (setup.camera.width * setup.camera.height))
        )
        if len(frames) > most:
            raise InputError(
                msg(
                    "{folder}: expected at most {n} pictures of this size, got {n2}; remove some",
                    folder=folder,
                    n=most,
                    n2=len(frames),
                )
            )
        return frames
    assert spec is not None
    return {
        f"picture {number}": image
        for number, image in enumerate(take_pictures(spec, setup, PICTURES), 1)
    }


def _check(
    stills: list[StillImage],
    setup: Setup,
    measured: tuple[tuple[int, int], float] | None,
    known: list[tuple[float, float]],
) -> CheckResult:
    """All figures of the pictures, which show the same still table."""
    measured_px = edge_px([(still.seen, still.image) for still in stills], setup)
    errors = Errors(stills[0].seen.camera, setup, EDGE_PX if measured_px is None else measured_px)
    fiducials = fiducial_residuals(stills, errors)
    distance = card_distance(stills, *measured, errors) if measured else None
    places = piece_residuals(stills, known)
    larger = larger_than_predicted([*fiducials, *([distance.residual] if distance else [])])
    errors = replace(errors, larger=max(1.0, larger or 1.0))
    return CheckResult(
        errors,
        error_map(errors),
        gaps_here(errors),
        fiducials,
        distance,
        places,
        spread(stills, setup),
        len(stills),
        larger,
        measured_px is not None,
    )


def _report(found: CheckResult, setup: Setup, table_path: Path) -> Report:
    verdict, tone = _verdict(found)
    rows = [*_measured_rows(found), *_predicted_rows(found, setup)]
    return Report(f"Check of {table_path.name}", verdict, tone, tuple(rows))


def _verdict(found: CheckResult) -> tuple[str, Tone]:
    """Say whether calls can be trusted here."""
    if fault := _wrong_lengths(found) or _moved_cards(found) or _pieces_far_off(found):
        return f"Calls cannot be trusted here: {fault}", "bad"
    if found.gaps is None:
        return (
            "Places can be trusted as far as the map says; the board has no room for throws, so"
            " nothing is said of gaps."
        ), "good"
    return _verdict_on_gaps(found.gaps)


def _wrong_lengths(found: CheckResult) -> str:
    """How wrong lengths are read, and what to do; empty where they are as expected or not known."""
    distance = found.distance
    if distance and distance.residual.squared > OFF_TOO_FAR**2 * Z_95**2:
        longer = 100 * (distance.seen_mm / distance.given_mm - 1)
        return (
            f"lengths are read {abs(longer):.2f} % too {'long' if longer > 0 else 'short'}. Measure"
            " the printed fiducials and the distance again, and calibrate the table anew."
        )
    return ""


def _moved_cards(found: CheckResult) -> str:
    """How far off the worst fiducial is, and what to do; empty where it is as expected."""
    if found.larger is not None and found.larger > OFF_TOO_FAR:
        worst = max(found.fiducials, key=lambda one: one.off_mm)
        return (
            f"{worst.name} is seen {worst.off_mm:.2f} mm from its place in table.json,"
            f" {found.larger:.1f} times farther than can be expected. Has a corner card or the"
            " camera's lens been moved? Calibrate the table anew."
        )
    return ""


def _pieces_far_off(found: CheckResult) -> str:
    """How many pieces are far from their known places, and what to do; empty if half or fewer."""
    far_off = [one for one in found.places if one.off_mm > RADIUS_95 * one.sigma_mm]
    if 2 * len(far_off) > len(found.places):
        return (
            f"{len(far_off)} of {len(found.places)} pieces at known places are read farther off"
            " than can be expected. Were they just there? Then calibrate the table anew."
        )
    return ""


def _verdict_on_gaps(gaps: GapsHere) -> tuple[str, Tone]:
    game, _ = measuring()
    limits = (
        f"two gaps that differ by more than {gaps.apart_mm:.1f} mm are told apart here in 95 of"
        f" 100 ({gaps.apart_95_mm:.1f} mm where pieces lie worst); closer ones are left to the"
        " players."
    )
    if gaps.apart_mm > COARSE_MM:
        return f"{game} calls are honest here, but coarse: {limits} {NEARER}", "doubtful"
    return f"{game} calls can be trusted here: {limits}", "good"


def _measured_rows(found: CheckResult) -> list[Row]:
    rows = []
    if distance := found.distance:
        name = f"distance of fiducials {distance.cards[0]} and {distance.cards[1]}"
        given = (
            f"given {distance.given_mm:.1f} mm, taken to be measured to ±"
            f" {Z_95 * BY_HAND_MM:.1f} mm"
        )
        rests = f"{given}; off by {distance.seen_mm - distance.given_mm:+.2f} mm"
        rows.append(
            Row(name, f"{with_margin(distance.seen_mm, distance.sigma_mm)} mm", "measured", rests)
        )
    for one in found.places:
        rests = (
            f"mean of {found.pictures} pictures; expected within {RADIUS_95 * one.sigma_mm:.2f} mm,"
            " with what a hand is off"
        )
        off = beside(one.off_mm, RADIUS_95 * one.sigma_mm, 2)
        rows.append(Row(f"piece put at {one.name}", f"{off} mm off", "measured", rests))
    if found.spread:
        rests = (
            f"{found.spread.pieces} pieces in {found.spread.pictures} pictures of the same still"
            " table; what all pictures share is not in it"
        )
        rows.append(
            Row(
                "repeatability, x and y each",
                f"± {Z_95 * found.spread.sigma_mm:.2f} mm",
                "measured",
                rests,
            )
        )
    if found.fiducials:
        worst = max(found.fiducials, key=lambda one: one.off_mm)
        expected = RADIUS_95 * max(one.sigma_mm for one in found.fiducials)
        rests = (
            f"each against the others; expected within {expected:.2f} mm; the worst is {worst.name}"
        )
        rows.append(
            Row(
                "fiducials off their places",
                f"up to {beside(worst.off_mm, expected, 2)} mm",
                "measured",
                rests,
            )
        )
    return rows


def _predicted_rows(found: CheckResult, setup: Setup) -> list[Row]:
    size = min(setup.sizes, key=lambda one: one.base_mm)
    edges = (
        "as told here"
        if found.edges_measured
        else "as on drawn tables: lay pieces on the table to have its own"
    )
    lens = (
        "lens's uncertainty included"
        if setup.camera.covariance
        else "lens not calibrated here; results may be off: table.json has no camera.covariance"
    )
    rows = []
    for what, values in (("lying", found.map.lying_mm), ("standing", found.map.standing_mm)):
        figure = f"{values.min():.2f} to {values.max():.2f} mm"
        rows.append(
            Row(
                f"place of a {what} {size} piece, 95 %",
                figure,
                "predicted",
                f"edges to {found.errors.edge_px:.2f} px, {edges}; {lens}",
            )
        )
    if found.gaps:
        rests = f"made-up throws of {size} pieces all over the board, measured as calls are"
        rows.append(Row("a gap", f"± {Z_95 * found.gaps.sigma_mm:.2f} mm", "predicted", rests))
        apart, worst = (f"{mm:.2f} mm" for mm in (found.gaps.apart_mm, found.gaps.apart_95_mm))
        rows.append(
            Row(
                "two gaps told apart in 95 of 100",
                f"from {apart}",
                "predicted",
                f"from {worst} where pieces lie worst",
            )
        )
    if found.larger is not None:
        rests = "fiducials and distance; " + (
            "what pieces share is predicted larger by as much"
            if found.larger > 1
            else "no larger than predicted"
        )
        rows.append(
            Row(
                "errors measured, over those predicted",
                f"{found.larger:.1f} times",
                "measured",
                rests,
            )
        )
    pixel = found.map.pixel_mm
    rows.append(
        Row(
            "a pixel shows",
            f"{pixel.min():.2f} to {pixel.max():.2f} mm",
            "measured",
            "by the camera's place and lens",
        )
    )
    return rows


def _below(found: CheckResult) -> str:
    edges = "measured here" if found.edges_measured else "as on drawn tables"
    lens = "with" if found.errors.setup.camera.covariance else "without"
    return (
        f"Predicted: edges of pieces to {found.errors.edge_px:.2f} px, {edges}; {lens} the lens's"
        " doubt."
    )


def _print(report: Report) -> None:
    output = console()
    table = Table(
        box=SIMPLE_HEAD, caption='± and "95 %" hold 95 of 100 true values', caption_justify="left"
    )
    for heading in ("what", "figure", ""):
        table.add_column(
            heading, justify="right" if heading == "figure" else "left", no_wrap=heading != "what"
        )
    for row in report.rows:
        table.add_row(escape(row.what), row.figure, row.how)
    output.print(table)
    output.print(escape(report.verdict), highlight=False)
