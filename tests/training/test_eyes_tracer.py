"""Rays meet what they must meet, light is not made of nothing, and pieces are not in one
another.
"""

import math

import numpy as np
import pytest

from table.pieces import PieceSize, load_piece_set
from table.solids import lying, upright

torch = pytest.importorskip("torch", reason="training needs PyTorch: pip install '.[training]'")

from training.eyes import bodies as solid  # noqa: E402
from training.eyes.cameras import averaged, project, rays  # noqa: E402
from training.eyes.draw import Draw  # noqa: E402
from training.eyes.posing import apart_mm, pose_corners, standing_tilt, touching_place  # noqa: E402
from training.eyes.raytracer import reflectance, refract, trace_rays  # noqa: E402
from training.eyes.scenes import (  # noqa: E402
    BOXES,
    PIECES,
    ROUNDS,
    random_pieces,
    random_scenes,
    random_views,
    render,
)

CPU = torch.device("cpu")
SIDE = 64


def some_bodies(draw: Draw) -> solid.Bodies:
    """A standing hollow pyramid, a lying solid one, a box, a cup and a ball, and some that are not
    there.
    """
    base, height = torch.tensor([[19.8, 14.3, 20.0]]), torch.tensor([[34.9, 25.4, 30.0]])
    place = torch.tensor([[[0.0, 0.0], [40.0, 10.0], [90.0, 0.0]]])
    tilt = standing_tilt(base, height) * torch.tensor([[1.0, 0.0, 1.0]])
    corners = pose_corners(
        base, height, place, torch.tensor([[0.3, 1.2, 0.0]]), tilt, torch.zeros_like(base)
    )
    corners[:, 2] = 0.0  # not there
    pieces = solid.pyramids(
        corners, torch.tensor([[1.5, 0.0, 1.5]]), torch.tensor([[0.03, 0.0, 0.0]])
    )
    turn = torch.eye(3).expand(1, 1, 3, 3)
    box = solid.boxes(torch.tensor([[[-30.0, 20.0, 6.0]]]), turn, torch.tensor([[[8.0, 5.0, 6.0]]]))
    middle = torch.tensor([[[0.0, -40.0, 20.0], [30.0, -30.0, 12.0]]])
    half = torch.tensor([[[15.0, 15.0, 20.0], [12.0, 12.0, 12.0]]])
    shape, hollow = (
        torch.tensor([[[0.0, 0.1], [1.0, 0.0]]]),
        torch.tensor([[[0.85, -0.9], [0.0, 0.0]]]),
    )
    rounds = solid.round_things(middle, torch.eye(3).expand(1, 2, 3, 3), half, shape, hollow)
    assert draw.count == 1
    return solid.Bodies(solid.concatenate(pieces, box), rounds)


def within(bodies: solid.Bodies, points: torch.Tensor) -> torch.Tensor:
    """Which bodies (r, k) points (r, 3) are in the stuff of, by what the planes and the quadrics
    say.
    """
    faceted, rounds = bodies
    levels = torch.einsum("kfj,rj->rkf", faceted.planes[0, ..., :3], points)
    outer, hollow = (
        (levels <= faceted.planes[0, ..., 3]).all(-1),
        (levels <= faceted.hollow[0]).all(-1),
    )
    p = torch.einsum("kij,rkj->rki", rounds.turn[0], points[:, None] - rounds.middle[0])
    reach = (p[..., 0] ** 2 + p[..., 1] ** 2 + rounds.shape[0, :, 0] * p[..., 2] ** 2).sqrt()
    wide = 1 + rounds.shape[0, :, 1] * p[..., 2]
    share, floor = rounds.hollow[0, :, 0], rounds.hollow[0, :, 1]
    is_round = (reach <= wide) & (p[..., 2].abs() <= 1)
    is_hollow = (share > 0) & (reach <= share * wide) & (p[..., 2] >= floor) & (p[..., 2] <= 1.2)
    return torch.cat([outer & ~hollow, is_round & ~is_hollow], dim=1)


