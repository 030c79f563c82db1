"""Random numbers on the device of the pictures, the same for the same seed."""

from __future__ import annotations

import torch
from torch import Tensor


class Draw:
    """Random numbers for `count` scenes at a time; every shape begins with it."""

    def __init__(self, seed: int, count: int, device: torch.device) -> None:
        self.generator = torch.Generator(device=device)
        self.generator.manual_seed(seed)
        self.count, self.device = count, device

    def of(self, count: int) -> Draw:
        """The same random source for another number of scenes."""
        other = object.__new__(Draw)
        other.generator, other.count, other.device = self.generator, count, self.device
        return other

    def uniform(self, low: float, high: float, *shape: int) -> Tensor:
        """(count, *shape) uniform between low and high."""
        drawn = torch.rand(self.count, *shape, generator=self.generator, device=self.device)
        return low + (high - low) * drawn

    def log_uniform(self, low: float, high: float, *shape: int) -> Tensor:
        """(count, *shape) log-uniform between low and high."""
        return low * (high / low) ** self.uniform(0, 1, *shape)

    def normal(self, sigma: float, *shape: int) -> Tensor:
        """(count, *shape) normal with mean 0."""
        return sigma * torch.randn(self.count, *shape, generator=self.generator, device=self.device)

    def chance(self, share: float, *shape: int) -> Tensor:
        """(count, *shape), true with probability `share`."""
        return self.uniform(0, 1, *shape) < share

    def whole(self, end: int, *shape: int) -> Tensor:
        """(count, *shape) of uniform integers 0 .. end - 1."""
        return torch.randint(
            end, (self.count, *shape), generator=self.generator, device=self.device
        )

    def pick(self, weights: list[float], *shape: int) -> Tensor:
        """(count, *shape) of indices 0 .. len(weights) - 1, with probabilities by their weights."""
        bounds = torch.tensor(weights, device=self.device).cumsum(0)
        return torch.searchsorted(bounds / bounds[-1], self.uniform(0, 1, *shape)).clamp(
            max=len(weights) - 1
        )
