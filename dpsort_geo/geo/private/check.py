"""A dry run: what a publisher should see before anything is spent.

What is found here is private, all of it: exact numbers, values and places. It is for the eyes of
whoever holds the points, on the machine where they are; nothing is written and nothing is debited.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Callable, Optional

import numpy as np
import pyproj

from ...core.errors import BadInputError
from ...core.rules.axes import make_axes
from ...core.rules.budget import EpsilonLike
from ...core.rules.time_axis import TimeAxis
from ..crs import crs_name
from ..domain import Area, Domain, as_domain
from .beside import Values
from .extent import REFUSED, is_elsewhere
from .files import PointStream
from .plan import plan
from .points import is_dask, point_stream
from .report import SIDES, AxisFound, Check
from .rows import name_persons
from .seen import PICTURE, SAMPLE, Seen
from .table import Reading

Array = np.ndarray

#: beyond this share of points outside, something is wrong with all of them
_MOST = 0.5
#: what GDAL reads, by the end of its name; the rest of it is GeoJSON
_OGR_FORMATS = {
    ".gpkg": "GeoPackage", ".shp": "Shapefile", ".zip": "Shapefile", ".fgb": "FlatGeobuf",
    ".kml": "KML", ".kmz": "KML",
}  # fmt: skip


def check(
    points: Any,
    domain: Area,
    epsilon: EpsilonLike = 1,
    *,
    method: str = "adaptive",
    person: Any = None,
    columns: Optional[tuple[str, str]] = None,
    points_crs: Any = None,
    layer: Optional[str] = None,
    decimal: str = ".",
    by: Optional[Mapping[str, Sequence[Any]]] = None,
    time: Optional[TimeAxis] = None,
    values: Values = None,
    resolution: Optional[float] = None,
    progress: Optional[Callable[[int, Optional[int]], None]] = None,
) -> Check:
    """Look at points as `publish` would read them, for the publisher's eyes: a dry run.

    Nothing is spent, debited or written. The arguments are those of `publish`. The result is
    private: `print` shows it in words with a small picture, and so does a notebook; its repr
    shows nothing. It has ``rows``, ``missing``, ``outside``, ``sides``, ``persons``, ``axes``,
    ``plan``, and in ``problems`` a sentence for each mistake that would cost epsilon.

    >>> import numpy as np
    >>> domain = Domain.from_bounds((0, 0, 1000, 1000), crs="EPSG:3857")
    >>> found = check(np.array([[10.0, 20.0], [900.0, 500.0], [1200.0, 500.0]]), domain)
    >>> found.rows, found.outside, found.sides["east"]
    (3, 1, 1)
    >>> found
    <Check: private; print it to see it>
    """
    domain = as_domain(domain)
    if is_dask(points):
        raise BadInputError("A check reads points on one machine: give a file, or compute() first.")
    axes = () if not by and time is None else make_axes(by, time)
    who = name_persons(person, points)
    how = Reading(points_crs, layer, decimal, gaps=True)
    labels = tuple(axis.column for axis in axes)
    stream = point_stream(points, domain, who, columns, labels, values, how)
    seen = Seen(stream, domain, axes, who is not None)
    seen.look(progress)
    n = seen.persons if who is not None else seen.rows - seen.missing
    planned = None
    if n:
        planned = plan(
            n, epsilon, domain, method=method, protects="point" if who is None else "person",
            by=by, time=time, resolution=resolution,
        )  # fmt: skip
    return Check(
        read=_describe(stream, who, points_crs),
        crs=crs_name(stream.crs) if stream.crs is not None else "",
        domain=str(domain),
        rows=seen.rows,
        missing=seen.missing,
        nowhere=seen.nowhere,
        outside=sum(seen.sides.values()) + seen.nowhere,
        sides=seen.sides,
        persons=None if who is None else seen.persons,
        nobody=seen.nobody,
        most_points=seen.most_points,
        typical_points=seen.typical_points,
        axes=tuple(seen.axes()),
        problems=tuple(_problems(seen, stream, domain, decimal)),
        picture=seen.picture,
        allowed=domain.mask(int(np.log2(PICTURE))),
        plan=planned,
    )


def _describe(stream: PointStream, who: Any, given: Any) -> str:
    found = stream.layout
    words = "points without columns" if stream.bare else "point geometries"
    if found is not None and found.xy is not None:
        words = f"columns {found.xy[0]!r} and {found.xy[1]!r}"
    elif found is not None and found.geometry:
        words = f"geometry column {found.geometry!r}"
    how = _name_format(next(iter(stream.parts), None))
    told = ""
    if given is not None:
        told = " (said with points_crs=)"
    elif stream.assumed:
        told = " (that of the domain, because they name none: say another with points_crs=)"
    named = ""
    if isinstance(who, (str, tuple)):
        named = f", persons in {who!r}" if isinstance(who, str) else f", persons in {list(who)}"
    crs = crs_name(stream.crs) if stream.crs is not None else "no CRS"
    return f"{f'{how}, ' if how else ''}{words} in {crs}{told}{named}"


def _name_format(part: Any) -> Optional[str]:
    """What a user calls the format of a file: Parquet without a geometry is no GeoParquet."""
    known = getattr(part, "format", None)
    if known == "OGR":
        return _OGR_FORMATS.get(os.path.splitext(part.path)[1].lower(), "GeoJSON")
    return "Parquet" if known == "GeoParquet" and part.layout.xy is not None else known


def _problems(seen: Seen, stream: PointStream, domain: Domain, decimal: str) -> Iterator[str]:
    placed = seen.rows - seen.missing
    astray = sum(seen.sides.values()) + seen.nowhere
    if placed and astray > _MOST * placed:
        yield from _why_astray(seen, stream, domain)
    if not placed:
        mark = "a comma, say decimal=','" if decimal == "." else "a point, leave decimal=',' out"
        yield (
            "No row has a place: name the columns with columns=(x, y), or, where numbers are "
            f"written with {mark}."
        )
    elif seen.missing:
        yield ("Some rows have no place, and publish refuses them: drop them, or mend them, first.")
    if seen.nobody:
        yield "Some points have no person, and publish refuses them."
    if seen.extents is not None and seen.extents.shown_by(domain):
        yield REFUSED
    for axis in seen.axes():
        yield from _why_beside(axis)
        if axis.unfit:
            yield (
                f"{axis.column!r} has values of a kind that the axis does not take, and publish "
                "refuses them: write them as text, or as dates, first; true and false, too."
            )
        if axis.strange and not axis.takes_rest:
            yield (
                f"{axis.column!r} has values that are not in its public list, and publish refuses "
                "them: complete the list, or add 'other' to it."
            )
        if axis.missing and not axis.takes_rest:
            yield f"Some rows have no {axis.column!r}, and publish refuses them."


def _why_beside(axis: AxisFound) -> Iterator[str]:
    """An axis that would tell nothing, because all is moved to its end or becomes 'other'."""
    known, strange = sum(axis.declared.values()), sum(axis.strange.values())
    if axis.early + axis.late > _MOST * known:
        where = "before" if axis.early > axis.late else "after"
        yield (
            f"Most dates in {axis.column!r} lie {where} the declared range, and are moved to its "
            "end: check the range, and how the dates are written."
        )
    if axis.takes_rest and 0 < known == strange:
        yield (
            f"No value of {axis.column!r} is in its public list, and all become 'other': check the "
            "list, and how the values are written."
        )
    if axis.takes_rest and axis.missing and not known and not axis.unfit:
        yield (
            f"No {axis.column!r} can be read, and all become 'other': check the column, and how "
            "its values are written."
        )


def _why_astray(seen: Seen, stream: PointStream, domain: Domain) -> Iterator[str]:
    x, y = (np.concatenate([part[i] for part in seen.sample])[:SAMPLE] for i in (0, 1))
    if _share_inside(domain, y, x, stream.crs) > _MOST:
        yield (
            "The axes are swapped: with x and y exchanged the points lie in the domain. Exchange "
            "the columns (columns=), or write the points anew with x first."
        )
        return
    fitting = [
        crs_name(crs)
        for crs in _candidates(domain)
        if not crs.equals(stream.crs) and _share_inside(domain, x, y, crs) > _MOST
    ]
    if fitting:
        yield (
            f"The CRS is wrong, it seems: read in {' or '.join(fitting[:3])} the points lie in the "
            "domain. Say so with points_crs=, or mend the file."
        )
    elif is_elsewhere(stream.crs, domain):
        yield "The CRS of the points is that of another part of the world than the domain."
    else:
        side = max(seen.sides, key=lambda name: seen.sides[name])
        where = f", most of them {SIDES[side]}" if seen.sides[side] else ""
        yield (
            f"The domain is elsewhere: most of the points lie outside of it{where}. Check its "
            "bounds or polygon, and its CRS."
        )


def _share_inside(domain: Domain, x: Array, y: Array, crs: pyproj.CRS) -> float:
    with np.errstate(all="ignore"):
        px, py = domain.project(x, y, crs)
    there = np.isfinite(px) & np.isfinite(py)
    return float(domain.grid.contains(px[there], py[there]).sum()) / max(x.size, 1)


def _candidates(domain: Domain) -> list[pyproj.CRS]:
    """The CRS in which points of a place usually are: degrees, the web's, its UTM zone."""
    lon, lat = (float(v[0]) for v in domain.unproject(*domain.middle(), 4326))
    zone = int((lon + 180) // 6) % 60 + 1
    usual = [domain.crs, 4326, 3857, (32600 if lat >= 0 else 32700) + zone, 25800 + zone]
    found: list[pyproj.CRS] = []
    for code in usual:
        try:
            crs = pyproj.CRS(code)
        except pyproj.exceptions.CRSError:
            continue
        if not any(crs.equals(other) for other in found):
            found.append(crs)
    return found
