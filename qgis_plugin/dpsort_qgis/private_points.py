"""The private points of a QGIS layer: the only module of the plugin that sees them.

A plain point in well-known binary is 21 bytes: byte order, type, x, y. Features of a chunk are
joined into one block of bytes that numpy reads at once, without a Python object for each point.
"""

import dataclasses
from itertools import islice

import numpy as np
from qgis.core import QgsGeometry, QgsWkbTypes

from ._vendor.dpsort_geo.errors import BadInputError
from ._vendor.dpsort_geo.private.extent import Extents
from ._vendor.dpsort_geo.private.noisy_n import refuse_nothing
from ._vendor.dpsort_geo.private.persons import joined_names, names_of
from ._vendor.dpsort_geo.private.publish import count_stream, measure
from ._vendor.dpsort_geo.private.slices import SlicedTally, count_slices, joint_slices
from .area import leak
from .host import check_grids, crs_text, transformed
from .i18n import tr
from .point_layers import WKB_POINT
from .releases import CancelledError

#: features between two looks at the cancel button
CHUNK = 5000


@dataclasses.dataclass(frozen=True)
class RowWords:
    """What is read of each row besides its place: the person, and a value for each axis."""

    #: RowField, or None where each point is protected by itself
    person: object = None
    axes: tuple = ()
    #: RowField of each axis
    fields: tuple = ()

    @property
    def readers(self):
        """Column and reading of everything, the person first."""
        person = [(self.person.column, self.person.person)] if self.person else []
        timed = [hasattr(axis, "every") for axis in self.axes]
        return person + [
            (field.column, field.moment if time else field.category)
            for field, time in zip(self.fields, timed)
        ]


def count_points(taken, area, grid, method, neighbours, words, context, feedback):
    """Counts in the cells of a grid; refuses what cannot be measured before it is paid for."""
    if grid.n_cells < 2:
        raise BadInputError(tr("The public area is too small; give a larger one."))
    for crs in (area.crs, area.working_crs):
        crs_text(crs)  # refuses what no reader would read
    reach = Reach(taken.crs, area, context.transformContext())
    chunks = read_points(taken, area.working_crs, context, feedback, words, reach.see)
    try:
        cells = _count(grid, words, chunks, method)
    except BadInputError:
        taken.check_whole()  # what is missing then is no fault of the data
        raise
    taken.check_whole()
    reach.check()
    refuse_nothing(cells.n, neighbours)
    return cells


def _count(grid, words, chunks, method):
    if words.axes:
        return _count_slices(grid, words, chunks)
    batches = ((x, y, beside[0] if words.person else None) for x, y, beside in chunks)
    return count_stream(grid, batches, bool(words.person), method)


class Reach:
    """How far the points reach that were read; refuses an area that was drawn around them."""

    def __init__(self, crs, area, transforms):
        check_grids(crs, area.crs, transforms)
        self._crs, self._area, self._transforms = crs, area, transforms
        self._extents = None

    def see(self, x, y, moved):
        """Points in the CRS of the layer, and moved to the working CRS."""
        area = self._area
        there = None if self._crs == area.crs else moved
        if there is not None and area.crs != area.working_crs:
            there = transformed(x, y, self._crs, area.crs, self._transforms)
        self._extents = Extents.of(x, y, self._crs, there) | self._extents

    def check(self):
        """Refuse the area if its edges tell where the points end."""
        if self._extents is not None and self._extents.shown_by(self._area):
            raise BadInputError(leak())


def _count_slices(grid, words, chunks):
    """Counts by cell and slice; persons must come with all their points at once."""
    tally, gathered = SlicedTally(grid, words.axes), []
    for x, y, beside in chunks:
        person, values = (beside[0], beside[1:]) if words.person else (None, beside)
        joint = joint_slices(words.axes, values)
        if person is None:
            tally.add(x, y, joint)
        else:
            gathered.append((x, y, joint, names_of(person)))
    if not gathered:
        return tally.cells()
    *parts, names = zip(*gathered)
    x, y, joint = map(np.concatenate, parts)
    return count_slices(grid, words.axes, x, y, joint, joined_names(names))


def published(cells, area, epsilon, method, neighbours, unit, group_size, zones=None):
    """The release of counted cells, with the CRS of the area in it. Draws the noise."""
    return dataclasses.replace(
        measure(cells, epsilon, method, group_size, neighbours, unit, None, zones),
        crs=crs_text(area.crs),
        working_crs=crs_text(area.working_crs),
        ledger=True,
    )


def read_points(taken, working_crs, context, feedback, words, see=None):
    """Chunks of ``(x, y, beside)`` in the working CRS; ``beside`` has a list for each reader.

    ``see`` is shown all coordinates, as they are and moved to the working CRS.

    No message tells how many features were at fault, or which ones: that is private.
    """
    transforms = context.transformContext()
    check_grids(taken.crs, working_crs, transforms)
    readers = words.readers
    features, done = taken.features(context, [column for column, _ in readers]), 0
    while True:
        blocks, beside = _next_features(features, readers)
        if feedback.isCanceled():
            raise CancelledError
        if not blocks:
            return
        x, y, beside = _coordinates(blocks, beside, bool(words.person))
        moved = transformed(x, y, taken.crs, working_crs, transforms)
        if not all(np.isfinite(part).all() for part in (x, y, *moved)):
            raise BadInputError(_empty())
        if see is not None:
            see(x, y, moved)
        yield (*moved, beside)
        done += len(blocks)
        if taken.count > 0:
            feedback.setProgress(min(50.0, 50.0 * done / taken.count))


def _next_features(features, readers):
    """Well-known binary of the next features, and what each reader reads of them."""
    if not readers:
        return [one.geometry().asWkb().data() for one in islice(features, CHUNK)], []
    rows = [
        (one.geometry().asWkb().data(), *(read(one.attribute(at)) for at, read in readers))
        for one in islice(features, CHUNK)
    ]
    blocks, *beside = map(list, zip(*rows)) if rows else [[], *([] for _ in readers)]
    return blocks, beside


def _coordinates(blocks, beside, several):
    joined = b"".join(blocks)
    if len(joined) == WKB_POINT.itemsize * len(blocks):
        plain = np.frombuffer(joined, WKB_POINT)
        if (plain["order"] == 1).all() and (plain["type"] == 1).all():
            return plain["x"].copy(), plain["y"].copy(), beside
    xs, ys, repeated = [], [], [[] for _ in beside]
    for number, block in enumerate(blocks):
        parts = _parts(block)
        if not several and len(parts) > 1:
            raise BadInputError(
                tr(
                    "Some features hold several points. Run 'Multipart to singleparts' first, or "
                    "name the field that tells whose points they are."
                )
            )
        xs += [part.x() for part in parts]
        ys += [part.y() for part in parts]
        for column, values in zip(repeated, beside):
            column += [values[number]] * len(parts)
    return np.array(xs), np.array(ys), repeated


def _parts(block):
    geometry = QgsGeometry()
    geometry.fromWkb(block)
    if geometry.isEmpty():
        raise BadInputError(_empty())
    if geometry.type() != QgsWkbTypes.GeometryType.PointGeometry:
        raise BadInputError(
            tr("Only points can be published; take points of the geometries first.")
        )
    return list(geometry.constParts())


def _empty():
    return tr("Every feature needs a point with finite coordinates; remove empty ones first.")
