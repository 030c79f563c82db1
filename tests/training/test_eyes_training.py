"""What the network is trained on agrees with what is seen, it learns, and what is written says the
same.
"""

import itertools
import json
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="training needs PyTorch: pip install '.[training]'")

from table.pieces import COLOURS, load_piece_set  # noqa: E402
from table.solids import POSES  # noqa: E402
from training.eyes import finish, product, raytracer, trainer  # noqa: E402
from training.eyes.cameras import scale_and_lean, slopes, view_channels  # noqa: E402
from training.eyes.detections import detections  # noqa: E402
from training.eyes.draw import Draw  # noqa: E402
from training.eyes.evaluate import figures, rows_of  # noqa: E402
from training.eyes.losses import loss  # noqa: E402
from training.eyes.model import CHANNELS_IN, CHANNELS_OUT, KINDS, STRIDE, UNIT_PX, Answer, EyesNet  # noqa: E402
from training.eyes.scenes import SIDE_PX, random_scenes, random_views, render  # noqa: E402
from training.eyes.targets import (  # noqa: E402
    Example,
    all_parts,
    cells_of,
    make_example,
    relative_turn,
    targets,
    turn_example,
)
from vision.networks import detector  # noqa: E402

CPU = torch.device("cpu")
SIDE = 64


@pytest.fixture(scope="module")
def example() -> Example:
    return make_example(render(random_scenes(31, 3, CPU, SIDE), 31, SIDE, 1), 5)


def test_what_is_shared_with_the_product_is_as_the_product_has_it() -> None:
    assert product.COLOURS == COLOURS
    assert (product.BRIGHTEST, product.HILL_CELLS) == (detector.BRIGHTEST, detector.HILL_CELLS)
    assert KINDS[: len(POSES)] == POSES
    for name in ("looney", "piecepack"):
        sizes = [(size.base_mm, size.height_mm) for size in load_piece_set(name).sizes]
        assert product.sizes_of(name) == sizes


