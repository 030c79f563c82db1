"""Numbers by chance, on the device that the pictures are made on, the same for the same seed."""

from __future__ import annotations

import torch
from torch import Tensor


class Draw:
    """Numbers by chance for `count` scenes at a time; every shape begins with it."""

    def __init__(self, seed: int, count: int, device: torch.device) -> None:
        self.generator = torch.Generator(device=device)
        self.generator.manual_seed(seed)
        self.count, self.device = count, device

    def of(self, count: int) -> Draw:
        """The same source of chance for another number of scenes."""
        other = object.__new__(Draw)
        other.generator, other.count, other.device = self.generator, count, self.device
        return other

    def uniform(self, low: float, high: float, *shape: int) -> Tensor:
        """(count, *shape) between low and high."""
        drawn = torch.rand(self.count, *shape, generator=self.generator, device=self.device)
        return low + (high - low) * drawn

    def log_uniform(self, low: float, high: float, *shape: int) -> Tensor:
        """(count, *shape) whose logarithm is even between those of low and high."""
        return low * (high / low) ** self.uniform(0, 1, *shape)

    def normal(self, sigma: float, *shape: int) -> Tensor:
        """(count, *shape) around 0."""
        return sigma * torch.randn(self.count, *shape, generator=self.generator, device=self.device)

    def chance(self, share: float, *shape: int) -> Tensor:
        """(count, *shape), true for such a share."""
        return self.uniform(0, 1, *shape) < share

    def whole(self, end: int, *shape: int) -> Tensor:
        """(count, *shape) of the whole numbers 0 .. end - 1."""
        return torch.randint(
            end, (self.count, *shape), generator=self.generator, device=self.device
        )

    def pick(self, weights: list[float], *shape: int) -> Tensor:
        """(count, *shape) of numbers 0 .. len(weights) - 1, each as often as its weight says."""
        bounds = torch.tensor(weights, device=self.device).cumsum(0)
        return torch.searchsorted(bounds / bounds[-1], self.uniform(0, 1, *shape)).clamp(
            max=len(weights) - 1
        )
