"""From whatever holds points to a release: count, plan, debit, measure, in this order."""

from __future__ import annotations

import os
import warnings
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import (
    Any,
    Mapping,
    Optional,
    Sequence,
    Tuple,
    Union,
)

import numpy as np

from ...core.atomic import TakenError, check_release_name, check_target
from ...core.errors import BadInputError, PrivacyWarning
from ...core.frame.area import ledger_text
from ...core.private.cells import Cells
from ...core.private.ledger import Ledger
from ...core.private.noisy_n import refuse_nothing
from ...core.private.publish import measure
from ...core.rules import measured_by, mechanism_of
from ...core.rules.budget import (
    EpsilonLike,
    point_epsilon,
)
from ...core.rules.time_axis import TimeAxis
from ..crs import crs_name, crs_text
from ..domain import Area, as_domain
from ..release import Release
from ..zones import Zones
from .count import Points, tabulate
from .debit import open_ledger, source_of
from .plan import declare_axes
from .rows import Progress, choose_rows, name_persons
from .settings import check_settings, find_doubts
from .table import Reading
from .zones import declare_zones, refuse_drowned

Array = np.ndarray


def publish(
    points: Union[Points, Cells],
    epsilon: EpsilonLike,
    domain: Area,
    *,
    method: str = "adaptive",
    group_size: Union[int, str, None] = None,
    neighbours: str = "replace",
    resolution: Optional[float] = None,
    person: Union[str, Sequence[Any], Array, None] = None,
    max_points: Optional[int] = None,
    outside: str = "nearest",
    window: Optional[Tuple[Any, Any]] = None,
    date: Optional[str] = None,
    ledger: Union[Ledger, str, "os.PathLike[str]", bool, None] = None,
    dataset: Optional[str] = None,
    population: Optional[str] = None,
    another_name: bool = False,
    save: Union[str, "os.PathLike[str]", None] = None,
    overwrite: bool = False,
    columns: Optional[Tuple[str, str]] = None,
    points_crs: Any = None,
    layer: Optional[str] = None,
    decimal: str = ".",
    client: Any = None,
    progress: Optional[Progress] = None,
    by: Optional[Mapping[str, Sequence[Any]]] = None,
    time: Optional[TimeAxis] = None,
    values: Optional[Mapping[str, Any]] = None,
    zones: Optional[Zones] = None,
) -> Release:
    """Publish points under differential privacy.

    Parameters
    ----------
    points
        A GeoDataFrame or GeoSeries, an (n, 2) array in the domain's CRS, a list of shapely points,
        a path, a table of pandas or polars, a relation or result of DuckDB, anything with
        ``__geo_interface__`` or ``__arrow_c_stream__``, `PostGIS`, a dask or Spark frame,
        or what `count_cells` counted on the same domain.
    epsilon
        The whole privacy budget of this release; decimal text such as "0.1" is taken exactly.
    domain
        Where points may lie: a `Domain`, or polygons with a CRS (a GeoDataFrame or GeoSeries). A
        polygon does not clip: see ``outside``.
    method
        The mechanism: "adaptive" for maps and counts, "sort" for the paper's, or "hybrid".
    group_size
        For "sort" and "hybrid": points a group; None for the default; for "sort" also "paper".
    neighbours
        "replace" publishes the exact n, which everybody can then read; "add-remove" makes n
        noisy too.
    resolution
        Metres: the smallest detail that readers will ask for. Nothing is spent below it, so that
        everything above is nearer to the truth; what is read at finer than it is worse.
    person
        Name of the column, or an array, that says whose point it is. Each person counts once and
        all their points are protected together. Several names, ``["rider", "date"]``: the columns
        together are what is protected, here a person's day. Without it one *point* is protected.
    max_points
        With ``person``: up to so many points of each person count, each as a point, chosen at
        random; the noise is that many times as large. Needs ``neighbours="add-remove"``.
    outside
        "nearest" moves points outside of the domain to the nearest allowed cell; "drop" leaves
        them out, and dates outside of the range of ``time`` too. Needs ``neighbours="add-remove"``,
        because an exact number of points would then tell how many lie inside.
    window, date
        Start and stop: rows outside are left out, by the column ``date`` (with ``time`` by its
        own). The ledger adds up only releases whose windows share an instant, if they protect
        points.
    ledger, dataset, population
        The ledger to debit before any noise is drawn (True for your own), the name of the data set
        in it, and that of the people behind several data sets. Without a ledger nothing is written
        down: a library writes no files unasked; the release says so.
    another_name
        A file that was debited under another name is refused, unless this is True.
    save
        Where to save the release at once; the ledger tells where it went.
    overwrite
        Whether a file that is there already may be replaced by ``save``.
    columns
        Names of two columns with x and y, for tables without geometry.
    points_crs
        CRS of points that do not say it themselves; without it columns named lon and lat are
        degrees, and any others are in the domain's CRS.
    layer
        Layer of a file that has several; ``file.gpkg|layername=name`` says the same.
    decimal
        Sign before the decimals in CSV: "." or ",".
    client
        A dask cluster whose workers count the points of a path or of a dask frame; with person=
        they bring the points of each person together.
    progress
        Called with rows read so far and rows in all (None when not known). If it has a method
        ``phase``, that is called with a word for what follows.
    by, time
        Columns with a category, each with the public list of its values, and a `TimeAxis`. The
        release then says what and when, too, within the same epsilon. Values outside of a list go
        to "other" if the list has it, and are refused if not; dates outside go to the nearest bin.
    values
        For an array of points: the values of these columns, by name.
    zones
        With ``by`` or ``time``: public polygons that do not overlap, declared beforehand. A third
        of epsilon goes to a table of their counts by all axes, which brings those counts nearer to
        the truth where points are many, and makes all maps worse. Refused where noise would drown
        it; where n is noisy, that number decides whether the table is made.

    Examples
    --------
    >>> from dpsort_geo import Domain
    >>> domain = Domain.from_bounds((0, 0, 1000, 1000), crs="EPSG:3857")
    >>> rng = np.random.default_rng(1)
    >>> release = publish(rng.uniform(0, 1000, (5000, 2)), 1, domain)
    >>> print(str(release).splitlines()[0])
    adaptive release of exactly 5,000 points at epsilon = 1
    """
    domain = as_domain(domain)
    check_settings(epsilon, domain, method, neighbours, group_size)
    how = Reading(points_crs, layer, decimal)
    if resolution is not None:
        domain = domain.at_resolution(resolution)
    axes = declare_axes(by, time, method)
    table = declare_zones(zones, domain, axes)
    who = name_persons(person, points)
    choice = choose_rows(who, max_points, outside, window, date, neighbours, axes)
    source = source_of(points, layer)
    book, name = open_ledger(ledger, dataset, points, source, another_name)
    if save is not None:
        check_release_name(save)
        check_target(save, *(path.partition("|layername=")[0] for path in source or ()))
        if not overwrite and os.path.exists(save):
            raise BadInputError(f"{save} is there already: give another name, or overwrite=True.")
    method = mechanism_of(method, bool(axes))
    cells = tabulate(points, domain, axes, choice, method, columns, values, progress, how, client)
    unit = "point" if who is None else "person"
    n = cells.n // measured_by(method).units_of(unit, max_points)
    refuse_nothing(n, neighbours)
    rate = point_epsilon(epsilon, max_points)
    many = 0 if table is None else table.size
    if many and neighbours == "replace":
        refuse_drowned(many, axes, n, rate)
    for warning in find_doubts(n, epsilon, rate, domain, method, neighbours, axes, choice, many):
        warnings.warn(warning, PrivacyWarning, stacklevel=2)
    if book is not None:
        where = ledger_text(domain.bounds, crs_name(domain.crs), domain.grid.order)
        book.debit(
            name, epsilon, choice.unit, neighbours, where, method,
            window=choice.window, source=source, population=population,
            release=None if save is None else os.path.abspath(save),
        )  # fmt: skip
    announce = getattr(progress, "phase", None)
    if announce is not None:
        announce("noise")
    core = measure(cells, epsilon, method, group_size, neighbours, unit, max_points, table)
    core = replace(
        core,
        crs=crs_text(domain.crs),
        working_crs=crs_text(domain.working_crs),
        ledger=book is not None,
        person=choice.columns,
        window=choice.window,
        outside=outside,
    )
    release = Release(core, domain)
    if save is not None:
        _save(release, save, overwrite)
    return release


def _save(release: Release, path: Union[str, "os.PathLike[str]"], overwrite: bool) -> None:
    """Save it; what was paid for is not lost where somebody took the name meanwhile."""
    try:
        return release.save(path, overwrite)
    except TakenError:
        pass
    target = Path(path)
    for number in count(2):
        beside = target.with_name(f"{target.stem}-{number}{target.suffix}")
        try:
            release.save(beside, overwrite=False)
        except TakenError:
            continue
        raise BadInputError(
            f"{path} has come into being meanwhile, and was kept: the release is in {beside}."
        )
