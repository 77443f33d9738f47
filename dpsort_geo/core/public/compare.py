"""The difference and the ratio of the counts in two zones, with limits.

The limits of each zone are lopsided (see `intervals`), so they are not turned into one variance.
The distances of the two estimates from their limits are added like standard deviations, with the
correlation of the two counts between them (the method of variance estimates recovery of Zou and
Donner 2008); for a ratio on the logarithms. The correlation is exact under the same model as the
limits: the variance of the two zones taken together is that of each plus twice their covariance.
Counts of neighbours are correlated because n is known and because they share the leaves between
them. Slices of one axis (categories, months) add up to all points, which are known better than any
slice, so what one has too much the others have too little.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Sequence, Tuple

import numpy as np

from ..curve.blocks import join_blocks
from ..curve.cover import Rings
from ..errors import BadInputError
from .counts import count_within, zone_blocks
from .decode import Decoded

Array = np.ndarray
Limits = Tuple[float, float, float]


@dataclass(frozen=True)
class Comparison:
    """Estimate, lower and upper limit of a - b and of a / b."""

    difference: Limits
    ratio: Limits
    #: correlation of the errors of the two counts
    correlation: float


def compare_zones(
    decoded: Decoded, zones: Sequence[Rings], pair: Tuple[int, int], confidence: float = 0.9
) -> Comparison:
    """Compare two zones of a table, by their numbers, that do not overlap.

    Their limits are those that they have in the table: along a coast it is the table that tells.

    >>> from dpsort_geo.core.curve.grid import Grid
    >>> from dpsort_geo.core.private.publish import count, measure
    >>> from dpsort_geo.core.public.decode import decode
    >>> cells = count(Grid(0.0, 0.0, 1.0, 1), np.repeat([0.5, 1.5], [300, 100]), np.full(400, 0.5))
    >>> west = np.array([[0, 0], [1, 0], [1, 2], [0, 2]], float)
    >>> found = compare_zones(decode(measure(cells, epsilon=50)), [[west], [west + [1, 0]]], (0, 1))
    >>> round(found.difference[0]), round(found.ratio[0], 1), round(found.correlation, 6)
    (200, 3.0, -1.0)
    """
    estimate, low, high = (
        column[list(pair)] for column in count_within(decoded, zones, confidence)
    )
    r = _correlation(decoded, [zones[number] for number in pair])
    return compare_counts(estimate, low, high, r)


def compare_counts(estimate: Array, low: Array, high: Array, r: float) -> Comparison:
    """Compare two counts whose errors have the correlation r.

    >>> found = compare_counts(np.array([6.0, 3]), np.array([3.0, 3]), np.array([9.0, 3]), 0.0)
    >>> found.difference, [round(x, 6) for x in found.ratio]
    ((3.0, 0.0, 6.0), [2.0, 1.0, 3.0])
    """
    if np.isnan(estimate).any():
        raise BadInputError("A zone outside of the domain has no count to compare.")
    difference = _limits(estimate, low, high, r)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = _limits(np.log(estimate), np.log(low), np.log(high), r)
        ratio = np.exp(np.array(logs))
    if not estimate.all() or not low.all():  # there may be nothing in one of them
        ratio = np.array([ratio[0], 0.0 if not low[0] else ratio[1], ratio[2]])
        ratio[2] = np.inf if not low[1] else ratio[2]
    return Comparison(difference, (float(ratio[0]), float(ratio[1]), float(ratio[2])), r)


def subtract(estimate: Any, low: Any, high: Any, r: float) -> Tuple[Any, Any, Any]:
    """Estimate and limits of the first less the second, whose errors have the correlation r.

    >>> [float(one) for one in subtract([10.0, 4.0], [7.0, 4.0], [13.0, 8.0], 0.0)]
    [6.0, 1.0, 9.0]
    """
    (a, b), (low_a, low_b), (high_a, high_b) = estimate, low, high
    middle = a - b
    below, above = (
        np.sqrt(np.maximum(x * x + y * y - 2 * r * x * y, 0.0))
        for x, y in ((a - low_a, high_b - b), (high_a - a, b - low_b))
    )
    return middle, middle - below, middle + above


def _limits(estimate: np.ndarray, low: np.ndarray, high: np.ndarray, r: float) -> Limits:
    middle, below, above = subtract(estimate, low, high, r)
    return float(middle), float(below), float(above)


def slice_correlation(own: int, other: int, size: int) -> float:
    """Correlation of the errors of two disjoint parts of an axis, whose sum is known better.

    Of ``size`` slices with like errors that add up to nothing, ``own`` and ``other`` together.

    >>> slice_correlation(1, 1, 2), round(slice_correlation(1, 2, 5), 6)
    (-1.0, -0.408248)
    """
    return -float(np.sqrt(own * other / ((size - own) * (size - other))))


def _correlation(decoded: Decoded, zones: Sequence[Rings]) -> float:
    blocks = zone_blocks(decoded, zones)
    both = replace(blocks, zone=np.full(len(blocks), 2))
    found = decoded.estimate_in(join_blocks([blocks, both]), 3)
    a, b, together = found.noise + found.cut
    spread = float(np.sqrt(a * b))
    return float(np.clip((together - a - b) / 2 / spread, -1.0, 1.0)) if spread > 0 else 0.0
