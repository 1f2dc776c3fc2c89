"""Arrays of random numbers, the same bit for bit under every version of numpy.

Of numpy only the raw words of PCG64 are used, which are part of that generator's definition. What `numpy.random.Generator`
makes of them may change with numpy's versions, and what `numpy.log` gives with the machine.
"""

from __future__ import annotations

import math

import numpy as np

_ROOT_OF_3 = 1.7320508075688772


class ArrayGenerator:
    """Draws arrays of given shapes."""

    def __init__(self, seed: int) -> None:
        self.words = np.random.PCG64(seed)

    def uniform(self, sizes: list[int]) -> np.ndarray:
        """Multiples of 2^-53 in [0, 1)."""
        words = self.words.random_raw(math.prod(sizes))
        return ((words >> np.uint64(11)).astype(np.float64) * 2.0**-53).reshape(sizes)

    def integers(self, least: int, most: int, sizes: list[int]) -> np.ndarray:
        """Numbers of i64 from `least` to `most`, both of which may occur."""
        words, span = self.words.random_raw(math.prod(sizes)), most - least + 1
        if span < 1 << 64:
            words = words % np.uint64(span)
        return (words + np.uint64(least & ((1 << 64) - 1))).view(np.int64).reshape(sizes)

    def normal(self, sizes: list[int]) -> np.ndarray:
        """Nearly normal numbers of variance 1, up to 3.5: sums of four in steps of 2^-32."""
        words = self.words.random_raw(2 * math.prod(sizes)).reshape(2, -1)
        total = ((words >> np.uint64(32)) + (words & np.uint64(0xFFFFFFFF))).sum(axis=0)
        # Of mean 2 and variance 4 / 12 so far.
        return ((total.astype(np.float64) * 2.0**-32 - 2) * _ROOT_OF_3).reshape(sizes)