def test_rays_run_through_bodies_where_points_on_them_are_inside() -> None:
    draw = Draw(3, 1, CPU)
    bodies = some_bodies(draw)
    at = torch.cat([draw.uniform(-60, 80, 600, 2), draw.uniform(60, 120, 600, 1)], dim=2)
    aim = torch.cat([draw.uniform(-50, 60, 600, 2), draw.uniform(0, 25, 600, 1)], dim=2)
    way = solid.unit(aim - at)
    met = solid.ends(bodies, at, way)
    steps = torch.linspace(0.05, 220, 2200)
    points = at[0, :, None] + steps[:, None] * way[0, :, None]
    truth = within(bodies, points.reshape(-1, 3)).reshape(600, 2200, -1)
    length = solid.plastic_mm(met, torch.full((1, 600, 1), 220.0), 0.05)[0]
    assert (truth.sum(1) * 0.1 - length).abs().max() < 0.45  # two ends, two walls, a step each
    first = solid.first_hit(met, 0.02)
    inside = truth.any(-1)
    true_far = torch.where(inside.any(1), steps[inside.float().argmax(1)], solid.FAR)
    grazing = (inside.float().sum(1) < 4) | (first.far[0] > 200)
    assert ((first.far[0] - true_far).abs() < 0.15)[~grazing].float().mean() > 0.995
    assert inside.any(1).sum() > 120


def test_a_body_that_is_not_there_is_never_met() -> None:
    bodies = some_bodies(Draw(1, 1, CPU))
    way = solid.unit(torch.tensor([[[0.0, 0.0, -1.0], [0.01, 0.02, -1.0]]]))
    met = solid.ends(bodies, torch.tensor([[[90.0, 0.0, 100.0], [0.0, 0.0, 100.0]]]), way)
    assert (met.into[..., 2] >= met.out[..., 2]).all()


def test_surfaces_mirror_as_fresnel_says() -> None:
    cosine = torch.linspace(0.01, 1, 200)
    inwards, outwards = (
        reflectance(cosine, torch.tensor(1 / 1.5)),
        reflectance(cosine, torch.tensor(1.5)),
    )
    assert inwards.min() >= 0
    assert outwards.max() <= 1
    assert inwards[-1] == pytest.approx(0.04, abs=1e-4)
    assert (outwards[cosine < math.sqrt(1 - 1 / 1.5**2) - 0.01] == 1).all()


def test_rays_are_bent_as_snell_says() -> None:
    angle = torch.linspace(0, 1.5, 50)
    way = torch.stack([torch.sin(angle), torch.zeros(50), -torch.cos(angle)], dim=-1)
    normal = torch.tensor([0.0, 0.0, 1.0]).expand(50, 3)
    within_it = refract(way, normal, torch.cos(angle)[:, None], torch.tensor(1 / 1.5))
    assert torch.allclose(within_it[:, 0] * 1.5, torch.sin(angle), atol=1e-4)
    assert torch.allclose(within_it.norm(dim=-1), torch.ones(50), atol=1e-5)


def test_plastic_brings_no_more_light_than_there_is_and_less_the_more_it_is_dyed() -> None:
    """In even light, before a white table, whatever a see-through piece shows comes from the room
    or the table.
    """
    scene = random_scenes(11, 2, CPU, SIDE)
    lights = scene.world.lights
    even = lights._replace(
        power=torch.zeros_like(lights.power), around=torch.ones(2, 3), room=torch.zeros(2, 3, 4)
    )
    ground = scene.world.ground
    white = ground._replace(
        colour=torch.ones_like(ground.colour),
        lit=torch.ones_like(ground.lit),
        bare=torch.ones_like(ground.bare),
        gloss=torch.zeros(2),
    )
    stuff = scene.world.stuff

    def light(dye: float) -> torch.Tensor:
        pieces = stuff._replace(
            clear=torch.ones_like(stuff.clear),
            absorbs=torch.full_like(stuff.absorbs, dye),
            milk=torch.zeros_like(stuff.milk),
        )
        pieces = pieces._replace(pips=torch.zeros_like(stuff.pips))
        world = scene.world._replace(lights=even, ground=white, stuff=pieces)
        saw = trace_rays(world, scene.view.eye, rays(scene.view, SIDE, 1), Draw(1, 2, CPU))
        return saw.light[saw.body >= 0]

    clear, pale, dark = (light(dye) for dye in (0.0, 0.05, 0.5))
    assert len(clear) > 100
    assert clear.max() <= 1.2 + 1e-3  # the brightest part of the room
    assert clear.mean() > 0.6
    assert (clear >= pale - 1e-5).all()
    assert (pale >= dark - 1e-5).all()
    assert dark.mean() < 0.6 * clear.mean()


