"""`rinkside calibrate check`: accuracy of a calibration in mm, and reliability of calls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import click
import cv2
import numpy as np
from rich.markup import escape

from calibration.quality.check import (
    BY_HAND_MM,
    Distance,
    Repeatability,
    Residual,
    StillImage,
    birge_ratio,
    card_distance,
    fiducial_residuals,
    piece_residuals,
    read_still,
    repeatability,
)
from calibration.quality.error_model import EDGE_PX, ErrorMap, Errors, edge_px, error_map
from calibration.quality.gap_error import GapAccuracy, gap_accuracy
from calibration.quality.report import HOW, MARGINS, Report, Row, Tone, draw_map, page
from calibration.table.placement import read_frames
from cli.options import table_option
from cli.terminal import console, in_language, language, new_table, progress, say, say_written
from table.boards import Point
from table.errors import InputError
from table.files import check_output, write_whole
from table.formatting import beside
from table.games import measuring
from table.measured_text import Z_95, with_margin
from table.messages import Message, msg, phrase, phrases, sentences
from table.solids import Array
from table.table_config import Setup, load_table
from vision.annotate.photo import check_picture_path
from vision.cameras.frame import Image, swapped
from vision.cameras.image_files import MOST_MEGAPIXELS_TOGETHER
from vision.cameras.reconnect import take_pictures

PICTURES = 5
"""Number of pictures taken with a camera."""
RADIUS_95 = 2.45
"""Radius of the 95 % circle of a plane normal distribution, in standard deviations per axis."""
OFF_TOO_FAR, COARSE_MM = 2.0, 2.5
"""Limits of a usable calibration: ratio of measured to predicted error, resolution of gaps in mm.

