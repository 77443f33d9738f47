"""The geopandas face of a release: what `publish` and `read_release` return."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

import geopandas as gpd
import numpy as np
import pandas as pd
import shapely

from ..core.atomic import write_text
from ..core.errors import BadInputError
from ..core.public import counts as query
from ..core.public.decode import NO_PRIOR, Decoded
from ..core.release import Release as Artefact
from ..core.release import load
from ..webmap import site
from ..webmap.build import list_facts
from ..webmap.words import promise_words
from . import answers, axes, tiles
from .axes import SeriesFrame
from .boundary import Boundary
from .density import DensityFrame, density_frame
from .domain import Domain
from .hexes import hex_zones
from .maps import Maps
from .points import PublishedPoints
from .prior import Prior
from .zones import Zones

Array = np.ndarray
PathLike = Union[str, "os.PathLike[str]"]


@dataclass(frozen=True, repr=False)
class Release(PublishedPoints, Maps):
    """A release on the map: what `publish` and `read_release` return.

    Everything that is read from it is public. ``release`` is the artefact itself, which needs
    numpy alone; ``domain`` says where on the ground its grid lies. Its facts are in `facts`, its
    points and their files in `points`, its maps in `maps`.
    """

    @classmethod
    def from_json(cls, text: str) -> Release:
        """A release from the text that `to_json` wrote; `verify` checks what it claims."""
        return _put_on_map(Artefact.from_json(text))

    def within(self, polygon: Any, crs: Any = None) -> Release:
        """The same release, read with a public boundary: all points lie inside ``polygon``.

        What lies outside is known to be empty, which makes counts along a coast nearer to the
        truth and their intervals hold. It costs no epsilon. All methods that read follow; `save`
        writes the release without the boundary.

        Parameters
        ----------
        polygon
            A GeoDataFrame or GeoSeries of polygons, or a shapely polygon with ``crs``: land, or a
            city's limits. It must not come from the private points.
        """
        boundary = Boundary.on(self.domain, polygon, crs)
        return Release(self.release, boundary.domain, boundary, self.prior)

    def against(
        self, prior: Any, weight: Optional[str] = None, transform: Any = None, crs: Any = None
    ) -> Release:
        """The same release, read against a public map of where points are likely to be.

        Where the release itself speaks for the map, what it says is weighed with it and follows it
        inside the places that were counted; a map that has nothing to do with it changes nothing.
        It costs no epsilon. All methods that read follow; `save` writes the release without it.

        Parameters
        ----------
        prior
            An earlier release, or several of them in time (each counts half as much as the next); a
            GeoDataFrame of polygons; the path of a raster; or an array of its pixels. It must be
            public.
        weight
            For polygons: the column with their weights, such as "population".
        transform, crs
            For an array: where its pixels lie, as rasterio says it.

        Examples
        --------
        >>> from dpsort_geo.geo.private.publish import publish
        >>> domain = Domain.from_bounds((0, 0, 1000, 1000), crs="EPSG:3857")
        >>> at = np.random.default_rng(1).uniform(0, 1000, (5000, 2)) ** [2, 1] / [1000, 1]
        >>> before, now = (publish(at, "0.1", domain) for _ in range(2))
        >>> len(now.against(before).points())
        5000
        """
        if not self.measured.COUNTS_PLACES:
            raise BadInputError(NO_PRIOR)
        some = prior if isinstance(prior, (list, tuple)) else [prior]
        if some and all(isinstance(each, Release) for each in some):
            read = Prior(releases=tuple(some))
        else:
            read = Prior.of(prior, weight, transform, crs)
        return Release(self.release, self.domain, self.boundary, read)

    def select(self, **chosen: Any) -> Release:
        """The points of some slices, by axis: read like the release itself.

        ``type="theft"`` or ``type=["theft", "other"]``; ``time="2026-03"`` (or the axis's own name)
        for a bin, "2026" for all bins of that year.
        """
        return GeoSlice.of(self, axes.choose(self.release.axes, chosen))

    def density(self, cell: Optional[float] = None) -> DensityFrame:
        """Estimated points in square cells of ``cell`` metres, and per square kilometre."""
        return density_frame(self.decoded, self.domain, cell, self.statement())

    def count_within(
        self,
        zones: Zones,
        confidence: float = 0.9,
        level: Optional[float] = None,
        by: Optional[Sequence[str]] = None,
        per: Optional[str] = None,
        reliable: float = query.RELIABLE,
    ) -> gpd.GeoDataFrame:
        """Zones with the estimated number of points in each, and its interval.

        A zone outside of the domain has none: its numbers are NaN.

        Parameters
        ----------
        zones
            A GeoDataFrame or GeoSeries of polygons in any CRS; the result is a copy of it with the
            columns estimate, low, high, reliable, and covered: the share of the zone inside the
            domain.
        confidence
            How often such intervals hold the truth.
        level
            The old name of ``confidence``.
        by
            Names of axes ("time" for the dates): a long table with a row for each zone and slice,
            and the same columns.
        per
            A column of the zones, such as "population": the columns rate, low_rate and high_rate
            tell how many points there are for each of these.
        reliable
            An estimate is reliable when half of its interval is at most this share of it.
        """
        if level is not None:
            words = "count_within(level=...) is called confidence= now."
            warnings.warn(words, DeprecationWarning, stacklevel=2)
            confidence = level
        if by:
            return answers.count_by(self, zones, by, confidence, per, reliable)
        return answers.count_zones(self, zones, confidence, per, reliable)

    def hexes(
        self, resolution: int, confidence: float = 0.9, by: Optional[Sequence[str]] = None
    ) -> gpd.GeoDataFrame:
        """Counts in the H3 hexagons that meet the domain, as `count_within` has them, in degrees.

        The columns are h3 (the cell's name), estimate, low, high, reliable and covered; with ``by``
        a row for each hexagon and slice. A resolution has seven times as many cells as the one
        before it: at 8 they are 1 km wide, at 9 400 m. Needs the extra ``h3``.

        >>> from dpsort_geo.geo.private.publish import publish
        >>> domain = Domain.from_bounds((-74.1, 40.6, -73.9, 40.8), crs="EPSG:4326")
        >>> points = np.random.default_rng(1).uniform((-74.1, 40.6), (-73.9, 40.8), (5000, 2))
        >>> hexes = publish(points, 1, domain).hexes(7)
        >>> hexes.columns.tolist()
        ['h3', 'geometry', 'estimate', 'low', 'high', 'reliable', 'covered']
        >>> int(hexes["estimate"].sum().round())
        5000
        """
        zones = hex_zones(self.decoded, self.domain, resolution)
        return self.count_within(zones, confidence, by=by)

    def compare(self, zones: Zones, a: Any, b: Any, confidence: float = 0.9) -> pd.DataFrame:
        """How many more points zone ``a`` has than zone ``b``, and how many times as many.

        ``a`` and ``b`` are labels of the zones' index, or values that stand in one row only. With
        axes also pairs of such a name and slices, as `select` takes them:
        ``compare(zones, ("west", {"time": "2026-03"}), ("west", {"time": "2026-04"}))``. The
        result has the rows difference and ratio, and the columns estimate, low and high. The
        intervals know that the errors of the two counts go together.
        """
        return answers.compare(self, zones, a, b, confidence)

    def series(self, zones: Zones, confidence: float = 0.9) -> SeriesFrame:
        """Counts over time for each zone, with intervals; in a notebook, small plots of them."""
        return answers.series(self, zones, confidence)

    def quantiles(self, shares: Sequence[float]) -> gpd.GeoDataFrame:
        """Where along the curve these shares of all points have been passed."""
        x, y = query.quantiles(self.decoded, shares)
        x, y = self.domain.unproject(x, y)
        return gpd.GeoDataFrame(
            {"share": np.asarray(shares, np.float64)},
            geometry=shapely.points(x, y),
            crs=self.domain.crs,
        )

    def to_pmtiles(self, path: PathLike, kind: str = "points") -> None:
        """Write vector tiles as PMTiles: of the points, or of "hexes" with their counts.

        Small scales have fewer points, evenly chosen, and larger hexagons; the last zoom level is
        where the expected error begins to show. The statement is in the metadata. Needs the extra
        ``tiles``, and ``h3`` for hexagons.
        """
        tiles.write_pmtiles(path, tiles.make_tiles(self, kind))

    def to_site(
        self,
        folder: PathLike,
        title: Optional[str] = None,
        zones: Optional[Zones] = None,
        label: Optional[str] = None,
        **words: Optional[str],
    ) -> None:
        """Write a folder with a map in it that opens from disk, or from any web server.

        It holds the page, its scripts, hexagons and points as tiles, and asks for nothing from
        elsewhere; beside them are the same tiles as PMTiles, the release, and its label. A release
        with axes has a button for each category and a slider for time.

        Parameters
        ----------
        title
            The heading. ``what``, ``when`` and ``source`` (text) say more below it.
        zones
            Polygons whose outlines and names stand on the map, instead of the names of cities.
        label
            The column of the zones with their names.
        """
        if zones is None and label is not None:
            raise BadInputError("label= names a column of zones: give zones= too.")
        facts = list_facts(self, **words)
        lines = None if zones is None else site.pack_zone_lines(zones, label)
        path = site.prepare_folder(folder)
        promise = promise_words(self.statement())
        promise.how.append(self.error_words())
        many = site.most_hexes(self, tiles.MOST_HEXES)
        sets = [tiles.make_tiles(self, kind, many) for kind in tiles.KINDS]
        for made in sets:
            tiles.write_pmtiles(path / f"{made.kind}.pmtiles", made)
        write_text(path / "label.html", self.label(title=title).html)
        self.release.save(path / "release.json")
        shown = title or f"{self.decoded.n:,} protected points"
        site.write_site(path, self, sets, shown, facts, promise, lines)


@dataclass(frozen=True, repr=False, kw_only=True)
class GeoSlice(Release):
    """Some slices of a release: read like a release, within the same promise."""

    whole: Release
    chosen: Mapping[int, List[int]]

    @classmethod
    def of(cls, whole: Release, chosen: Mapping[int, List[int]]) -> GeoSlice:
        """Slices of a release, read as it is read: with its boundary, against its prior."""
        read = whole.release, whole.domain, whole.boundary, whole.prior
        return cls(*read, whole=whole, chosen=chosen)

    @cached_property
    def decoded(self) -> Decoded:
        return self.whole.decoded.select(self.chosen)

    @property
    def n(self) -> int:
        """About how many points the slices hold; unlike the total this is an estimate."""
        return self.decoded.n

    @property
    def size(self) -> int:
        """How many points `points` gives."""
        return self.decoded.n

    @property
    def expected_error(self) -> float:
        """That of all points together: how far off a slice is, is not known beforehand."""
        return self.whole.expected_error

    def within(self, polygon: Any, crs: Any = None) -> Release:
        return GeoSlice.of(self.whole.within(polygon, crs), self.chosen)

    def select(self, **chosen: Any) -> Release:
        raise BadInputError("A slice cannot be cut again: choose all axes in one select().")

    def against(
        self, prior: Any, weight: Any = None, transform: Any = None, crs: Any = None
    ) -> Release:
        raise BadInputError("Read the whole release against a prior, and select() from that.")

    def save(self, path: PathLike, overwrite: bool = True) -> None:
        raise BadInputError("A slice is a way to read a release: save the whole release.")

    def statement(self) -> Dict[str, Any]:
        """That of the release, with no error."""
        return {**super().statement(), "slice": self.slice_words(), "expected_error": None}

    def error_words(self) -> str:
        return (
            f"{super().error_words()} That is for all points together; those of a slice are "
            "further off, as the intervals of its counts tell."
        )

    def slice_words(self, named: bool = True) -> str:
        parts = axes.slice_words(self.release.axes, self.chosen)
        return "; ".join(f"{name}: {own}" if named else own for name, own in parts.items())

    def __str__(self) -> str:
        points = "1 point" if self.n == 1 else f"{self.n:,} points"
        return f"about {points} ({self.slice_words()}) of an {super().__str__()}"


#: the name that the class had in version 0.1
GeoRelease = Release


def read_release(path: PathLike) -> Release:
    """Read a release that `Release.save` wrote; what it claims is checked by ``verify()``.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from dpsort_geo.geo.private.publish import publish
    >>> domain = Domain.from_bounds((0, 0, 1000, 1000), crs="EPSG:3857")
    >>> points = np.random.default_rng(1).uniform(0, 1000, (5000, 2))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     publish(points, 1, domain, neighbours="add-remove").save(Path(folder, "r.json"))
    ...     release = read_release(Path(folder, "r.json"))
    >>> len(release.points()) == release.n
    True
    """
    return _put_on_map(load(path))


def _put_on_map(core: Artefact) -> Release:
    return Release(core, Domain.of_release(core))
