"""Layers of a map page: dots, a picture of the density, the outline, degrees, tiles."""

from __future__ import annotations

import base64
from typing import Any, Dict, List, Tuple
from urllib.parse import urlsplit

import numpy as np
import shapely

from ..curve import hilbert
from ..errors import BadInput
from ..reader.decode import Decoded
from ..reader.density import pixel_area, raster
from . import png
from .area import rings_of, unwrapped
from .domain import Domain

Array = np.ndarray
Layer = Dict[str, Any]
LonLatBounds = Tuple[float, float, float, float]

LONLAT = "EPSG:4326"
#: the latitude at which Web Mercator is a square
_EDGE_OF_MERCATOR = 85.0511
#: a page shows at most this many dots a layer; more cannot be told apart on a screen
MOST_DOTS = 60_000
_IMAGE_PIXELS = 900
_IMAGE_LEVEL = 9
#: light to dark, readable without colour and by the colour-blind
_RAMP = (
    (254, 240, 200),
    (252, 196, 116),
    (243, 137, 86),
    (205, 77, 94),
    (130, 40, 106),
    (59, 15, 80),
)
#: decades of density that the picture tells apart
_DECADES = 3.0


def points_layer(
    name: str,
    lon: Array,
    lat: Array,
    west: float,
    colour: str = "#14405f",
    note: str = "",
    on: bool = True,
    repeated: bool = False,
) -> Layer:
    """Dots on a canvas; ``repeated`` draws one circle for all points of a place, by their number.

    Points come along the curve, so every k-th of them is an even sample.

    >>> points_layer("a", np.zeros(70_000), np.zeros(70_000), west=-1.0)["note"]
    '60,000 of 70,000 shown.'
    """
    lon, lat = np.asarray(lon, np.float64), np.asarray(lat, np.float64)
    layer: Layer = {"kind": "points", "name": name, "colour": colour, "note": note, "on": on}
    if repeated:
        places, counts = np.unique(np.column_stack([lon, lat]), axis=0, return_counts=True)
        kept = _largest(counts, MOST_DOTS)
        lon, lat = places[kept].T
        layer["count"] = _words(counts[kept])
    elif lon.size > MOST_DOTS:
        kept = (np.arange(MOST_DOTS) * (lon.size / MOST_DOTS)).astype(np.int64)
        layer["note"] = f"{note} {MOST_DOTS:,} of {lon.size:,} shown.".strip()
        lon, lat = lon[kept], lat[kept]
    x = (unwrapped(lon, west + 180) - west) / 360
    layer["x"] = _words(np.clip(x, 0, 1) * (2**32 - 1))
    layer["y"] = _words(_mercator(lat) * (2**32 - 1))
    return layer


def _largest(counts: Array, most: int) -> Array:
    """Which places to show when there are too many: the largest, and evenly among equals."""
    if counts.size <= most:
        return np.arange(counts.size)
    limit = int(np.partition(counts, -most)[-most])
    above, equal = np.flatnonzero(counts > limit), np.flatnonzero(counts == limit)
    room = most - above.size
    chosen = equal[(np.arange(room) * (equal.size / max(room, 1))).astype(np.int64)]
    return np.sort(np.concatenate([above, chosen]))


def density_layer(decoded: Decoded, domain: Domain, bounds: LonLatBounds) -> Layer:
    """A picture of the density, computed where Web Mercator wants its pixels."""
    west, south, east, north = bounds
    top, bottom = _mercator(np.array([north, south]))
    width, height = (east - west) / 360, bottom - top
    scale = _IMAGE_PIXELS / max(width, height)
    columns, rows = max(2, round(width * scale)), max(2, round(height * scale))
    lon = west + (np.arange(columns) + 0.5) / columns * (east - west)
    lat = _latitude(top + (np.arange(rows) + 0.5) / rows * (bottom - top))
    place = domain.project(np.tile(lon, rows), np.repeat(lat, columns), LONLAT)
    values = _density_at(decoded, domain, *place).reshape(rows, columns)
    highest = float(np.quantile(values[values > 0], 0.9995)) if (values > 0).any() else 1.0
    people = "persons" if decoded.release.unit == "person" else "points"
    return {
        "kind": "image",
        "name": "Density",
        "note": "",
        "on": True,
        "url": png.data_uri(_coloured(values, highest)),
        "bounds": [[south, west], [north, east]],
        "legend": _legend(highest, f"{people} per km²"),
    }