A larger ratio means that the table differs from table.json. With a coarser resolution many calls
are left to the players.
"""


@dataclass(frozen=True, slots=True, eq=False)
class CheckResult:
    """Measured and predicted errors."""

    errors: Errors
    map: ErrorMap
    gaps: GapAccuracy | None
    fiducials: dict[int, Residual]
    """Residuals by fiducial number."""
    distance: Distance | None
    places: dict[Point, Residual]
    spread: Repeatability | None
    pictures: int
    larger: float | None
    """Ratio of measured to predicted errors; None without a measurement."""
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
            stills.append(read_still(name, image, setup))
            count()
        found = _check(stills, setup, measured, known)
    report = _report(found, setup, table_path)
    drawn = draw_map(
        found.map,
        setup,
        found.fiducials,
        msg("Errors over the table, 1 picture")
        if found.pictures == 1
        else msg("Errors over the table, {n} pictures", n=found.pictures),
        _below(found),
        language(),
    )
    done, png = cv2.imencode(".png", swapped(drawn))
    assert done, "a uint8 picture can be written as PNG"
    write_whole(out, page(report, png.tobytes(), language()).encode())
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

    A folder's pictures are all held in memory, so their number is limited. Raises InputError.
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
        msg("picture {n}", n=number): image
        for number, image in enumerate(take_pictures(spec, setup, PICTURES), 1)
    }


def _check(
    stills: list[StillImage],
    setup: Setup,
    measured: tuple[tuple[int, int], float] | None,
    known: list[tuple[float, float]],
) -> CheckResult:
    """Evaluate pictures that all show the same still table."""
    measured_px = edge_px([(still.seen, still.image) for still in stills], setup)
    errors = Errors(stills[0].seen.camera, setup, EDGE_PX if measured_px is None else measured_px)
    fiducials = fiducial_residuals(stills, errors)
    distance = card_distance(stills, *measured, errors) if measured else None
    places = piece_residuals(stills, known)
    larger = birge_ratio([*fiducials.values(), *([distance.residual] if distance else [])])
    errors = replace(errors, larger=max(1.0, larger or 1.0))
    return CheckResult(
        errors,
        error_map(errors),
        gap_accuracy(errors),
        fiducials,
        distance,
        places,
        repeatability(stills, setup),
        len(stills),
        larger,
        measured_px is not None,
    )


def _report(found: CheckResult, setup: Setup, table_path: Path) -> Report:
    verdict, tone = _verdict(found)
    rows = [*_measured_rows(found), *_predicted_rows(found, setup)]
    return Report(msg("Check of {name}", name=table_path.name), verdict, tone, tuple(rows))


def _verdict(found: CheckResult) -> tuple[Message, Tone]:
    """A sentence on whether calls are reliable on this table, and its tone."""
    if fault := _wrong_lengths(found) or _moved_cards(found) or _pieces_far_off(found):
        return fault, "bad"
    if found.gaps is None:
        return msg(
            "Places can be trusted as far as the map says; the board has no room for throws, so"
            " nothing is said of gaps."
        ), "good"
    return _gaps_verdict(found.gaps)


def _wrong_lengths(found: CheckResult) -> Message | None:
    """Scale error of lengths, and a remedy; None if it is as expected or unknown."""
    distance = found.distance
    if distance is None or distance.residual.squared <= OFF_TOO_FAR**2 * Z_95**2:
        return None
    longer = 100 * (distance.seen_mm / distance.given_mm - 1)
    share = f"{abs(longer):.2f} %"
    return sentences(
        msg("Calls cannot be trusted here: lengths are read {share} too long.", share=share)
        if longer > 0
        else msg("Calls cannot be trusted here: lengths are read {share} too short.", share=share),
        msg(
            "Measure the printed markers and the distance again, and calibrate the table once more."
        ),
    )


def _moved_cards(found: CheckResult) -> Message | None:
    """Error of the worst fiducial, and a remedy; None if it is as expected."""
    if found.larger is None or found.larger <= OFF_TOO_FAR:
        return None
    number, worst = _worst(found.fiducials)
    return sentences(
        msg(
            "Calls cannot be trusted here: marker {n} is seen {mm} mm from its place in"
            " table.json.",
            n=number,
            mm=f"{worst.off_mm:.2f}",
        ),
        msg("That is {share} times farther than can be expected.", share=f"{found.larger:.1f}"),
        msg("Has a corner card or the camera's lens been moved? Calibrate the table once more."),
    )


def _worst(fiducials: dict[int, Residual]) -> tuple[int, Residual]:
    """The fiducial with the largest error, and that error."""
    return max(fiducials.items(), key=lambda one: one[1].off_mm)


def _pieces_far_off(found: CheckResult) -> Message | None:
    """Number of pieces far from their known places, and a remedy; None if half or fewer are."""
    far_off = [one for one in found.places.values() if one.off_mm > RADIUS_95 * one.sigma_mm]
    if 2 * len(far_off) <= len(found.places):
        return None
    return sentences(
        msg(
            "Calls cannot be trusted here: {n} of {n2} pieces at known places are read farther off"
            " than can be expected.",
            n=len(far_off),
            n2=len(found.places),
        ),
        msg("Were they exactly there? Then calibrate the table once more."),
    )


def _gaps_verdict(gaps: GapAccuracy) -> tuple[Message, Tone]:
    game, _ = measuring()
    limits = (
        msg(
            "Two gaps that differ by more than {mm} mm are told apart in 95 of 100 cases, or by"
            " {mm2} mm where pieces lie worst.",
            mm=f"{gaps.apart_mm:.1f}",
            mm2=f"{gaps.apart_95_mm:.1f}",
        ),
        msg("Closer ones are left to the players."),
    )
    if gaps.apart_mm <= COARSE_MM:
        return sentences(msg("{game} calls can be trusted here.", game=game), *limits), "good"
    nearer = msg(
        "A camera that is nearer or has more pixels, or pieces that stand out from the ground,"
        " make it finer."
    )
    coarse = msg("{game} calls are honest here, but coarse.", game=game)
    return sentences(coarse, *limits, nearer), "doubtful"


def _measured_rows(found: CheckResult) -> list[Row]:
    rows = []
    if distance := found.distance:
        rows.append(_distance_row(distance))
    for (x, y), one in found.places.items():
        what = msg("piece put at ({mm}, {mm2}) mm", mm=f"{x:g}", mm2=f"{y:g}")
        off = msg("{mm} mm off", mm=beside(one.off_mm, RADIUS_95 * one.sigma_mm, 2))
        rests = msg(
            "mean of all pictures ({n}); expected within {mm} mm, with what a hand is off",
            n=found.pictures,
            mm=f"{RADIUS_95 * one.sigma_mm:.2f}",
        )
        rows.append(Row(what, off, "measured", rests))
    if found.spread:
        rests = msg(
            "{n} pieces in {n2} pictures of the same still table; what all pictures share is not"
            " in it",
            n=found.spread.pieces,
            n2=found.spread.pictures,
        )
        margin = _margin(found.spread.sigma_mm)
        rows.append(Row(msg("repeatability, x and y each"), margin, "measured", rests))
    if found.fiducials:
        number, worst = _worst(found.fiducials)
        expected = RADIUS_95 * max(one.sigma_mm for one in found.fiducials.values())
        off = msg("up to {mm} mm", mm=beside(worst.off_mm, expected, 2))
        rests = msg(
            "each against the others; expected within {mm} mm; the worst is marker {n}",
            mm=f"{expected:.2f}",
            n=number,
        )
        rows.append(Row(msg("markers off their places"), off, "measured", rests))
    return rows


def _distance_row(distance: Distance) -> Row:
    one, other = distance.cards
    rests = msg(
        "given {mm} mm, taken to be measured to ± {mm2} mm; off by {mm3} mm",
        mm=f"{distance.given_mm:.1f}",
        mm2=f"{Z_95 * BY_HAND_MM:.1f}",
        mm3=f"{distance.seen_mm - distance.given_mm:+.2f}",
    )
    seen = msg("{mm} mm", mm=with_margin(distance.seen_mm, distance.sigma_mm))
    return Row(msg("distance of markers {n} and {n2}", n=one, n2=other), seen, "measured", rests)


def _margin(sigma_mm: float) -> Message:
    return msg("± {mm} mm", mm=f"{Z_95 * sigma_mm:.2f}")


def _range_text(values: Array) -> Message:
    return msg("{mm} to {mm2} mm", mm=f"{values.min():.2f}", mm2=f"{values.max():.2f}")


def _predicted_rows(found: CheckResult, setup: Setup) -> list[Row]:
    size = min(setup.sizes, key=lambda one: one.base_mm).name
    edge_mm = f"{found.errors.edge_px:.2f}"
    rests = phrases(
        phrase("edges to {mm} px, as measured here", mm=edge_mm)
        if found.edges_measured
        else phrase(
            "edges to {mm} px, as on drawn tables: lay pieces on the table to have its own",
            mm=edge_mm,
        ),
        phrase("lens's uncertainty included")
        if setup.camera.covariance
        else phrase(
            "lens not calibrated here; results may be off: table.json has no camera.covariance"
        ),
    )
    lying = msg("place of a lying piece ({size}), {share}", size=size, share="95 %")
    standing = msg("place of a standing piece ({size}), {share}", size=size, share="95 %")
    rows = [
        Row(lying, _range_text(found.map.lying_mm), "predicted", rests),
        Row(standing, _range_text(found.map.standing_mm), "predicted", rests),
    ]
    if found.gaps:
        rows += _gap_rows(found.gaps, size)
    if found.larger is not None:
        times = msg("{share} times", share=f"{found.larger:.1f}")
        rests = (
            msg("markers and distance; what pieces share is predicted larger by as much")
            if found.larger > 1
            else msg("markers and distance; no larger than predicted")
        )
        rows.append(Row(msg("errors measured, over those predicted"), times, "measured", rests))
    camera = msg("by the camera's place and lens")
    rows.append(Row(msg("a pixel shows"), _range_text(found.map.pixel_mm), "measured", camera))
    return rows


def _gap_rows(gaps: GapAccuracy, size: str) -> list[Row]:
    throws = msg(
        "made-up throws of pieces ({size}) all over the board, measured as calls are", size=size
    )
    apart = msg("from {mm} mm", mm=f"{gaps.apart_mm:.2f}")
    worst = msg("from {mm} mm where pieces lie worst", mm=f"{gaps.apart_95_mm:.2f}")
    return [
        Row(msg("a gap"), _margin(gaps.sigma_mm), "predicted", throws),
        Row(msg("two gaps told apart in 95 of 100"), apart, "predicted", worst),
    ]


def _below(found: CheckResult) -> Message:
    edge_mm = f"{found.errors.edge_px:.2f}"
    return sentences(
        msg("Predicted with edges of pieces to {mm} px, measured here.", mm=edge_mm)
        if found.edges_measured
        else msg("Predicted with edges of pieces to {mm} px, as on drawn tables.", mm=edge_mm),
        msg("The lens's uncertainty is included.")
        if found.errors.setup.camera.covariance
        else msg("The lens's uncertainty is not included."),
    )


def _print(report: Report) -> None:
    table = new_table(msg("what"), msg("figure"), "", right=(1,), whole=(1, 2), caption=MARGINS)
    for row in report.rows:
        table.add_row(*(escape(in_language(one)) for one in (row.what, row.figure, HOW[row.how])))
    output = console()
    output.print(table)
    output.print(escape(in_language(report.verdict)), highlight=False)
