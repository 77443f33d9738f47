"""Releases in QGIS: made from counts, read from files, turned into coordinates and pictures."""

import dataclasses
import hashlib
import math
import os
import tempfile
from pathlib import Path

import numpy as np
from qgis.core import QgsApplication, QgsProviderRegistry

from ._vendor.dpsort_geo.errors import BadInput
from ._vendor.dpsort_geo.publisher.cells import merge_all
from ._vendor.dpsort_geo.publisher.ledger import Ledger
from ._vendor.dpsort_geo.publisher.measure import count, measure
from ._vendor.dpsort_geo.reader.decode import decode
from ._vendor.dpsort_geo.reader.density import (
    MAX_LEVEL,
    SMOOTH_LEVEL,
    between,
    pixel_area,
    raster,
)
from ._vendor.dpsort_geo.reader.diffuse import points
from .area import crs_of, crs_text, metres_on_the_ground, square_metres, transformed
from .i18n import tr

#: areas on the ground are known at so many places along each side
_LATTICE = 65


def method_words():
    """One line for each method that says when to choose it."""
    return [
        tr("Adaptive: the most accurate map; choose it unless you need another"),
        tr("Sort: the paper's method; all quantiles at once, no grid to choose"),
        tr("Hybrid: counts in fixed cells, sorted inside; for comparison with the paper"),
    ]


def neighbour_words():
    """One line for each neighbour relation."""
    return [
        tr("A person may be anywhere else (the number of points is public)"),
        tr("A person may be missing (the number of points is hidden too)"),
    ]


def gathered(chunks, grid, method, person):
    """Counts in cells from chunks of points; persons need all their points at once."""
    nothing = count(grid, np.zeros(0), np.zeros(0))
    if not person:
        return merge_all([count(grid, x, y) for x, y, _ in chunks] or [nothing])
    parts = list(chunks)
    if not parts:
        return nothing
    x, y = (np.concatenate([part[axis] for part in parts]) for axis in (0, 1))
    return count(grid, x, y, [one for part in parts for one in part[2]], method)


def published(cells, area, epsilon, method, neighbours, person, group_size):
    """The release of counted cells, with the CRS of the area in it. Draws the noise."""
    unit = "person" if person else "point"
    return dataclasses.replace(
        measure(cells, epsilon, method, group_size, neighbours, unit),
        crs=crs_text(area.crs),
        working_crs=crs_text(area.working_crs),
        ledger=True,
    )


def check_writable(path):
    """Refuse a file that could not be written, before epsilon is spent on it."""
    try:
        with tempfile.TemporaryFile(dir=Path(path).parent):
            pass
        if Path(path).exists():
            with open(path, "ab"):
                pass
    except OSError:
        words = tr("{path} cannot be written; choose another file or folder.")
        raise BadInput(words.format(path=path)) from None


def crs_pair(release):
    """The CRS in which the area was given, and the one of the grid."""
    if not release.crs or not release.working_crs:
        raise BadInput(tr("This release has no coordinate reference system, so it has no map."))
    return crs_of(release.crs), crs_of(release.working_crs)


def point_coordinates(release, spread, transform_context):
    """Coordinates of the published points, in the CRS in which the area was given."""
    crs, working = crs_pair(release)
    # the default decoder of a sort release draws a line between groups; the paper's repeats points
    decoder = "paper" if release.kind == "sort" and not spread else "default"
    x, y = points(decode(release, decoder), spread)
    return transformed(x, y, working, crs, transform_context)


def density(release, cell=None):
    """Points per square kilometre in pixels, row 0 in the north, and the pixel's size in metres.

    Pixels are squares of the quadtree; the size nearest to ``cell`` metres is taken. The numbers
    are those of ``GeoRelease.density`` with cells of that size.
    """
    side = release.grid.side * metres_of(release)
    level = 9 if not cell else round(math.log2(max(2.0, side / cell)))
    level = max(1, min(level, release.grid.order, MAX_LEVEL))
    finer = min(max(level, min(level + 1, SMOOTH_LEVEL)), release.grid.order)
    return density_picture(release, level, finer), side / 2**level


def density_picture(release, level, finer=None):
    """Points per square kilometre of the area in 2^level pixels a side, NaN where there is no area.

    ``finer`` is the level at which the density is made before its pixels are put together.
    """
    finer = level if finer is None else finer
    mass, share = raster(decode(release), finer), pixel_area(release.grid, finer)
    shape = (2**level, 2 ** (finer - level)) * 2
    mass, share = (pixels.reshape(shape).sum(axis=(1, 3)) for pixels in (mass, share))
    square = _square_metres(release, level) * (release.grid.side / 1000 / 2**finer) ** 2
    nowhere = np.full_like(mass, np.nan)
    return np.divide(mass, share * square, out=nowhere, where=share > 0)[::-1]


def _square_metres(release, level):
    """Square metres on the ground in one square unit of the grid, for every pixel."""
    grid, (_, working) = release.grid, crs_pair(release)
    at = np.linspace(0, grid.side, _LATTICE)
    place = np.tile(grid.x0 + at, at.size), np.repeat(grid.y0 + at, at.size)
    lattice = square_metres(working, *place, grid.side).reshape(at.size, at.size)
    middle = (np.arange(2**level) + 0.5) / 2**level
    return between(lattice, middle, middle)


def metres_of(release):
    """Metres on the ground in one unit of the release's grid."""
    grid, (_, working) = release.grid, crs_pair(release)
    return metres_on_the_ground(working, grid.x0, grid.y0, grid.side)


def statement_text(release):
    """The privacy statement in one paragraph."""
    return release.statement()["summary"]


def ledger():
    """The ledger in the user's QGIS profile."""
    return Ledger(Path(QgsApplication.qgisSettingsDirPath()) / "dpsort" / "ledger.sqlite")


def file_of(layer):
    """The file that a layer lies in, or nothing."""
    where = QgsProviderRegistry.instance().decodeUri(layer.providerType(), layer.source())
    return os.path.realpath(str(where["path"])) if where.get("path") else ""


def ledger_name(layer):
    """Under which name the ledger knows a layer: where its data lies, without passwords.

    The same whichever way the data was opened: filters and other options do not count.
    """
    if layer.providerType() == "memory":
        return f"memory layer {layer.name()}"[:200]
    registry = QgsProviderRegistry.instance()
    where = registry.decodeUri(layer.providerType(), layer.source())
    parts = [
        str(where[part])
        for part in ("host", "port", "dbname", "schema", "table")
        if where.get(part)
    ]
    if where.get("path"):
        parts.append(file_of(layer))
        tables = [sub.split("!!::!!")[1] for sub in layer.dataProvider().subLayers()]
        if len(tables) > 1:
            parts.append(str(where.get("layerName") or tables[0]))
    source = " ".join(parts) or layer.publicSource()
    if len(source) > 200:
        source = source[:120] + " " + hashlib.sha256(source.encode()).hexdigest()[:40]
    return source
