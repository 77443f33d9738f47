"""Step B1 of the paper: from the noisy sums of a sort release to the sorted positions.

A sort release tells the sum of the positions of each group of consecutive points on the curve.
Divided by the group's size that is a noisy reading of the monotone function rank -> position, and
isotonic regression gives it its order back. Ranks run from 0 to n, point i sits at i + 1/2.
"""

from __future__ import annotations

from typing import Any, Tuple

import numpy as np

from ..errors import BadInput
from .isotonic import isotonic_l1, isotonic_l2

Knots = Tuple[np.ndarray, np.ndarray]


def decode_sorted(noisy_sums: Any, sizes: Any, n_cells: int) -> Knots:
    """Decode a sort release by the maximum likelihood fit.

    Least absolute deviations weighted by the group sizes (noise of one scale on every sum), cut to
    the curve after the fit, linear between the centres of the groups. Beyond the outer centres the
    outer slopes go on, to the outer sides of the first and the last cell at most.

    Parameters
    ----------
    noisy_sums : array_like of int
        The noisy sum of positions of each group, in the order of the curve; integers of any size.
    sizes : array_like of int
        How many points each group has.
    n_cells : int
        The number of cells on the curve: positions lie between 0 and n_cells - 1.

    Returns
    -------
    rank, position : numpy.ndarray
        The knots of the decoded function, linear between them; cell p reaches from p - 1/2 to
        p + 1/2.

    Examples
    --------
    >>> rank, position = decode_sorted([4, 36, 28], [4, 4, 2], n_cells=16)
    >>> rank.tolist(), position.tolist()
    ([0.0, 2.0, 6.0, 9.0, 10.0], [-0.5, 1.0, 9.0, 14.0, 15.5])
    """
    mean, size, edge = _means(noisy_sums, sizes)
    fit = np.clip(isotonic_l1(mean, size), 0.0, float(n_cells - 1))
    centre = (edge[1:] + edge[:-1]) / 2
    if fit.size > 1:
        slope = np.diff(fit) / np.diff(centre)
        below = max(-0.5, fit[0] - slope[0] * centre[0])
        above = min(n_cells - 0.5, fit[-1] + slope[-1] * (edge[-1] - centre[-1]))
    else:
        below = above = fit[0]
    rank = np.concatenate(([0.0], centre, edge[-1:]))
    return rank, np.concatenate(([below], fit, [above]))


def decode_sorted_paper(noisy_sums: Any, sizes: Any, n_cells: int) -> Knots:
    """Decode a sort release as the paper does, its bias at both ends included.

    Least squares, every point of a group at the group's fitted mean, nothing cut: positions may
    lie off the curve, so `n_cells` is not used. Arguments and result are those of `decode_sorted`;
    the knots are the corners of the step function.

    Examples
    --------
    >>> rank, position = decode_sorted_paper([4, 36, 34], [4, 4, 2], n_cells=16)
    >>> rank.tolist(), position.tolist()
    ([0.0, 4.0, 4.0, 8.0, 8.0, 10.0], [1.0, 1.0, 9.0, 9.0, 17.0, 17.0])
    """
    mean, _, edge = _means(noisy_sums, sizes)
    return np.repeat(edge, 2)[1:-1], np.repeat(isotonic_l2(mean), 2)


def sorted_points(rank: np.ndarray, position: np.ndarray) -> np.ndarray:
    """Give the n reconstructed positions in order: point i at rank i + 1/2.

    Examples
    --------
    >>> sorted_points(*decode_sorted([4, 36, 28], [4, 4, 2], n_cells=16)).tolist()[3:6]
    [4.0, 6.0, 8.0]
    >>> sorted_points(*decode_sorted_paper([4, 36, 34], [4, 4, 2], n_cells=16)).tolist()[2:6]
    [1.0, 1.0, 9.0, 9.0]
    """
    return np.interp(np.arange(rank[-1]) + 0.5, rank, position)


def _means(noisy_sums: Any, sizes: Any) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Give the noisy means, the sizes and the edges of the groups in ranks."""
    size = np.asarray(sizes, dtype=np.int64)
    total = np.asarray(noisy_sums)
    if size.ndim != 1 or size.shape != total.shape or size.size == 0 or (size < 1).any():
        raise BadInput("A sort release needs one noisy sum for each group of one point or more.")
    # Python integers divide exactly rounded, however long they are; an object array holds such.
    mean = np.asarray(total / size, dtype=np.float64)
    edge = np.concatenate(([0], np.cumsum(size))).astype(np.float64)
    return mean, size, edge
