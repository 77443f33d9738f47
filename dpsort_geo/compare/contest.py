"""All mechanisms on one public data set, side by side. NOT PRIVATE."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Callable, Dict, List

import numpy as np

from ..core.rules import METHODS as OURS
from . import MECHANISMS
from .metrics import (
    data_rectangles,
    density_l1,
    density_l2,
    emd_sliced,
    random_squares,
    range_error,
)
from .ours import ours
from .raster import Array, checked


@dataclass(frozen=True)
class Result:
    """Mean errors of one mechanism; lengths in sides of the domain, counts in shares of n."""

    mechanism: str
    emd: float
    squares: float
    rectangles: float
    l1: float
    l2: float


def contest(
    counts: Any,
    eps: float,
    seed: int = 0,
    repeats: int = 3,
    progress: Callable[[str], None] = lambda name: None,
) -> List[Result]:
    """Errors of our methods and of all others, the smallest earth mover's distance first.

    >>> results = contest(np.eye(8) * 200, 1.0, repeats=1)
    >>> {"ours: adaptive", "Privelet"} <= {result.mechanism for result in results}
    True
    """
    truth = checked(counts, eps)
    field: Dict[str, Callable[..., Array]] = {
        **{f"ours: {method}": partial(ours, method=method) for method in OURS},
        **MECHANISMS,
    }
    results = []
    for number, (name, mechanism) in enumerate(field.items()):
        progress(name)
        errors = [
            _errors(truth, mechanism, eps, np.random.default_rng([seed, repeat, number]))
            for repeat in range(repeats)
        ]
        results.append(Result(name, *np.mean(errors, axis=0).tolist()))
    return sorted(results, key=lambda result: result.emd)


def _errors(
    truth: Array, mechanism: Callable[..., Array], eps: float, rng: np.random.Generator
) -> List[float]:
    squares = random_squares(truth.shape[0], 300, rng)
    rectangles = data_rectangles(truth, 300, rng)
    estimate = mechanism(truth, eps, rng)
    return [
        emd_sliced(truth, estimate, 32),
        range_error(truth, estimate, squares),
        range_error(truth, estimate, rectangles),
        density_l1(truth, estimate),
        density_l2(truth, estimate),
    ]
