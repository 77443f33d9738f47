"""Private medians of numbers in [0, 1]: smooth sensitivity and the exponential mechanism.

Not private here: the noise is floating-point, from a seeded generator. Neighbours replace one
number.
"""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

from ..core.errors import BadInputError
from .raster import Array, Generator


def smooth_sensitivity(values: Any, beta: float) -> float:
    """Smooth sensitivity of the median (Nissim, Raskhodnikova, Smith 2007), in O(n log n).

    The largest (x_j - x_i) exp(-beta (j-i-1)) over ranks i <= m <= j, j > i, where ranks below 1
    are at 0 and above n at 1. The best j grows with i, so divide and conquer finds them all.

    >>> round(smooth_sensitivity(np.linspace(0, 1, 101), 1e3), 6)
    0.01
    """
    x = _sorted(values)
    middle = (x.size + 1) // 2  # rank of the median in the padded sequence
    x = np.concatenate([[0.0], x, [1.0]])
    # A gap of one rank at the median is a lower bound: nothing wider than `reach` can beat it.
    best = max(x[middle + 1] - x[middle], x[middle] - x[middle - 1], 1e-300)
    reach = int(min(-np.log(best) / beta + 1, x.size))
    low, high = max(middle - reach, 0), min(middle + reach, x.size - 1)
    stack = [(low, middle, middle, high)]
    while stack:
        first, last, from_j, to_j = stack.pop()
        if first > last:
            continue
        i = (first + last) // 2
        j = np.arange(max(from_j, i + 1), to_j + 1)
        if not j.size:
            stack.append((first, i - 1, from_j, to_j))
            continue
        gain = (x[j] - x[i]) * np.exp(-beta * (j - i - 1))
        pick = int(np.argmax(gain))
        best = max(best, float(gain[pick]))
        stack += [(first, i - 1, from_j, int(j[pick])), (i + 1, last, int(j[pick]), to_j)]
    return float(best) if best > 1e-300 else 0.0


def smooth_median(values: Any, eps: float, rng: Generator, delta: Optional[float] = None) -> float:
    """Median plus noise scaled to its smooth sensitivity, clipped to [0, 1].

    With `delta`, Laplace noise 2 S/eps and beta = eps / (2 ln(2/delta)), which is (eps, delta)-DP;
    without, Cauchy noise 6 S/eps and beta = eps/6, which is eps-DP (their lemma 2.6, gamma = 2).

    >>> round(smooth_median(np.linspace(0, 1, 101), 1e6, np.random.default_rng(0), 1e-6), 3)
    0.5
    """
    x = _sorted(values)
    if delta is None:
        noise = 6 / eps * smooth_sensitivity(x, eps / 6) * rng.standard_cauchy()
    else:
        beta = eps / (2 * np.log(2 / delta))
        noise = 2 / eps * smooth_sensitivity(x, beta) * rng.laplace()
    return float(np.clip(_median(x) + noise, 0.0, 1.0))


def exponential_median(values: Any, eps: float, rng: Generator) -> float:
    """A number in [0, 1] drawn with density ~ exp(-eps/2 |rank - n/2|) (McSherry, Talwar 2007).

    >>> exponential_median(np.linspace(0, 1, 101), 1e3, np.random.default_rng(0)).__round__(1)
    0.5
    """
    x = np.concatenate([[0.0], _sorted(values), [1.0]])
    rank = np.arange(x.size - 1)
    score = -eps / 2 * np.abs(rank - (x.size - 2) / 2)
    with np.errstate(divide="ignore"):
        score = score + np.log(np.diff(x))
    if not np.isfinite(score).any():
        return float(x[x.size // 2])
    chosen = int(np.argmax(score + rng.gumbel(size=score.size)))
    return float(x[chosen] + rng.random() * (x[chosen + 1] - x[chosen]))


def _median(x: Array) -> float:
    return float(x[(x.size + 1) // 2 - 1])


def _sorted(values: Any) -> Array:
    x = np.sort(np.asarray(values, float))
    if not x.size or not (x[0] >= 0 and x[-1] <= 1):
        raise BadInputError(
            "The median needs at least one number, all between 0 and 1; rescale them."
        )
    return x