def _density_at(decoded: Decoded, domain: Domain, x: Array, y: Array) -> Array:
    """Points per square kilometre at places in the working CRS, linear between pixel centres."""
    grid = domain.grid
    level = min(grid.order, _IMAGE_LEVEL)
    share = pixel_area(grid, level)
    pixel = grid.side / 2**level
    middle = (np.arange(2**level) + 0.5) * pixel
    square = domain.square_metres(grid.x0 + middle, grid.y0 + middle)
    area = share * square * (pixel / 1000) ** 2
    mass = raster(decoded, level)
    per_km2 = np.divide(mass, area, out=np.zeros_like(mass), where=area > 0)
    u, v = (x - grid.x0) / pixel - 0.5, (y - grid.y0) / pixel - 0.5
    inside = np.isfinite(u) & np.isfinite(v)
    u, v = np.where(inside, u, -1.0), np.where(inside, v, -1.0)
    inside = _allowed(domain, grid.x0 + (u + 0.5) * pixel, grid.y0 + (v + 0.5) * pixel)
    i, j = np.floor(u).astype(np.int64), np.floor(v).astype(np.int64)
    total, weight = np.zeros(x.size), np.zeros(x.size)
    for di in (0, 1):
        for dj in (0, 1):
            column, row = np.clip(i + di, 0, 2**level - 1), np.clip(j + dj, 0, 2**level - 1)
            part = np.abs(1 - di - (u - i)) * np.abs(1 - dj - (v - j)) * (share[row, column] > 0)
            total += part * per_km2[row, column]
            weight += part
    return np.where(inside & (weight > 0), total / np.maximum(weight, 1e-9), 0.0)


def _allowed(domain: Domain, x: Array, y: Array) -> Array:
    grid = domain.grid
    column, row = grid.columns_and_rows(x, y)
    last = 2**grid.order - 1
    inside = (column >= 0) & (row >= 0) & (column <= last) & (row <= last)
    index = hilbert.encode(np.clip(column, 0, last), np.clip(row, 0, last), grid.order)
    return inside & grid.is_allowed(index)


def outline_layer(rings: List[List[List[float]]], name: str = "Domain", fill: float = 1.0) -> Layer:
    """The area in which points may lie, as rings of [lat, lon]."""
    return {
        "kind": "outline",
        "name": name,
        "note": "where points may lie: public",
        "on": True,
        "rings": rings,
        "fill": fill,
    }


def graticule_layer() -> Layer:
    """Meridians and parallels."""
    return {"kind": "graticule", "name": "Degrees", "note": "", "on": True}


def tile_layer(tiles: Any) -> Layer:
    """A base map from the network: an address with {z}, {x}, {y}, or True for OpenStreetMap.

    >>> tile_layer(True)["attribution"]
    '© OpenStreetMap contributors'
    """
    if tiles is True:
        tiles = "https://tile.openstreetmap.org/{z}/{x}/{y}.png"
    if not isinstance(tiles, str) or not all(part in tiles for part in ("{z}", "{x}", "{y}")):
        raise BadInput("Tiles are an address with {z}, {x} and {y} in it, or True.")
    tile_host(tiles)
    credit = "© OpenStreetMap contributors" if "openstreetmap.org" in tiles else ""
    return {
        "kind": "tiles", "name": "Base map", "note": "asks a tile server", "on": True,
        "url": tiles, "attribution": credit,
    }  # fmt: skip


