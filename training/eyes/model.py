"""The network: a small convolutional one with an output for every fourth pixel.

CenterNet style (Zhou et al., Objects as Points, 2019): heat maps of middles, and at each middle all
other properties of the object. `CHANNELS_IN` and `Answer` describe input and output.
"""

from __future__ import annotations

from torch import Tensor, nn

from training.eyes.product import COLOURS

STRIDE = 4
"""Pixels per cell of the output."""
WHOLE = 32
"""The sides of a picture are multiples of this."""
UNIT_PX = 16.0
"""Unit of offsets and sizes, in pixels."""
SCALE_PX, SCALE_MM = 24.0, 20.0
"""The scale channel is log(p / SCALE_PX), where p are the pixels per SCALE_MM."""

SEEN, DIFFERENCE, KNOWN, LEAN, SCALE = (
    slice(0, 3),
    slice(3, 6),
    slice(6, 7),
    slice(7, 9),
    slice(9, 10),
)
"""Input channels. Encoded light relative to white paper, 0..1; its difference from the bare table;
mask where the bare table is known. Lean: image motion of a point that rises by a millimetre, over
that of a millimetre across the line of sight. Scale.
"""
CHANNELS_IN = SCALE.stop

KINDS = ("upright", "lying", "leaning", "stack", "counter", "else")
"""Kinds of middles at a cell. `stack` is set beside the pose, for several pieces on or in another.
"""


class Answer:
    """Output channels, (CHANNELS, h / STRIDE, w / STRIDE)."""

    CENTRE = slice(0, len(KINDS))
    """Logits of a middle of each kind."""
    OFFSET = slice(CENTRE.stop, CENTRE.stop + 2)
    """Vector from the cell's middle to the object's, (column, row), cells."""
    POINTS = slice(OFFSET.stop, OFFSET.stop + 10)
    """Vectors from the cell's middle to corners 0..3 of the object's base and to its tip, (column,
    row) each, UNIT_PX.
    """
    POINT_DOUBT = slice(POINTS.stop, POINTS.stop + 5)
    """Logarithm of each point's Laplace scale, in UNIT_PX."""
    TURN = slice(POINT_DOUBT.stop, POINT_DOUBT.stop + 2)
    """Cosine and sine of four times a standing base's heading, relative to the direction on the
    table of the picture's rows.
    """
    SIZE = slice(TURN.stop, TURN.stop + 1)
    """Logarithm of the base or diameter over UNIT_PX, at the scale of the table across the line of
    sight.
    """
    SIZE_DOUBT = slice(SIZE.stop, SIZE.stop + 1)
    COLOUR = slice(SIZE_DOUBT.stop, SIZE_DOUBT.stop + len(COLOURS))
    CLEAR = slice(COLOUR.stop, COLOUR.stop + 1)
    """Logit that it is see-through."""
    RAISED = slice(CLEAR.stop, CLEAR.stop + 1)
    """Logit that it stands on another piece."""
    VISIBLE = slice(RAISED.stop, RAISED.stop + 1)
    """Logit of its visible share."""
    MASK = slice(VISIBLE.stop, VISIBLE.stop + 3)
    """Logits of the visible object: a piece or counter; another object; a hand or an arm."""


CHANNELS_OUT = Answer.MASK.stop
HEAD = 56
"""Number of channels of the features that the output is computed from."""
WIDTHS, DEPTHS = (16, 40, 80, 144, 240), (1, 3, 4, 4)
"""Numbers of channels at half the resolution, a quarter and so on; numbers of blocks in each of the
last four stages.
"""
CENTRE_BIAS = -4.0
"""Initial bias of the logits of middles, so that nothing is detected at first."""


def layer(
    inputs: int, outputs: int, size: int = 3, stride: int = 1, groups: int = 1
) -> nn.Sequential:
    """A convolution with normalisation and ReLU."""
    convolution = nn.Conv2d(inputs, outputs, size, stride, size // 2, groups=groups, bias=False)
    return nn.Sequential(convolution, nn.BatchNorm2d(outputs), nn.ReLU(inplace=True))


class Bottleneck(nn.Module):
    """Residual block with a narrow 3 by 3 convolution."""

    def __init__(self, width: int, narrow: int) -> None:
        super().__init__()
        last = nn.Sequential(nn.Conv2d(narrow, width, 1, bias=False), nn.BatchNorm2d(width))
        nn.init.zeros_(last[1].weight)
        self.layers = nn.Sequential(layer(width, narrow, 1), layer(narrow, narrow), last)
        self.positive = nn.ReLU(inplace=True)

    def forward(self, image: Tensor) -> Tensor:
        return self.positive(image + self.layers(image))


class EyesNet(nn.Module):
    """The network, from (n, CHANNELS_IN, h, w) to (n, CHANNELS_OUT, h / STRIDE, w / STRIDE).

    h and w are multiples of WHOLE.
    """

    def __init__(self, widths: tuple[int, ...] = WIDTHS, depths: tuple[int, ...] = DEPTHS) -> None:
        super().__init__()
        half, quarter, eighth, sixteenth, last = widths
        self.to_half = layer(CHANNELS_IN, half, 3, 2)
        self.to_quarter = self._stage(half, quarter, depths[0])
        self.to_eighth = self._stage(quarter, eighth, depths[1])
        self.to_sixteenth = self._stage(eighth, sixteenth, depths[2])
        self.to_last = self._stage(sixteenth, last, depths[3])
        self.down = nn.ModuleList(
            [
                nn.Conv2d(last, sixteenth, 1),
                nn.Conv2d(sixteenth, eighth, 1),
                nn.Conv2d(eighth, HEAD, 1),
            ]
        )
        self.at_sixteenth = Bottleneck(sixteenth, sixteenth // 2)
        self.at_eighth = Bottleneck(eighth, eighth // 2)
        self.across = nn.Conv2d(quarter, HEAD, 1)
        self.at_quarter = Bottleneck(HEAD, HEAD // 2)
        self.head = nn.Conv2d(HEAD, CHANNELS_OUT, 1)
        nn.init.normal_(self.head.weight, std=0.02)
        nn.init.zeros_(self.head.bias)
        nn.init.constant_(self.head.bias[Answer.CENTRE], CENTRE_BIAS)
        self.grow = nn.Upsample(scale_factor=2, mode="nearest")

    @staticmethod
    def _stage(inputs: int, outputs: int, depth: int) -> nn.Sequential:
        return nn.Sequential(
            layer(inputs, outputs, 3, 2), *(Bottleneck(outputs, outputs // 2) for _ in range(depth))
        )

    def features(self, image: Tensor) -> Tensor:
        """Features of the head, (n, HEAD, h / STRIDE, w / STRIDE)."""
        quarter = self.to_quarter(self.to_half(image))
        eighth = self.to_eighth(quarter)
        sixteenth = self.to_sixteenth(eighth)
        grown = self.grow(self.down[0](self.to_last(sixteenth)))
        deep = self.at_sixteenth(sixteenth + grown)
        wide = self.at_eighth(eighth + self.grow(self.down[1](deep)))
        fine: Tensor = self.at_quarter(self.across(quarter) + self.grow(self.down[2](wide)))
        return fine

    def forward(self, image: Tensor) -> Tensor:
        answer: Tensor = self.head(self.features(image))
        return answer
