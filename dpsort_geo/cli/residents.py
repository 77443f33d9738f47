"""Residents of North American cities, made from public numbers: something to try things on.

About the size and shape of the paper's 183,072 Twitter users, whom nobody can have.
"""

from __future__ import annotations

import json
from functools import lru_cache
from importlib.resources import files
from typing import Any, Tuple

import numpy as np
import shapely

from ..geo.domain import Domain
from ..webmap.ground import read_cities

Array = np.ndarray

#: as many as the paper's first data set has
RESIDENTS = 183_072
#: households do not live at the city hall: spread in degrees for a city of a million
_SPREAD = 0.09
#: share of people who live far from the centre, and how much farther
_FAR_SHARE, _FAR_TIMES = 0.18, 5.0
#: types of homes, and the year in which people moved into them
HOMES = ("flat", "house", "student home")
YEAR = 2025


@lru_cache(maxsize=1)
def land() -> Any:
    """North America between 22 and 54 degrees north, a shapely polygon in degrees (public)."""
    text = (files("dpsort_geo") / "data" / "north_america_land.geojson").read_text("utf-8")
    return shapely.geometry.shape(json.loads(text)["geometry"])


def land_domain() -> Domain:
    """The demonstration's domain: land, because nobody lives at sea.

    >>> land_domain().working_crs.name == "unknown"
    True
    """
    return Domain.from_polygon(land(), crs="EPSG:4326")


def cities() -> Tuple[Array, Array, Array]:
    """Longitude, latitude and population of the cities in the package's table (GeoNames)."""
    _, table = read_cities("cities.csv")
    return table[:, 0], table[:, 1], table[:, 2]


def residents(n: int = RESIDENTS, seed: int = 2012) -> Tuple[Array, Array]:
    """Longitudes and latitudes of ``n`` invented residents, on land, the same for everybody.

    >>> lon, lat = residents(1000)
    >>> lon.size
    1000
    """
    lon, lat, _ = _draw_homes(n, seed)
    return lon, lat


def residents_by_type_and_month(
    n: int = RESIDENTS, seed: int = 2012
) -> Tuple[Array, Array, Array, Array]:
    """The same residents with the type of their home and the month in which they moved in.

    Who lives far from the centre has a house more often; students come in September; in the north
    few move in winter.

    >>> lon, lat, kind, month = residents_by_type_and_month(1000)
    >>> sorted(set(kind)) == sorted(HOMES), month[0].startswith(f"{YEAR}-")
    (True, True)
    """
    lon, lat, is_far = _draw_homes(n, seed)
    generator = np.random.default_rng(seed + 1)
    near, far = (0.62, 0.2, 0.18), (0.18, 0.8, 0.02)
    chance = generator.random(n)
    kind = np.where(is_far, _cut(chance, far), _cut(chance, near))
    north = np.clip((lat - 30) / 15, 0, 1)[:, None]
    months = np.arange(12)
    weight = 1 + 0.9 * north * np.cos((months - 6) * np.pi / 6)
    weight = np.where((kind == 2)[:, None], 0.15 + 6.0 * (months == 8), weight)
    upto = np.cumsum(weight, axis=1)
    month = (upto < generator.random((n, 1)) * upto[:, -1:]).sum(axis=1)
    names = np.array([f"{YEAR}-{number + 1:02d}" for number in range(12)])
    return lon, lat, np.array(HOMES)[kind], names[month]


def _cut(chance: Array, shares: Tuple[float, ...]) -> Array:
    return np.minimum(np.searchsorted(np.cumsum(shares), chance), len(shares) - 1)


def _draw_homes(n: int, seed: int) -> Tuple[Array, Array, Array]:
    """Places of homes, and whether they are far from the centre of their city."""
    generator = np.random.default_rng(seed)
    lon, lat, population = cities()
    spread = _SPREAD * np.sqrt(population / 1e6) + 0.01
    found = np.zeros((3, 0))
    shapely.prepare(land())
    while found.shape[1] < n:
        city = generator.choice(lon.size, n, p=population / population.sum())
        far = np.where(generator.random(n) < _FAR_SHARE, _FAR_TIMES, 1.0)
        radius = spread[city] * far * generator.normal(size=(2, n))
        y = lat[city] + radius[1]
        x = lon[city] + radius[0] / np.cos(np.radians(lat[city]))
        ashore = shapely.contains_xy(land(), x, y)
        found = np.concatenate([found, np.stack([x, y, far])[:, ashore]], axis=1)
    return found[0, :n], found[1, :n], found[2, :n] > 1