def lonlat_rings(domain: Domain) -> Tuple[List[List[List[float]]], LonLatBounds]:
    """The domain's outline as rings of [lat, lon], unbroken at the antimeridian, and its bounds."""
    try:
        middle = float(domain.unproject(*domain.middle(), LONLAT)[0][0])
    except BadInput:
        raise BadInput("This domain's CRS has no longitudes, so there is no map of it.") from None
    outline = shapely.segmentize(domain.outline(), domain.grid.side / 64)
    rings, every = [], []
    for ring in rings_of(outline):
        lon, lat = domain.unproject(ring[:, 0], ring[:, 1], LONLAT)
        lon, lat = _unbroken(lon, lat, middle)
        lat = np.clip(lat, -_EDGE_OF_MERCATOR, _EDGE_OF_MERCATOR)
        every.append(np.column_stack([lon, lat]))
        rings.append(np.round(np.column_stack([lat, lon]), 5).tolist())
    corners = np.concatenate(every)
    west, south = corners.min(axis=0)
    east, north = corners.max(axis=0)
    return rings, (float(west), float(south), float(east), float(north))


def _unbroken(lon: Array, lat: Array, middle: float) -> Tuple[Array, Array]:
    """A closed ring near a longitude; one that goes around a pole is closed along that pole."""
    straight = np.degrees(np.unwrap(np.radians(lon)))
    if abs(straight[-1] - straight[0]) < 180:
        return unwrapped(lon, middle), lat
    straight -= 360 * np.rint((straight.mean() - middle) / 360)
    pole = np.copysign(90.0, lat.mean())
    lon = np.concatenate([straight, straight[[-1, 0, 0]]])
    return lon, np.concatenate([lat, [pole, pole, lat[0]]])


def ramp(share: Array) -> Array:
    """Colours of shares between 0 and 1, as bytes.

    >>> ramp(np.array([0.0, 1.0]))
    array([[254, 240, 200],
           [ 59,  15,  80]], dtype=uint8)
    """
    stops = np.linspace(0, 1, len(_RAMP))
    mixed = [np.interp(share, stops, [colour[c] for colour in _RAMP]) for c in range(3)]
    return np.rint(np.stack(mixed, axis=-1)).astype(np.uint8)


def _coloured(values: Array, highest: float) -> Array:
    with np.errstate(divide="ignore"):
        share = 1 + np.log10(values / highest) / _DECADES
    picture = np.empty((*values.shape, 4), np.uint8)
    picture[..., :3] = ramp(np.clip(share, 0, 1))
    # thin density fades out instead of ending at a hard edge
    picture[..., 3] = np.rint(255 * np.clip(1 + 2.5 * share, 0, 1) * (values > 0))
    return picture


def _legend(highest: float, title: str) -> Dict[str, Any]:
    stops = [f"rgb{tuple(colour)}" for colour in _RAMP]
    top = np.floor(np.log10(highest))
    ticks = []
    for power in (top - 2, top - 1, top):
        value = 10.0**power
        share = 1 + np.log10(value / highest) / _DECADES
        if 0 <= share <= 1:
            ticks.append([round(float(share), 4), _short(value)])
    return {
        "title": title,
        "gradient": f"linear-gradient(90deg, {', '.join(stops)})",
        "ticks": ticks,
    }


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 1 else f"{value:g}"


def _mercator(lat: Array) -> Array:
    """Latitudes as shares of the Mercator square, 0 at its northern edge."""
    sine = np.sin(np.radians(np.clip(lat, -_EDGE_OF_MERCATOR, _EDGE_OF_MERCATOR)))
    return np.clip(0.5 - np.log((1 + sine) / (1 - sine)) / (4 * np.pi), 0, 1)


def _latitude(share: Array) -> Array:
    return np.degrees(np.arctan(np.sinh(np.pi * (1 - 2 * share))))


def _words(values: Array) -> str:
    return base64.b64encode(np.rint(values).astype("<u4").tobytes()).decode("ascii")


def tile_host(address: str) -> str:
    """The host that a page with these tiles must be allowed to ask."""
    parts = urlsplit(address.replace("{s}.", "*."))
    if parts.scheme not in ("http", "https") or not parts.hostname or ";" in parts.netloc:
        raise BadInput("The address of the tiles must begin with https://.")
    return f"{parts.scheme}://{parts.netloc}"
