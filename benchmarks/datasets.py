"""Public and synthetic points for the benchmarks, on the unit square, as many as are asked for.

Each set is a fixed list of places in [0, 1)^2 inside a public square domain. To get n points:

* n up to the size of the set: that many different points of it, at random;
* beyond: places drawn with replacement, each moved by a normal step of half a cell of the 256 x 256
  evaluation raster, so that repeated places do not pile up in single cells more than the set does.

Synthetic sets are made anew for each n from a fixed shape. The real sets are looked for in
`../shared/data` and left out, saying so, when they are not there.
"""

from __future__ import annotations

from pathlib import Path
from typing import Callable, Dict

import numpy as np

DATA = Path(__file__).resolve().parents[1].parent / "shared" / "data"
JITTER = 0.5 / 256

Points = np.ndarray


def _table(name: str) -> Points:
    import pandas as pd

    return pd.read_parquet(DATA / name, columns=["lon", "lat"]).to_numpy()


def _square(xy: Points, west: float, south: float, east: float, north: float) -> Points:
    """Degrees to the unit square: equirectangular at the middle latitude, bounds centred in it."""
    squeeze = np.cos(np.radians((south + north) / 2))
    width, height = (east - west) * squeeze, north - south
    side = max(width, height) * (1 + 1e-9)
    inside = (xy[:, 0] >= west) & (xy[:, 0] <= east) & (xy[:, 1] >= south) & (xy[:, 1] <= north)
    x = ((xy[inside, 0] - west) * squeeze + (side - width) / 2) / side
    y = (xy[inside, 1] - south + (side - height) / 2) / side
    return np.column_stack([x, y])


def _world(name: str) -> Points:
    """The world in a cylindrical equal-area map (standard parallels at 30 degrees)."""
    lon, lat = _table(name).T
    half = np.pi * np.cos(np.radians(30))
    x = np.radians(lon) * np.cos(np.radians(30)) / (2 * half) + 0.5
    y = np.sin(np.radians(lat)) / np.cos(np.radians(30)) / (2 * half) + 0.5
    return np.clip(np.column_stack([x, y]), 0, 1 - 1e-9)


def _tweets() -> Points:
    """A tweet is known to its cell of 256 x 256; it is put anywhere in it, the same every time."""
    counts = np.load(DATA / "dpbench_twitter_256.npz")["counts"].astype(int)
    j, i = np.divmod(np.repeat(np.arange(counts.size), counts.ravel()), counts.shape[1])
    return (np.column_stack([i, j]) + np.random.default_rng(1).random((i.size, 2))) / 256


REAL: Dict[str, Callable[[], Points]] = {
    "gb accidents": lambda: _square(_table("gb_road_accidents.parquet"), -7.6, 49.8, 1.9, 60.9),
    "world places": lambda: _world("geonames_cities1000.parquet"),
    "nyc taxi": lambda: _square(
        _table("nyc_taxi_pickups_2009_2015.parquet"), -74.3, 40.5, -73.7, 40.95
    ),
    "nyc thefts": lambda: _square(
        _table("nyc_vehicle_thefts.parquet"), -74.3, 40.45, -73.65, 40.95
    ),
    "earthquakes": lambda: _world("earthquakes_m55_1965_2016.parquet"),
    "tweets": _tweets,
}


def _towns(n: int, rng: np.random.Generator) -> Points:
    """Sixty towns, sizes by a power law, widths 0.3 to 6 % of the side; a tenth in the open."""
    shape = np.random.default_rng(60)
    centre, width = shape.random((60, 2)), 0.003 * 20 ** shape.random(60)
    weight = 1 / np.arange(1, 61)
    town = rng.choice(60, n, p=weight / weight.sum())
    at = centre[town] + width[town][:, None] * rng.standard_normal((n, 2))
    open_land = rng.random(n) < 0.1
    at[open_land] = rng.random((int(open_land.sum()), 2))
    return at


def _roads(n: int, rng: np.random.Generator) -> Points:
    """Points near eighty straight roads between forty junctions, busier where roads are short."""
    shape = np.random.default_rng(40)
    junction = 0.5 + 0.18 * shape.standard_normal((40, 2))
    ends = shape.integers(0, 40, (80, 2))
    road = rng.integers(0, 80, n)
    along = rng.random((n, 1))
    at = junction[ends[road, 0]] * along + junction[ends[road, 1]] * (1 - along)
    return at + 0.002 * rng.standard_normal((n, 2))


def _residents() -> Points:
    """The demonstration's invented residents of North America."""
    from dpsort_geo.cli.residents import residents

    return _square(np.column_stack(residents()), -128.0, 22.0, -52.0, 54.0)


def _tags() -> Points:
    """Fixes of tags in a room of six metres (a tenth of the paper's second data set)."""
    import pandas as pd

    at = pd.read_parquet(DATA / "kaluza_localization_A01_A03.parquet", columns=["x", "y"])
    return np.clip((at.to_numpy() + [0.2, 1.2]) / 6.0, 0, 1 - 1e-9)


#: always there, the same list every time
MADE: Dict[str, Callable[[], Points]] = {"residents": _residents}

#: for the paper's experiments; too small and too clumped for the arena
PAPER_ONLY: Dict[str, Callable[[], Points]] = {"tags in a room": _tags}

SYNTHETIC: Dict[str, Callable[[int, np.random.Generator], Points]] = {
    "towns": _towns,
    "roads": _roads,
}

_kept: Dict[str, Points] = {}


def names() -> list[str]:
    """All sets that can be had here."""
    if not DATA.is_dir():
        print(f"real data left out: no folder {DATA.name} beside the project")
        return [*SYNTHETIC, *MADE]
    return [*REAL, *SYNTHETIC, *MADE]


def places(name: str) -> Points:
    """The fixed list of places of a set that has one."""
    if name not in _kept:
        _kept[name] = {**REAL, **MADE, **PAPER_ONLY}[name]()
    return _kept[name]


def sample(name: str, n: int, rng: np.random.Generator) -> Points:
    """n points of a set in [0, 1)^2; the module says how."""
    if name in SYNTHETIC:
        return np.clip(SYNTHETIC[name](n, rng), 0, 1 - 1e-9)
    fixed = places(name)
    if n <= len(fixed):
        return fixed[rng.choice(len(fixed), n, replace=False)]
    drawn = fixed[rng.integers(0, len(fixed), n)]
    return np.clip(drawn + JITTER * rng.standard_normal(drawn.shape), 0, 1 - 1e-9)


def raster(points: Points, order: int) -> np.ndarray:
    """Counts on 2^order x 2^order cells; rows are y."""
    side = 1 << order
    i, j = (points * side).astype(np.int64).T
    return np.bincount(j * side + i, minlength=side * side).reshape(side, side).astype(float)
