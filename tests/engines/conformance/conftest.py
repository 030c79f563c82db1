"""What the suites cannot know of this project's games: how their pieces add up."""

import pytest


def ice_boule_pieces(state):
    lying = [len(state.layout.of(player)) for player in state.players]
    return all(here <= thrown <= 4 for here, thrown in zip(lying, state.thrown, strict=True))


def icebreaker_pieces(state):
    first, second = state.ships
    apart = first & second == first & state.ice == second & state.ice == 0
    cells = state.setting.board.cells
    inside = (first | second | state.ice) & ~cells == 0
    return (
        apart
        and inside
        and first.bit_count() == second.bit_count() == 3
        and state.ice.bit_count() + sum(state.scores) == cells.bit_count() - 6
    )


def ice_storm_pieces(state):
    """On the board and in stacks are no more than were thrown; what is missing was wasted."""
    named = {piece.name for piece in state.pieces}
    return len(named) == len(state.pieces) and len(named) + sum(
        state.stacks
    ) <= state.thrown <= 5 * len(state.players)


def icefloe_pieces(state):
    """Everything is on one tile, nothing twice."""
    pyramids = [pyramid for floe in state.board.floes for pyramid in floe.pyramids]
    tiles = [floe.tile for floe in state.board.floes]
    return len(set(pyramids)) == len(pyramids) <= 24 and len(set(tiles)) == len(tiles) <= 24


def zamboni_wars_pieces(state):
    """Nests and cover dice have a space each, nests three layers at most."""
    left = [nest for nest in state.zambonis if nest]
    spaces = [nest.space for nest in left] + list(state.dice)
    return (
        len(set(spaces)) == len(spaces)
        and all(1 <= nest.layers <= 3 for nest in left)
        and len(state.dice) <= 2
    )


PIECES_ADD_UP = {
    "ice_boule": ice_boule_pieces,
    "icebreaker": icebreaker_pieces,
    "ice_storm": ice_storm_pieces,
    "icefloe": icefloe_pieces,
    "zamboni_wars": zamboni_wars_pieces,
}


@pytest.fixture
def pieces_add_up():
    return lambda game, state: PIECES_ADD_UP[game.NAME](state)