@pytest.mark.parametrize("size", load_piece_set("looney").sizes, ids=lambda size: size.name)
@pytest.mark.parametrize("heading_deg", [0.0, 30.0, 200.0])
def test_pieces_stand_and_lie_as_the_product_has_them(size: PieceSize, heading_deg: float) -> None:
    base, height = torch.tensor([size.base_mm]), torch.tensor([size.height_mm])
    heading = torch.tensor([math.radians(heading_deg)])
    none = torch.zeros(1)
    for tilt, solid_of in ((none, lying), (standing_tilt(base, height), upright)):
        corners = pose_corners(base, height, torch.zeros(1, 2), heading, tilt, none)[0].numpy()
        wanted = solid_of(size, 0.0, 0.0, heading_deg).vertices_mm
        shift = np.append((wanted[:4].mean(axis=0) - corners[:4].mean(axis=0))[:2], 0.0)
        assert corners + shift == pytest.approx(wanted, abs=0.01)


def test_no_piece_is_in_another() -> None:
    draw = Draw(5, 24, CPU)
    pieces = random_pieces(draw, random_views(draw, SIDE), SIDE)
    apart = apart_mm(pieces.corners[:, :, None], pieces.corners[:, None])
    both = pieces.there[:, :, None] & pieces.there[:, None] & ~torch.eye(PIECES, dtype=torch.bool)
    pair = torch.arange(PIECES) // 2
    both &= pair[:, None] != pair[None]
    assert both.sum() > 100
    assert apart[both].min() > 0
    assert pieces.corners[..., 2].min() > -1e-3


def test_a_piece_is_moved_until_it_touches() -> None:
    draw = Draw(9, 16, CPU)
    base, height = draw.uniform(14, 25), draw.uniform(25, 44)
    tilt = torch.where(draw.chance(0.5), standing_tilt(base, height), 0.0)
    none = torch.zeros(16)
    anchor = pose_corners(base, height, torch.zeros(16, 2), draw.uniform(0, 6), tilt, none)
    heading = draw.uniform(0, 6)
    place = touching_place(
        base, height, draw.uniform(0, 6), heading, tilt, anchor, torch.full((16,), 0.5)
    )
    gap = apart_mm(pose_corners(base, height, place, heading, tilt, none), anchor)
    assert ((gap - 0.5).abs() < 0.1).all()


def test_what_shows_of_a_piece_is_where_its_corners_are_told() -> None:
    scene = random_scenes(21, 3, CPU, SIDE)
    seen_there = trace_rays(scene.world, scene.view.eye, rays(scene.view, SIDE, 1), Draw(1, 3, CPU))
    objects = render(scene, 21, SIDE, 1).objects
    body = seen_there.body.reshape(3, SIDE, SIDE)
    checked = 0
    for k in range(3):
        for piece in range(PIECES):
            rows, columns = (body[k] == piece).nonzero(as_tuple=True)
            if len(rows) < 8:
                continue
            points = project(scene.view, scene.pieces.corners)[k, piece]
            assert torch.allclose(points, objects.points[k, piece], atol=1e-3)
            low, high = points.amin(dim=0) - 1.0, points.amax(dim=0) + 1.0
            assert columns.min() >= low[0]
            assert rows.min() >= low[1]
            assert columns.max() <= high[0]
            assert rows.max() <= high[1]
            checked += 1
    assert checked >= 2
    assert objects.kind.shape == (3, PIECES + BOXES + ROUNDS)


def test_scenes_of_one_seed_are_the_same_and_of_another_are_not() -> None:
    first, again, other = (
        render(random_scenes(seed, 1, CPU, SIDE), seed, SIDE, 1) for seed in (4, 4, 5)
    )
    assert torch.equal(first.light, again.light)
    assert not torch.equal(first.light, other.light)
    assert torch.isfinite(first.light).all()
    assert first.light.min() >= 0


def test_rays_of_a_pixel_are_averaged_in_its_place() -> None:
    light = torch.arange(64.0).reshape(1, 64, 1)
    assert averaged(light, 4, 2)[0, 0, 0].tolist() == [4.5, 6.5, 8.5, 10.5]
