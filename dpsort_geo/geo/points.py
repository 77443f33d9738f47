"""The published points of a release: as a frame, and as files of every format."""

from __future__ import annotations

import os
from typing import Any, Iterator, Optional, Tuple, Union

import geopandas as gpd
import numpy as np
import shapely

from ..core.atomic import replacing
from ..core.public import points as diffusion
from . import axes, database, tables, write
from .chunks import Chunks, first_points, say_thinned, thinned_to
from .facts import Facts

Array = np.ndarray
PathLike = Union[str, "os.PathLike[str]"]

LONLAT = "EPSG:4326"


class PublishedPoints(Facts):
    """What a release has to say point by point; a base of `Release`."""

    def coordinates(
        self, diffuse: bool = True, decoder: Optional[str] = None, most: Optional[int] = None
    ) -> Tuple[Array, Array]:
        """Coordinates of the published points in the working CRS."""
        x, y = diffusion.points(self.decoded_by(decoder), diffuse, most)
        return (x, y) if self.boundary is None else self.boundary.move_inside(x, y)

    def points(
        self, diffuse: bool = True, decoder: Optional[str] = None, most: Optional[int] = None
    ) -> gpd.GeoDataFrame:
        """The published points in the domain's CRS, one row each, geometry only.

        Parameters
        ----------
        diffuse
            False gives the paper's repeated points instead of laying them out over the area that
            they stand for.
        decoder
            "paper" decodes a sort release as the paper does; that is the default of its repeated
            points.
        most
            So many points are welcome. Above 50 million they must be asked for, because a small
            file may claim any number; the writers of files know this argument too.
        """
        x, y = self.domain.unproject(*self.coordinates(diffuse, decoder, most))
        return gpd.GeoDataFrame(
            axes.label_columns(self), geometry=shapely.points(x, y), crs=self.domain.crs
        )

    def _chunks(self, diffuse: bool, most: Optional[int], crs: Any = None) -> Chunks:
        """The published points some at a time, in the domain's CRS or another one."""
        pieces = diffusion.chunks(self.decoded_by(), diffuse, most)
        if self.boundary is not None:
            pieces = (self.boundary.move_inside(x, y) for x, y in pieces)
        return (self.domain.unproject(x, y, crs=crs) for x, y in pieces)

    def to_geojson(
        self,
        path: PathLike,
        diffuse: bool = True,
        most: Optional[int] = None,
        most_bytes: Optional[int] = None,
    ) -> None:
        """Write the points as GeoJSON (RFC 7946) with the privacy statement in it.

        ``most_bytes`` says how large the file may be: points are thinned evenly over the map until
        it is not larger, and the statement says how many were kept.
        """
        if self.release.axes and most_bytes is None:
            frame = self.points(diffuse, most=most)
            return tables.write_frame(path, frame, self.statement(), ".geojson")
        with replacing(path) as part, open(part, "wb") as file:
            file.writelines(self.geojson(diffuse, most, most_bytes))
        return None

    def geojson(
        self, diffuse: bool = True, most: Optional[int] = None, most_bytes: Optional[int] = None
    ) -> Iterator[bytes]:
        """The same text piece by piece, for pipes."""
        said = self.statement()
        if self.release.axes:
            frame = self.points(diffuse, most=most)
            return iter([tables.frame_text(frame, said, most_bytes)])
        if most_bytes is None:
            return write.geojson(self._chunks(diffuse, most, LONLAT), said)
        kept = thinned_to(self._chunks(diffuse, most, LONLAT), self.decoded.n, said, most_bytes)
        chunks = first_points(self._chunks(diffuse, most, LONLAT), kept)
        return write.geojson(chunks, say_thinned(said, kept, self.decoded.n))

    def to_geoparquet(
        self, path: PathLike, diffuse: bool = True, most: Optional[int] = None
    ) -> None:
        """Write the points as GeoParquet in the domain's CRS, the statement in its metadata."""
        if self.release.axes:
            frame = self.points(diffuse, most=most)
            return tables.write_frame(path, frame, self.statement(), ".parquet")
        chunks = self._chunks(diffuse, most)
        return write.write_geoparquet(path, chunks, self.domain.crs, self.statement())

    def to_gpkg(self, path: PathLike, diffuse: bool = True, most: Optional[int] = None) -> None:
        """Write the points as a GeoPackage, the statement in its metadata table."""
        if self.release.axes:
            frame = self.points(diffuse, most=most)
            return tables.write_frame(path, frame, self.statement(), ".gpkg")
        chunks = self._chunks(diffuse, most)
        return write.write_gpkg(path, chunks, self.domain.crs, self.statement())

    def to_postgis(
        self,
        url: str,
        table: str,
        overwrite: bool = False,
        diffuse: bool = True,
        most: Optional[int] = None,
    ) -> None:
        """Write the points into a new table of a database, the statement as its comment.

        A table that exists is replaced only with ``overwrite=True``, and only if it was written
        by dpsort-geo.
        """
        if self.release.axes:
            points = tables.frame_reader(self.points(diffuse, most=most))
        else:
            points = write.points_reader(self._chunks(diffuse, most))
        database.write_points(points, self.domain.crs, self.statement(), url, table, overwrite)