def test_an_example_has_all_channels_and_its_hills_are_where_things_are(example: Example) -> None:
    assert example.picture.shape == (3, CHANNELS_IN, SIDE, SIDE)
    assert torch.isfinite(example.picture).all()
    asked = targets(example.objects, SIDE // STRIDE)
    for scene, k in itertools.product(range(3), range(example.objects.kind.shape[1])):
        at = cells_of(example.objects.centre[scene, k])
        kind = int(example.objects.kind[scene, k])
        if (
            kind < 0
            or example.objects.visible[scene, k] < 0.3
            or not ((at > 0) & (at < SIDE // STRIDE - 1)).all()
        ):
            continue
        column, row = at.round().int().tolist()
        assert asked.hills[scene, kind, row, column] == 1
    assert (asked.hills.amax(dim=(1, 2, 3)) == 1).any()


@pytest.mark.parametrize("way", range(8))
def test_the_targets_of_a_turned_example_are_the_turned_targets(example: Example, way: int) -> None:
    def as_picture(values: torch.Tensor) -> torch.Tensor:
        for bit, axis in ((1, 3), (2, 2)):
            values = values.flip(axis) if way & bit else values
        return values.transpose(2, 3) if way & 4 else values

    other = turn_example(example, way)
    cells = SIDE // STRIDE
    own, theirs = targets(example.objects, cells), targets(other.objects, cells)
    assert torch.allclose(theirs.hills, as_picture(own.hills), atol=1e-4)
    assert torch.equal(other.masks, as_picture(example.masks))
    lean, its = (
        example.picture[:, 7:9].norm(dim=1, keepdim=True),
        other.picture[:, 7:9].norm(dim=1, keepdim=True),
    )
    assert torch.allclose(its, as_picture(lean), atol=1e-5)
    tips = example.objects.points[:, :, 4] - example.objects.centre
    assert torch.allclose(
        (other.objects.points[:, :, 4] - other.objects.centre).norm(dim=-1),
        tips.norm(dim=-1),
        atol=1e-3,
    )
    if not way & 4:
        turn = relative_turn(example.objects.slopes, example.objects.edge)
        in_a_mirror = torch.tensor([1.0, -1.0 if way in (1, 2) else 1.0])
        its_turn = relative_turn(other.objects.slopes, other.objects.edge)
        assert torch.allclose(its_turn, turn * in_a_mirror, atol=2e-3)


def test_the_scale_and_the_lean_are_how_far_pixels_move() -> None:
    view = random_views(Draw(2, 5, CPU), SIDE)
    points = torch.zeros(5, 1, 3)
    from training.eyes.cameras import project

    by_hand = torch.stack(
        [
            (project(view, points + step) - project(view, points - step))[:, 0]
            for step in 0.5 * torch.eye(3)
        ],
        dim=-1,
    )
    assert torch.allclose(slopes(view, points)[:, 0], by_hand, atol=1e-3)
    scale, lean = scale_and_lean(slopes(view, points)[:, 0])
    assert (scale >= by_hand[..., :2].norm(dim=1).amax(dim=1) - 1e-3).all()
    assert torch.allclose(lean * scale[:, None], by_hand[..., 2], atol=1e-3)
    middle = view_channels(view, SIDE)[:, :2, SIDE // 2, SIDE // 2]
    assert torch.allclose(middle, lean, atol=0.05)


def test_a_perfect_answer_is_found_and_counted_as_right(example: Example) -> None:
    seen_scene = random_scenes(31, 3, CPU, SIDE)
    cells = SIDE // STRIDE
    asked = targets(example.objects, cells)
    answer = torch.zeros(3, CHANNELS_OUT, cells, cells)
    answer[:, Answer.CENTRE] = torch.logit(asked.hills.clamp(1e-4, 1 - 1e-4))
    for scene, row, column in (asked.counts > 0).nonzero().tolist():
        own = asked.owner[scene, row, column]
        one = [part[scene, own] for part in example.objects]
        truth = type(example.objects)(*one)
        here = answer[scene, :, row, column]
        middle = (torch.tensor([column, row]) + 0.5) * STRIDE - 0.5
        here[Answer.OFFSET] = cells_of(truth.centre) - torch.tensor([column, row])
        here[Answer.POINTS] = ((truth.points - middle) / UNIT_PX).flatten()
        here[Answer.SIZE] = (truth.base_px / UNIT_PX).log()
        here[Answer.COLOUR.start + int(truth.name)] = 20.0
    rows = rows_of(example, seen_scene.view, detections(answer))
    message = figures(rows)
    pieces = [row for row in rows if "as_pose" in row]
    assert pieces
    assert message["pose_right"] == 1
    assert message["piece"]["precision"] == 1
    assert max(row["points_bases"].max() for row in pieces) < 0.05
    assert all(row["as_name"] == row["name"] for row in pieces)


def test_the_loss_falls(example: Example) -> None:
    torch.manual_seed(3)
    net = EyesNet((8, 16, 24, 32, 48), (1, 1, 1, 1))
    optimiser = torch.optim.Adam(net.parameters(), 3e-3)
    losses = []
    for _ in range(20):
        whole, _ = loss(net(example.picture), example)
        optimiser.zero_grad()
        whole.backward()
        optimiser.step()
        losses.append(float(whole.detach()))
    assert losses[-1] < 0.7 * losses[0]


def test_every_part_of_the_loss_has_a_gradient(example: Example) -> None:
    message = torch.zeros(3, CHANNELS_OUT, SIDE // STRIDE, SIDE // STRIDE, requires_grad=True)
    loss(message, example)[0].backward()
    assert message.grad is not None
    untaught = [k for k in range(CHANNELS_OUT) if not message.grad[:, k].abs().sum() > 0]
    assert untaught == []


@pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::UserWarning", "ignore::torch.jit.TracerWarning"
)
def test_what_is_written_says_in_opencv_what_the_network_says(tmp_path: Path) -> None:
    pytest.importorskip("onnx", reason="writing networks needs onnx: pip install '.[training]'")
    from training.eyes.export import export

    torch.manual_seed(0)
    net = EyesNet()
    with torch.no_grad():
        net.train()(torch.rand(2, CHANNELS_IN, 64, 64))
        torch.nn.init.normal_(net.head.weight, std=0.2)
    export(net.eval(), tmp_path / "eyes.onnx")
    assert (tmp_path / "eyes.onnx").stat().st_size < 8e6
    read = cv2.dnn.readNetFromONNX(str(tmp_path / "eyes.onnx"))
    for shape in ((1, 96, 64), (2, 64, 128)):
        picture = torch.rand(shape[0], CHANNELS_IN, *shape[1:])
        read.setInput(picture.numpy(), "image")
        with torch.no_grad():
            own = net(picture).numpy()
        assert np.abs(read.forward("answer") - own).max() < 0.02 * np.abs(own).max()


def test_jpeg_does_what_opencv_does() -> None:
    rng = np.random.default_rng(1)
    picture = cv2.GaussianBlur(rng.integers(0, 256, (64, 64, 3)).astype(np.uint8), (0, 0), 1.5)
    code = torch.from_numpy(picture[..., ::-1].copy()).permute(2, 0, 1)[None] / 255
    for quality in (35, 60, 90):
        ours = (
            finish.jpeg(code, torch.tensor([[float(quality)]]))[0]
            .permute(1, 2, 0)
            .numpy()[..., ::-1]
            * 255
        )
        theirs = cv2.imdecode(
            cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, quality])[1], cv2.IMREAD_COLOR
        )
        lost = np.abs(theirs.astype(float) - picture).mean()
        assert np.abs(ours - theirs).mean() < 0.4 * lost + 0.5


def test_training_goes_on_from_its_checkpoint(tmp_path: Path) -> None:
    plan = trainer.Plan(made=1, batch=2, kept=4, shows=4.0, first=1, side=SIDE)
    ticks = itertools.count()
    first = trainer.train(tmp_path, 12, CPU, 1e-3, plan, clock=lambda: float(next(ticks)))
    assert first.step > 1
    again = trainer.train(tmp_path, 4, CPU, 1e-3, plan, clock=lambda: float(next(ticks)))
    assert again.step > first.step
    assert again.made > first.made
    curve = [json.loads(line) for line in (tmp_path / trainer.CURVE).read_text().splitlines()]
    assert [row["step"] for row in curve] == sorted(row["step"] for row in curve)
    assert all(np.isfinite(row["whole"]) for row in curve)


def test_the_validation_is_not_trained_on() -> None:
    a_year_of_a_card = 60 * 24 * 365 * 20_000
    assert trainer.TRAINING_SEEDS + a_year_of_a_card < trainer.VALIDATION_SEEDS * 2
    assert trainer.VALIDATION_SEEDS > trainer.TRAINING_SEEDS


def without_generator(own: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    """The same, but that it is not told where chance comes from."""

    def drawn(*shape: object, **options: object) -> torch.Tensor:
        return own(*shape, **{key: value for key, value in options.items() if key != "generator"})

    return drawn


def test_scenes_examples_and_the_loss_are_made_on_the_device_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """On a device that holds no values every tensor made elsewhere, or asked for its values, is an
    error; what has to be counted, and chance, are stood in for.
    """
    for name in ("rand", "randn", "randint"):
        monkeypatch.setattr(torch, name, without_generator(getattr(torch, name)))
    monkeypatch.setattr(torch, "Generator", lambda **_: torch.random.default_generator)

    def every_third(mask: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        shape = (len(mask), max(1, mask.shape[1] // 3))
        numbers = torch.zeros(shape, dtype=torch.long, device=mask.device)
        return numbers, torch.ones(shape, dtype=torch.bool, device=mask.device)

    def all_places(world: raytracer.World) -> tuple[raytracer.World, torch.Tensor]:
        b, k = world.stuff.clear.shape
        return world, torch.arange(k, device=world.stuff.clear.device).expand(b, k)

    monkeypatch.setattr(raytracer, "true_indices", every_third)
    monkeypatch.setattr(raytracer, "without_empty", all_places)
    nowhere = torch.device("meta")
    with torch.no_grad():
        scenes = render(random_scenes(8, 4 * raytracer.GROUPS, nowhere, SIDE), 8, SIDE, 1)
        example = turn_example(make_example(scenes, 3), 7)
        hills = targets(example.objects, SIDE // STRIDE).hills
        message = EyesNet().to(nowhere)(example.picture)
    assert {part.device.type for part in all_parts(example)} == {"meta"}
    assert hills.shape[2:] == message.shape[2:]


def test_there_is_a_heat_map_for_every_kind() -> None:
    assert Answer.CENTRE.stop == len(KINDS)
    assert SIDE_PX % 32 == 0
