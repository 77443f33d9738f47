"""Where points may lie: a grid with a coordinate reference system. Public, never read from data."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Union

import numpy as np
import pyproj
import shapely

from ..core.curve.blocks import pixel_area
from ..core.curve.grid import Grid, order_for
from ..core.errors import BadInputError
from ..core.frame.area import Area as PlaneArea
from ..core.frame.area import area_of_box, area_of_polygons, wrap_box
from ..core.frame.ground import Frame
from ..core.frame.host import Bounds, Host
from ..core.frame.rings import unwrapped
from .crs import crs_name, read_crs
from .host import HOST, all_polygons, polygonal, polygons_of
from .polygons import read_polygons

if TYPE_CHECKING:
    import geopandas as gpd

    from ..core.release import Release as Artefact

Array = np.ndarray
_NOWHERE = "The grid of this release has no place in its CRS; ask for it again."
#: a picture of the mask never needs more than 2^10 cells a side
_PICTURE_LEVEL = 10


@dataclass(frozen=True, repr=False)
class Domain(Frame):
    """A grid, the user's CRS, and the CRS in which the grid's cells are square.

    Make one with :meth:`from_bounds` or :meth:`from_polygon`. It is public knowledge and has to
    be given: bounds read from private points would tell where the outermost person is.
    """

    host: Host = field(default=HOST, compare=False)
    #: as the user gave them, in ``crs``; west is greater than east across the antimeridian
    bounds: Bounds = field(default=(0.0, 0.0, 0.0, 0.0), compare=False)
    #: what the grid was made from; the domain of a file has none
    made_from: PlaneArea | None = field(default=None, compare=False)

    @classmethod
    def from_bounds(cls, bounds: Any, crs: Any, order: int | None = None) -> Domain:
        """The box ``(west, south, east, north)`` in ``crs``.

        A box in degrees means that box, not the hull of its projection. West may be greater
        than east for a box across the antimeridian.

        >>> city = Domain.from_bounds((-74.3, 40.5, -73.7, 40.95), crs="EPSG:4326")
        >>> city.grid.order, round(city.cell_size, 1)
        (13, 6.2)
        """
        return cls._of_area(area_of_box(HOST, bounds, read_crs(crs)), order)

    @classmethod
    def from_polygon(cls, area: Any, crs: Any = None, order: int | None = None) -> Domain:
        """The inside of polygons: a GeoDataFrame, a GeoSeries or a shapely geometry with ``crs``.

        >>> park = shapely.box(0, 0, 800, 400)
        >>> Domain.from_polygon(park, crs="EPSG:27700").side
        800.0
        """
        shape, crs = shape_of(area, crs)
        return cls._of_area(area_of_polygons(HOST, polygons_of(shape), crs), order)

    @classmethod
    def _of_area(cls, area: PlaneArea, order: int | None) -> Domain:
        grid = area.grid(order)
        return cls(grid, area.crs, area.working_crs, bounds=area.bounds, made_from=area)

    @classmethod
    def of_grid(cls, grid: Grid, crs: Any, working_crs: Any) -> Domain:
        """The domain of a published grid; its bounds are those of its allowed cells.

        >>> Domain.of_grid(Grid(0.0, 0.0, 10.0, 3), "EPSG:3857", "EPSG:3857").bounds
        (0.0, 0.0, 80.0, 80.0)
        """
        crs, working = read_crs(crs), read_crs(working_crs)
        bare = cls(grid, crs, working)
        nowhere = BadInputError(_NOWHERE)
        try:
            x, y = shapely.get_coordinates(shapely.segmentize(bare.outline(), grid.side / 64)).T
        except shapely.errors.ShapelyError:
            raise nowhere from None
        lon, lat = bare.unproject(x, y)
        if not (lon.size and np.isfinite(lon).all() and np.isfinite(lat).all()):
            raise nowhere
        if crs.is_geographic:
            lon = unwrapped(lon, float(bare.unproject(*bare.middle())[0][0]))
        box = (float(lon.min()), float(lat.min()), float(lon.max()), float(lat.max()))
        return cls(grid, crs, working, bounds=wrap_box(box) if crs.is_geographic else box)

    @classmethod
    def of_release(cls, release: Artefact, bounded: bool = True) -> Domain:
        """The domain of a release as it is in its file; without bounds it is made at once."""
        if release.crs is None or release.working_crs is None:
            raise BadInputError("This release names no CRS, so its points cannot be put on a map.")
        if bounded:
            return cls.of_grid(release.grid, release.crs, release.working_crs)
        domain = cls(release.grid, read_crs(release.crs), read_crs(release.working_crs))
        if not np.isfinite(domain.unproject(*domain.middle())).all():
            raise BadInputError(_NOWHERE)
        return domain

    def at_resolution(self, metres: float) -> Domain:
        """The same area with cells of about this size: the smallest detail readers will ask for.

        >>> city = Domain.from_bounds((0, 0, 51_200, 51_200), crs="EPSG:27700")
        >>> city.cell_size, city.at_resolution(250).cell_size
        (6.25, 200.0)
        """
        if self.made_from is not None:
            return replace(self, grid=self.made_from.grid_for(metres))
        return replace(self, grid=self.grid.at_order(order_for(self.side, metres)))

    @property
    def area(self) -> float:
        """Area of the allowed cells in square metres on the ground."""
        level = min(7, self.grid.order)
        pixel = self.grid.side / 2**level
        middle = (np.arange(2**level) + 0.5) * pixel
        square = self.square_metres(self.grid.x0 + middle, self.grid.y0 + middle)
        return float((self.mask(level) * square).sum()) * pixel**2

    def project(self, x: Array, y: Array, crs: Any = None) -> tuple[Array, Array]:
        """Coordinates in ``crs`` (the domain's own, when None) to the working CRS.

        >>> square = Domain.from_bounds((0, 0, 64, 64), crs="EPSG:3857")
        >>> [float(v[0]) for v in square.project([3.0], [4.0])]
        [3.0, 4.0]
        """
        from .projection import closed_form  # which a reader of a statement need not wait for

        source = self.crs if crs is None else read_crs(crs)
        quick = closed_form(source, self.working_crs)
        return super().project(x, y, source) if quick is None else quick.forward(x, y)

    def unproject(self, x: Array, y: Array, crs: Any = None) -> tuple[Array, Array]:
        """Coordinates in the working CRS to ``crs`` (the domain's own, when None)."""
        return super().unproject(x, y, None if crs is None else read_crs(crs))

    def zone_rings(self, shapes: Sequence[Any], crs: Any) -> list[list[Array]]:
        """Rings of polygons in ``crs``, bent as the projection bends them; none if elsewhere.

        >>> domain = Domain.from_bounds((-4, 40, -3, 41), crs="EPSG:4326")
        >>> world, antipode = shapely.box(-180, -90, 180, 90), shapely.box(176, -41, 177, -40)
        >>> [len(rings) for rings in domain.zone_rings([world, antipode], "EPSG:4326")]
        [1, 0]
        """
        from ..core.frame import zones

        return zones.zone_rings(self, all_polygons(shapes), read_crs(crs))

    def share_near(self, shapes: Sequence[Any], crs: Any) -> Array:
        """Share of each polygon's area that `zone_rings` keeps, because it is near the domain.

        >>> domain = Domain.from_bounds((-4, 40, -3, 41), crs="EPSG:4326")
        >>> near = shapely.box(-3.5, 40.2, -3.2, 40.6)
        >>> domain.share_near([near, shapely.box(176, -41, 177, -40)], "EPSG:4326").tolist()
        [1.0, 0.0]
        """
        from ..core.frame import zones

        return zones.share_near(self, all_polygons(shapes), read_crs(crs))

    def mask(self, level: int) -> Array:
        """Share of allowed cells in each of 2^level x 2^level squares; row 0 is the south."""
        return pixel_area(self.grid, min(level, self.grid.order))

    def outline(self, level: int = _PICTURE_LEVEL) -> Any:
        """The allowed area as a shapely geometry in the working CRS, its staircases smoothed."""
        grid = self.grid
        if grid.runs is None:
            return shapely.box(grid.x0, grid.y0, grid.x0 + grid.side, grid.y0 + grid.side)
        inside = self.mask(level) >= 0.5
        if not inside.any():
            inside = self.mask(level) > 0
        size = grid.side / len(inside)
        edge = np.diff(np.pad(inside.astype(np.int8), ((0, 0), (1, 1))), axis=1)
        row, start = np.nonzero(edge == 1)
        _, stop = np.nonzero(edge == -1)
        boxes = shapely.box(
            grid.x0 + start * size,
            grid.y0 + row * size,
            grid.x0 + stop * size,
            grid.y0 + (row + 1) * size,
        )
        return shapely.simplify(shapely.union_all(boxes), 1.1 * size)

    def __repr__(self) -> str:
        return f"<{self}>"

    def __str__(self) -> str:
        grid = self.grid
        masked = "" if grid.runs is None else f", {grid.n_cells / 4**grid.order:.0%} of it allowed"
        return (
            f"Domain of {_length(self.side)} x {_length(self.side)} in {crs_name(self.crs)}: "
            f"2^{grid.order} x 2^{grid.order} cells of {_length(self.cell_size)}{masked}"
        )

    def _repr_html_(self) -> str:
        from html import escape

        from branca.utilities import image_to_url

        level = min(7, self.grid.order)
        share = self.mask(level)[::-1]
        picture = np.empty((*share.shape, 4), np.uint8)
        picture[..., :3] = (37, 99, 125)
        picture[..., 3] = np.rint(255 * share)
        return (
            f'<figure style="margin:0"><img alt="allowed cells" src="{image_to_url(picture)}" '
            'style="width:128px;height:128px;image-rendering:pixelated;border:1px solid #8888">'
            f"<figcaption>{escape(str(self))}</figcaption></figure>"
        )


#: a domain, or polygons with a CRS from which one is made, or the file that they are in
Area = Union[Domain, "gpd.GeoDataFrame", "gpd.GeoSeries", shapely.Geometry, str, "os.PathLike[str]"]


def as_domain(area: Any) -> Domain:
    """A domain as it is, or the domain of polygons that say in which CRS they are.

    A path is that of a file of polygons; ``city.gpkg|layername=border`` picks a layer.

    >>> as_domain(shapely.set_srid(shapely.box(0, 0, 800, 400), 27700)).side
    800.0
    """
    if isinstance(area, Domain):
        return area
    if isinstance(area, shapely.Geometry):
        srid = int(shapely.get_srid(area))
        if not srid:
            raise BadInputError(
                "A polygon of shapely does not say in which CRS it is: "
                "make the domain with Domain.from_polygon(polygon, crs='EPSG:4326')."
            )
        return Domain.from_polygon(area, crs=f"EPSG:{srid}")
    if isinstance(area, (str, os.PathLike)):
        return Domain.from_polygon(read_polygons(os.fspath(area)))
    if hasattr(area, "geometry") and hasattr(area, "crs"):
        return Domain.from_polygon(area)
    raise BadInputError(
        "The domain must be given, with Domain.from_bounds or Domain.from_polygon: "
        "bounds taken from the points would tell where the outermost of them is."
    )


def shape_of(area: Any, crs: Any) -> tuple[Any, pyproj.CRS]:
    own = getattr(area, "crs", None)
    if own is not None and crs is not None and read_crs(crs) != read_crs(own):
        raise BadInputError(
            f"The polygon is in {crs_name(read_crs(own))} but crs says "
            f"{crs_name(read_crs(crs))}: leave crs out, or call to_crs first."
        )
    crs = read_crs(own if own is not None else crs)
    if isinstance(area, shapely.Geometry):
        shapes = np.array([area], object)
    elif hasattr(area, "geometry"):
        shapes = np.asarray(area.geometry.array, object)
    elif hasattr(area, "__geo_interface__"):
        shapes = np.array([shapely.geometry.shape(area.__geo_interface__)], object)
    else:
        raise BadInputError(
            "A domain is made from a GeoDataFrame, a GeoSeries or a shapely polygon."
        )
    shapes = shapes[~(shapely.is_missing(shapes) | shapely.is_empty(shapes))]
    if not np.isin(shapely.get_type_id(shapes), (3, 6)).all():
        raise BadInputError("A domain is made from polygons; this has lines or points in it.")
    if not np.isfinite(shapely.get_coordinates(shapes)).all():
        raise BadInputError("The polygon has coordinates that are not finite numbers.")
    return shapely.union_all([polygonal(shape) for shape in shapely.force_2d(shapes)]), crs


def _length(metres: float) -> str:
    return f"{metres / 1000:.4g} km" if metres >= 1000 else f"{metres:.3g} m"
