"""The finder's network: a small U-net that says, for every fourth pixel, whether a piece has its middle there, and which."""

from __future__ import annotations

from torch import Tensor, nn

from vision.finder import CHANNELS


def _layer(inputs: int, outputs: int, stride: int = 1) -> nn.Sequential:
    return nn.Sequential(nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU(inplace=True))


class FinderNet(nn.Module):
    """(n, 3, h, w) in 0..1, h and w multiples of 32, to (n, CHANNELS, h / 4, w / 4); see `vision.finder` for the channels."""

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
