"""A release as it is read in QGIS: decoded, on the ground, inside a boundary where one is given."""

import dataclasses
from functools import cached_property

import numpy as np
from qgis.core import QgsGeometry, QgsPointXY

from ._vendor.dpsort_geo.curve.overlap import overlap
from ._vendor.dpsort_geo.errors import BadInputError
from ._vendor.dpsort_geo.frame.zones import zone_rings
from ._vendor.dpsort_geo.public.decode import decode
from ._vendor.dpsort_geo.public.points import CHUNK, MOST_UNASKED, chunks, ranks
from ._vendor.dpsort_geo.public.within import inside_of
from .host import polygonal, polygons_of
from .i18n import tr
from .releases import frame_of

#: a point that is moved into a boundary lies so far from its outline: more than the way back from
#: the map and the decimals of a file take
_METRES, _DEGREES = 0.02, 2e-7
#: of a degree, in GeoJSON
_DECIMALS = 7


class Reading:
    """What the algorithms that read a release need of it."""

    def __init__(self, release, transform_context, within=None):
        """``within`` is a geometry and its CRS: a public boundary, known without the points."""
        self.release, self.within = release, within
        self.frame = frame_of(release, transform_context)
        inside = None
        if within is not None:
            (rings,) = zone_rings(self.frame, [polygons_of(within[0])], within[1])
            inside = inside_of(release.grid, rings)
            self.frame = dataclasses.replace(self.frame, grid=inside)
            blocks = overlap([rings], inside)
            self._crossed = np.sort(blocks.index[blocks.share < 1])
        self.decoded = decode(release, inside=inside)

    def points(self, diffuse, crs, paid=False):
        """Chunks of x, y in a CRS, and labels of each axis; refuses what QGIS would hardly show.

        A small file may claim any number of points; who has just paid for them gets them all.
        """
        if self.release.size > MOST_UNASKED and not paid:
            raise BadInputError(
                tr(
                    "The release stands for more than 50 million points, which QGIS would hardly "
                    "show; make a density of it, or write them with the command 'dpsort-geo points "
                    "--most'."
                )
            )
        pieces = chunks(self.decoded, diffuse, most=self.release.size)
        return self._labelled(pieces, crs)

    def _labelled(self, pieces, crs):
        labels = self.decoded.labels() if self.release.axes else []
        if labels:  # they are told in the order of the curve, points are not
            order = ranks(self.decoded.n)
            labels = [label[order] for label in labels]
        for number, (x, y) in enumerate(pieces):
            if self.within is not None:
                x, y = self._moved_inside(x, y)
            here = slice(number * CHUNK, (number + 1) * CHUNK)
            yield (*self.frame.unproject(x, y, crs), [label[here] for label in labels])

    @cached_property
    def _engine(self):
        engine = QgsGeometry.createGeometryEngine(self._boundary.constGet())
        engine.prepareGeometry()
        return engine

    @cached_property
    def _boundary(self):
        """The boundary in its own CRS."""
        return polygonal(self.within[0])

    @cached_property
    def _core(self):
        """What is left of the boundary where nothing can be lost on the way into a file."""
        crs = self.within[1]
        least = _DEGREES if crs.isGeographic() else _METRES / self.frame.host.metres_per_unit(crs)
        core = self._boundary.buffer(-least, 8)
        return self._boundary if core.isEmpty() else core

    def _moved_inside(self, x, y):
        """Points outside of the boundary moved to the nearest place well inside it.

        Cells inside have their centres in the boundary, so only those at its edge, and those that
        a creek narrower than a cell crosses, can have points outside.
        """
        grid, crs = self.frame.grid, self.within[1]
        column, row = grid.columns_and_rows(x, y)
        index = grid.curve_index(x, y)
        place = np.minimum(np.searchsorted(self._crossed, index), max(self._crossed.size - 1, 0))
        crossed = self._crossed[place] == index if self._crossed.size else np.zeros(x.size, bool)
        some = np.flatnonzero(grid.at_edge(column, row) | crossed)
        if not some.size:
            return x, y
        x, y = x.copy(), y.copy()
        px, py = self.frame.unproject(x[some], y[some], crs)
        lost = [number for number in range(some.size) if not self._holds(px[number], py[number])]
        for number in lost:
            point = QgsGeometry.fromPointXY(QgsPointXY(px[number], py[number]))
            near = self._core.nearestPoint(point).asPoint()
            px[number], py[number] = near.x(), near.y()
        x[some[lost]], y[some[lost]] = self.frame.project(px[lost], py[lost], crs)
        return x, y

    def _holds(self, px, py):
        """Whether a place is in the boundary, as it is and as degrees are written."""
        places = [(px, py)]
        if self.within[1].isGeographic():
            places.append((round(px, _DECIMALS), round(py, _DECIMALS)))
        points = [QgsGeometry.fromPointXY(QgsPointXY(*place)) for place in places]
        return all(self._engine.contains(point.constGet()) for point in points)
