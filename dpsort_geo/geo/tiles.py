"""Vector tiles of a release: points or hexagons, fewer of them on small scales, as PMTiles."""

from __future__ import annotations

import gzip
import io
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Dict, Iterator, Tuple

import numpy as np
import shapely

from ..core.atomic import PathLike, replacing
from ..core.errors import BadInputError
from ._optional import need
from .chunks import first_points, say_thinned
from .hexes import LONLAT
from .statement import STATEMENT
from .vector_tile import EXTENT, encode_rings, point_tile, polygon_tile

if TYPE_CHECKING:
    from .release import Release

Array = np.ndarray
#: zoom level, column and row
Place = Tuple[int, int, int]

KINDS = ("points", "hexes")
#: of the units along the side of a tile, those kept beyond its edge
_BEYOND = 128
#: what a hexagon says of itself
_COLUMNS = ("h3", "estimate", "low", "high", "reliable")
#: points on the smallest scale; each next one has four times as many, up to the last
_FIRST, MOST_TILED = 4000, 2_000_000
_FINEST_ZOOM = 14
#: pixels that a map has at least on the screen of a phone
_PHONE = 280
#: metres of a pixel (512 to a tile) at the equator at zoom 0
_PIXEL = 78_271.5
#: pixels that the edge of a hexagon has at least
_HEX_PIXELS = 4
#: hexagons on one scale
MOST_HEXES = 10_000
#: share of all hexagons that have less than a busy one
_BUSY = 0.99


@dataclass(frozen=True)
class TileSet:
    """Tiles by their place, as they are in the file but for the compression."""

    kind: str
    tiles: Dict[Place, bytes]
    bounds: Tuple[float, float, float, float]
    zooms: Tuple[int, int]
    metadata: Dict[str, Any]
    #: at each zoom level, the count of a busy hexagon, and the hexagons
    most: Dict[int, float]
    hexes: Dict[int, Any]


def make_tiles(release: Release, kind: str = "points", most_hexes: int = MOST_HEXES) -> TileSet:
    """The tiles of a release, from the scale that shows all of it to where errors begin to show."""
    if kind not in KINDS:
        raise BadInputError(f"Tiles are made of {' or '.join(KINDS)}, not of {kind!r}.")
    bounds = _bounds(release)
    zooms = _zooms(release, bounds)
    said = release.statement()
    tiles: Dict[Place, bytes] = {}
    most: Dict[int, float] = {}
    hexes: Dict[int, Any] = {}
    if kind == "points":
        kept = min(release.decoded.n, MOST_TILED)
        lon, lat = _points(release, kept)
        said = say_thinned(said, kept, release.decoded.n)
        tiles = dict(_point_tiles(*_mercator(lon, lat), zooms))
    else:
        hexes = _hexes_by_zoom(release, zooms, most_hexes)
        most = {zoom: float(own["estimate"].quantile(_BUSY)) for zoom, own in hexes.items()}
        zooms = zooms[0], max(hexes)
        tiles = dict(tile for zoom, own in hexes.items() for tile in _hex_tiles(own, zoom))
    fields = {"points": {}, "hexes": {name: "Number" for name in ("estimate", "low", "high")}}
    metadata = {
        "name": str(release).splitlines()[0],
        "description": said["summary"],
        "type": "overlay",
        STATEMENT: said,
        "vector_layers": [
            {"id": kind, "minzoom": zooms[0], "maxzoom": zooms[1], "fields": fields[kind]}
        ],
    }
    return TileSet(kind, tiles, bounds, zooms, metadata, most, hexes)


def write_pmtiles(path: PathLike, made: TileSet) -> None:
    """Write tiles as PMTiles (version 3), the privacy statement in its metadata."""
    need("pmtiles", "Writing PMTiles")
    from pmtiles.tile import Compression, TileType, zxy_to_tileid
    from pmtiles.writer import Writer

    west, south, east, north = (round(1e7 * value) for value in made.bounds)
    header = {
        "tile_type": TileType.MVT, "tile_compression": Compression.GZIP,
        "min_lon_e7": west, "min_lat_e7": south, "max_lon_e7": east, "max_lat_e7": north,
        "center_zoom": made.zooms[0], "center_lon_e7": (west + east) // 2,
        "center_lat_e7": (south + north) // 2,
    }  # fmt: skip
    text = io.BytesIO()
    writer = Writer(text)
    for number, place in sorted((zxy_to_tileid(*place), place) for place in made.tiles):
        writer.write_tile(number, gzip.compress(made.tiles[place], mtime=0))
    writer.finalize(header, made.metadata)
    with replacing(path) as part:
        part.write_bytes(text.getvalue())


def _bounds(release: Release) -> Tuple[float, float, float, float]:
    from ..webmap.sheet import lonlat_bounds

    west, south, east, north = lonlat_bounds(release.domain)
    return max(west, -180.0), south, min(east, 180.0), north


def _zooms(release: Release, bounds: Tuple[float, float, float, float]) -> Tuple[int, int]:
    """From where the domain fits a phone to where the expected error has sixteen pixels."""
    west, south, east, north = bounds
    (left, right), (bottom, top) = _mercator(np.array([west, east]), np.array([south, north]))
    widest = max(right - left, bottom - top)
    first = int(np.clip(np.floor(np.log2(_PHONE / 512 / widest)), 0, 12))
    error = release.expected_error
    if not math.isfinite(error) or error <= 0:
        return first, first
    pixel = _PIXEL * math.cos(math.radians((south + north) / 2))
    return first, int(np.clip(round(math.log2(16 * pixel / error)), first, _FINEST_ZOOM))


