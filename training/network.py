"""The networks.

The detector is a small U-net; for every fourth pixel it gives the probability of a piece's middle,
and the piece's properties. The others are smaller and have one output for a whole crop.
"""

from __future__ import annotations

from torch import Tensor, nn

from vision.dice import classifier
from vision.networks import pose_refiner
from vision.networks.detector import CHANNELS
from vision.networks.keypoints import ANSWERS, CROP_PX


def _layer(inputs: int, outputs: int, stride: int = 1) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False),
        nn.BatchNorm2d(outputs),
        nn.ReLU(inplace=True),
    )


class DetectorNet(nn.Module):
    """The detector, from (n, 3, h, w) in 0..1 to (n, CHANNELS, h / 4, w / 4).

    h and w are multiples of 32; see `vision.networks.detector` for the channels.
    """

    def __init__(self) -> None:
        super().__init__()
        self.to_half = nn.Sequential(_layer(3, 16, 2), _layer(16, 24))
        self.to_quarter = nn.Sequential(_layer(24, 40, 2), _layer(40, 40))
        self.to_eighth = nn.Sequential(_layer(40, 64, 2), _layer(64, 64), _layer(64, 64))
        self.to_sixteenth = nn.Sequential(_layer(64, 80, 2), _layer(80, 80), _layer(80, 80))
        self.up_eighth = nn.Conv2d(80, 64, 1)
        self.at_eighth = _layer(64, 64)
        self.up_quarter = nn.Conv2d(64, 40, 1)
        self.at_quarter = _layer(40, 64)
        self.head = nn.Conv2d(64, CHANNELS, 1)
        nn.init.constant_(self.head.bias[:4], -4.0)
        self.grow = nn.Upsample(scale_factor=2, mode="nearest")

    def forward(self, image: Tensor) -> Tensor:
        quarter = self.to_quarter(self.to_half(image))
        eighth = self.to_eighth(quarter)
        deep = self.to_sixteenth(eighth)
        wide = self.at_eighth(eighth + self.grow(self.up_eighth(deep)))
        return self.head(self.at_quarter(quarter + self.grow(self.up_quarter(wide))))


class _Twice(nn.Module):
    """Two layers with a residual connection."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.both = nn.Sequential(_layer(width, width), _layer(width, width))

    def forward(self, image: Tensor) -> Tensor:
        return image + self.both(image)


class KeypointNet(nn.Module):
    """The keypoint network, from (n, 3, CROP_PX, CROP_PX) in 0..1 to (n, ANSWERS).

    See `vision.networks.keypoints` for the output.
    """

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            *(_layer(3, 24, 2), _layer(24, 32), _layer(32, 48, 2), _Twice(48)),
            *(_layer(48, 80, 2), _Twice(80), _layer(80, 96, 2), _layer(96, 96), nn.Flatten()),
            *(
                nn.Linear(96 * (CROP_PX // 16) ** 2, 96),
                nn.ReLU(inplace=True),
                nn.Linear(96, ANSWERS),
            ),
        )

    def forward(self, image: Tensor) -> Tensor:
        output: Tensor = self.layers(image)
        return output


class PoseRefinerNet(nn.Module):
    """The pose refiner, from (n, 5, CROP_PX, CROP_PX) in 0..1 to (n, answers).

    See `vision.networks.pose_refiner` for the output.
    """

    def __init__(self, answers: int = pose_refiner.ANSWERS, hidden: int = 32) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            *(
                _layer(5, 16, 2),
                _layer(16, 24),
                _layer(24, 32, 2),
                _Twice(32),
                _layer(32, 48, 2),
                _Twice(48),
                _layer(48, 48, 2),
            ),
            *(
                nn.Conv2d(48, 12, 1),
                nn.Flatten(),
                nn.Linear(12 * (pose_refiner.CROP_PX // 16) ** 2, hidden),
                nn.ReLU(inplace=True),
            ),
            nn.Linear(hidden, answers),
        )

    def forward(self, image: Tensor) -> Tensor:
        output: Tensor = self.layers(image)
        return output


class PoseVerifierNet(PoseRefinerNet):
    """The pose verifier, from (n, 5, CROP_PX, CROP_PX) in 0..1 to (n, ANSWERS + 1).

    It gives the pose refiner's output, and the log odds of `vision.networks.pose_verifier`.
    """

    def __init__(self) -> None:
        super().__init__(pose_refiner.ANSWERS + 1, hidden=36)


class DiceNet(nn.Module):
    """(n, 4, CROP_PX, CROP_PX) in 0..1 to (n, ANSWERS); see `vision.dice.classifier`."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            *(
                _layer(classifier.CHANNELS, 24, 2),
                _layer(24, 32),
                _layer(32, 56, 2),
                _Twice(56),
                _layer(56, 80, 2),
                _Twice(80),
            ),
            *(
                nn.Conv2d(80, 16, 1),
                nn.Flatten(),
                nn.Dropout(0.2),
                nn.Linear(16 * (classifier.CROP_PX // 8) ** 2, 64),
                nn.ReLU(inplace=True),
            ),
            nn.Linear(64, classifier.ANSWERS),
        )

    def forward(self, image: Tensor) -> Tensor:
        output: Tensor = self.layers(image)
        return output
