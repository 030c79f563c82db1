"""The network: a small convolutional one that answers for every fourth pixel.

CenterNet style (Zhou et al., Objects as Points, 2019): heat maps of middles, and at each middle
everything else that is to be known of the object. `CHANNELS_IN` and `Answer` name what goes in and
what comes out.
"""

from __future__ import annotations

from torch import Tensor, nn

from training.eyes.product import COLOURS

STRIDE = 4
"""Pixels to a cell of the answer."""
WHOLE = 32
"""The sides of a picture are multiples of this."""
UNIT_PX = 16.0
"""Ways and sizes are counted in so many pixels."""
SCALE_PX, SCALE_MM = 24.0, 20.0
"""The scale channel is the logarithm of pixels to SCALE_MM over SCALE_PX."""

SEEN, DIFFERENCE, KNOWN, LEAN, SCALE = (
    slice(0, 3),
    slice(3, 6),
    slice(6, 7),
    slice(7, 9),
    slice(9, 10),
)
"""Channels that go in: light relative to white paper, encoded, 0..1; how it differs from the bare
table; where the bare table is known; the way on the picture of a point that rises by a millimetre,
over that of a millimetre across the line of sight; and the scale.
"""
CHANNELS_IN = SCALE.stop

KINDS = ("upright", "lying", "leaning", "stack", "counter", "else")
"""What may have its middle at a cell. `stack` stands beside the pose: several pieces, one on or in
another.
"""


class Answer:
    """Channels of the answer, (CHANNELS, h / STRIDE, w / STRIDE)."""

    CENTRE = slice(0, len(KINDS))
    """Logits that a middle of a kind is here."""
    OFFSET = slice(CENTRE.stop, CENTRE.stop + 2)
    """From the cell's middle to the thing's, (column, row), cells."""
    POINTS = slice(OFFSET.stop, OFFSET.stop + 10)
    """From the cell's middle to corners 0..3 of the thing's base and its tip, (column, row) each,
    UNIT_PX.
    """
    POINT_DOUBT = slice(POINTS.stop, POINTS.stop + 5)
    """Logarithm of the scale of a Laplace distribution of each point, in UNIT_PX."""
    TURN = slice(POINT_DOUBT.stop, POINT_DOUBT.stop + 2)
    """Cosine and sine of four times the heading of a base that stands, counted from where the
    table's plane shows the picture's rows.
    """
    SIZE = slice(TURN.stop, TURN.stop + 1)
    """Logarithm of the base, or of a diameter, over UNIT_PX, as large as it would show on the table
    across the line of sight.
    """
    SIZE_DOUBT = slice(SIZE.stop, SIZE.stop + 1)
    COLOUR = slice(SIZE_DOUBT.stop, SIZE_DOUBT.stop + len(COLOURS))
    CLEAR = slice(COLOUR.stop, COLOUR.stop + 1)
    """Logit that it is see-through."""
    RAISED = slice(CLEAR.stop, CLEAR.stop + 1)
    """Logit that it stands on another piece."""
    VISIBLE = slice(RAISED.stop, RAISED.stop + 1)
    """Logit of the share of it that nothing hides."""
    MASK = slice(VISIBLE.stop, VISIBLE.stop + 3)
    """Logits that here shows: a piece or counter; something else; a hand or an arm."""


CHANNELS_OUT = Answer.MASK.stop
HEAD = 56
"""Channels that the answer is made of."""
WIDTHS, DEPTHS = (16, 40, 80, 144, 240), (1, 3, 4, 4)
"""Channels at half the resolution, a quarter and so on; and blocks in each of the last four stages.
"""
CENTRE_BIAS = -4.0
"""At first the network sees nothing anywhere."""


def layer(
    inputs: int, outputs: int, size: int = 3, stride: int = 1, groups: int = 1
) -> nn.Sequential:
    """A convolution, normalised, and what is positive of it."""
    convolution = nn.Conv2d(inputs, outputs, size, stride, size // 2, groups=groups, bias=False)
    return nn.Sequential(convolution, nn.BatchNorm2d(outputs), nn.ReLU(inplace=True))


class Bottleneck(nn.Module):
    """Adds to what it is given what a narrow 3 by 3 convolution makes of it."""

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
        """What the head answers from, (n, HEAD, h / STRIDE, w / STRIDE)."""
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
