"""The mechanisms that others would pick, and how to measure errors. NOTHING HERE IS PRIVATE.

For research on public or synthetic data: noise is floating-point and seeded. `MECHANISMS` maps a
name to ``f(counts, eps, rng) -> estimate``, rasters in and out (see `raster`), all of them eps-DP
by their papers under *replacing one point*, n public, except for the noise being what it is.
"""

from __future__ import annotations

from typing import Any, Callable, Dict

from .bisection import hdpview
from .dawa import dawa, dawa_plain, dawa_published
from .grids import adaptive_grid, equi_width, identity, uniform_grid
from .kdtrees import htf, kd_tree
from .trees import pmm, privtree, quadtree
from .wavelet import privelet, privelet_curve

Mechanism = Callable[..., Any]

MECHANISMS: Dict[str, Mechanism] = {
    "equi-width": equi_width,
    "identity": identity,
    "uniform grid": uniform_grid,
    "adaptive grid": adaptive_grid,
    "quadtree": quadtree,
    "PrivTree": privtree,
    "PMM": pmm,
    "Privelet": privelet,
    "Privelet on the curve": privelet_curve,
    "DAWA": dawa,
    "DAWA plain": dawa_plain,
    "kd-tree": kd_tree,
    "HTF": htf,
    "HDPView": hdpview,
}

#: not eps-DP by our reading (see `dawa`), kept apart so that nobody takes it for an equal
UNPROVEN: Dict[str, Mechanism] = {"DAWA as published": dawa_published}