def _points(release: Release, kept: int) -> Tuple[Array, Array]:
    chunks = release._chunks(True, max(release.decoded.n, 1), LONLAT)
    pieces = list(first_points(chunks, kept))
    nothing = np.zeros(0)
    lon, lat = (np.concatenate([nothing, *part]) for part in zip(*(pieces or [(nothing, nothing)])))
    return lon, lat


def _mercator(lon: Array, lat: Array) -> Tuple[Array, Array]:
    """Places on the square of web maps, from 0 to 1, rows from the north."""
    up = np.radians(np.clip(lat, -85.05, 85.05))
    return lon / 360 + 0.5, 0.5 - np.arcsinh(np.tan(up)) / (2 * np.pi)


def _point_tiles(x: Array, y: Array, zooms: Tuple[int, int]) -> Iterator[Tuple[Place, bytes]]:
    """All points of a tile are one feature: they have nothing else to say."""
    for zoom in range(zooms[0], zooms[1] + 1):
        last = zoom == zooms[1]
        kept = x.size if last else min(x.size, _FIRST * 4 ** (zoom - zooms[0]))
        side = 2**zoom
        px, py = (x[:kept] % 1) * side, np.clip(y[:kept], 0, 1 - 1e-12) * side
        column, row = px.astype(np.int64), py.astype(np.int64)
        place = column * side + row
        order = np.argsort(place, kind="stable")
        local = np.floor(np.column_stack([px - column, py - row])[order] * EXTENT).astype(np.int64)
        cuts = np.flatnonzero(np.diff(place[order])) + 1
        for piece, own in zip(np.split(local, cuts), np.split(place[order], cuts)):
            if own.size:
                tile = zoom, int(own[0]) // side, int(own[0]) % side
                yield tile, point_tile("points", piece)


def _hexes_by_zoom(release: Release, zooms: Tuple[int, int], many: int) -> Dict[int, Any]:
    """Hexagons whose edges have some pixels, but not smaller than errors, nor too many."""
    h3 = need("h3", "Drawing tiles of hexagons")
    south, north = _bounds(release)[1::2]
    edges = [h3.average_hexagon_edge_length(level, unit="m") for level in range(16)]
    least = max(3 * np.nan_to_num(release.expected_error), 1.0)
    fewest = math.sqrt(release.domain.area / many / 2.6)  # 2.6 squares of the edge
    finest = max([0, *(k for k, edge in enumerate(edges) if edge >= max(least, fewest))])
    made: Dict[int, Any] = {}
    found: Dict[int, Any] = {}
    for zoom in range(zooms[0], zooms[1] + 1):
        pixel = _PIXEL * math.cos(math.radians((south + north) / 2)) / 2**zoom
        wanted = max([0, *(k for k, edge in enumerate(edges) if edge >= _HEX_PIXELS * pixel)])
        level = min(wanted, finest)
        if level not in made:
            made[level] = release.hexes(level)
        found[zoom] = made[level]
        if wanted >= finest:  # from here on the same hexagons are drawn larger
            break
    return found


def _hex_tiles(hexes: Any, zoom: int) -> Iterator[Tuple[Place, bytes]]:
    """Each hexagon whole in every tile that it meets, or nearly."""
    side = 2**zoom
    rings = shapely.get_exterior_ring(hexes.geometry.to_numpy())
    corners, owner = shapely.get_coordinates(rings, return_index=True)
    open_end = np.append(np.diff(owner) == 0, False)  # the last corner is the first again
    (x, y), owner = _mercator(*corners[open_end].T), owner[open_end]
    at = np.column_stack([x, y]) * side
    first = np.flatnonzero(np.diff(owner, prepend=-1))
    edge = _BEYOND / EXTENT
    low = np.floor(np.minimum.reduceat(at, first) - edge).astype(np.int64)
    high = np.floor(np.maximum.reduceat(at, first) + edge).astype(np.int64)
    wide, tall = (high - low + 1).T
    which = np.repeat(np.arange(first.size), wide * tall)
    number = np.arange(which.size) - np.repeat(np.cumsum(wide * tall) - wide * tall, wide * tall)
    tile = low[which] + np.column_stack([number % wide[which], number // wide[which]])
    there = (tile[:, 1] >= 0) & (tile[:, 1] < side)
    which, tile = which[there], tile[there]
    sizes = np.diff(np.append(first, owner.size))[which]
    start = np.repeat(first[which] - (np.cumsum(sizes) - sizes), sizes) + np.arange(sizes.sum())
    local = np.rint((at[start] - np.repeat(tile, sizes, axis=0)) * EXTENT).astype(np.int64)
    shapes = encode_rings(local, sizes)
    columns = {name: hexes[name].tolist() for name in _COLUMNS}
    columns["estimate"] = [round(value, 1) for value in columns["estimate"]]
    place = (tile[:, 0] % side) * side + tile[:, 1]
    order = np.argsort(place, kind="stable")
    for some in np.split(order, np.flatnonzero(np.diff(place[order])) + 1):
        own = which[some].tolist()
        properties = {name: [values[k] for k in own] for name, values in columns.items()}
        column, row = divmod(int(place[some[0]]), side)
        geometries = [shapes[k] for k in some.tolist()]
        yield (zoom, column, row), polygon_tile("hexes", geometries, properties)
