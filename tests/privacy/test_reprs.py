"""What a notebook, a log or a traceback shows of private things: nothing that comes from points."""

from __future__ import annotations

import inspect
import pkgutil
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import Any, Callable

import numpy as np
import pytest

import dpsort_geo as dp
from dpsort_geo.core.curve.grid import Grid
from dpsort_geo.core.private import cells, draw, extent, ledger, noise, packed, slices
from dpsort_geo.core.rules.axes import make_axes
from dpsort_geo.geo.private import (
    beside,
    delimited,
    files,
    formats,
    parts,
    report,
    rows,
    seen,
    table,
    vector,
)

#: digits and names that are in the data below and nowhere else
SECRETS = ("7373", "4141", "8989", "roe")
DOMAIN = dp.Domain.from_bounds((0, 0, 10_000, 10_000), crs="EPSG:3857", order=12)
GRID = DOMAIN.grid


def make_cells() -> cells.Cells:
    return cells.Cells(GRID, np.array([7373, 41414]), np.array([8989, 1]))


def make_tally() -> cells.Tally:
    tally = cells.Tally(GRID)
    tally.add(np.array([7373.0, 8989.0]), np.array([4141.0, 4141.0]))
    tally.cells()
    tally.add(np.array([7373.0]), np.array([4141.0]))
    return tally


LAYOUT = table.Layout(geometry="jane_roe", person=("jane_roe",))
PIECE = formats.Piece("/tmp/roe.parquet", "GeoParquet", LAYOUT, 8989, (7373,), text=b"4141")
STREAM = files.PointStream(None, 8989, [[(np.array([7373.0]), np.array([4141.0]), None)]])
WIDE = Grid(0.0, 0.0, 1.0, 13)
AXES = make_axes({"kind": ["a", "b"]}, None)
YEARS = dp.TimeAxis("when", "2026-01-01", "2027-01-01")


def make_sliced() -> slices.SlicedCells:
    return slices.SlicedCells(WIDE, AXES, np.array([7373, 8989]), np.array([4141, 4242]))


def seen_axis(kind: Any, axis: Any, values: list[Any]) -> Any:
    made = kind(axis)
    made.add(values)
    return made


EXTENT = extent.Extent.of(np.array([7373.0, 8989.0]), np.array([4141.0, 4242.0]))
EXTENTS = extent.Extents(EXTENT, EXTENT, None)
MADE: dict[type, Callable[[], Any]] = {
    cells.Cells: make_cells,
    cells.Tally: make_tally,
    table.Layout: lambda: LAYOUT,
    formats.Piece: lambda: PIECE,
    files.PointStream: lambda: STREAM,
    rows.Choice: lambda: rows.Choice(np.array([7373, 8989])),
    rows.Rows: lambda: rows.Rows(STREAM, DOMAIN, rows.Choice(), extents=EXTENTS),
    extent.Extent: lambda: EXTENT,
    extent.Extents: lambda: EXTENTS,
    parts.Work: lambda: parts.Work(DOMAIN, None, AXES, rows.Choice("jane_roe")),
    parts.Part: lambda: parts.Part(tuple(make_cells().packed.blocks), EXTENTS),
    parts.Placed: lambda: parts.Placed(np.array([7373]), np.array(["roe"]), EXTENTS),
    packed.Block: lambda: make_cells().packed.blocks[0],
    packed.Packed: lambda: make_cells().packed,
    packed._Reader: lambda: packed._Reader(make_cells().packed.blocks[:]),
    slices.SlicedCells: make_sliced,
    slices.SlicedTally: lambda: slices.SlicedTally(WIDE, AXES),
    slices.Forests: lambda: slices.Forests(make_sliced()),
    beside.Beside: lambda: beside.Beside(np.array([7373]), (np.array([4141]),)),
    vector.Layer: lambda: vector.Layer("/tmp/roe.gpkg", "roe", LAYOUT, 8989),
    delimited.Bytes: lambda: delimited.Bytes("", b"4141"),
    seen.Seen: lambda: seen.Seen(STREAM, DOMAIN, (), False),
    seen._Values: lambda: seen_axis(seen._Values, AXES[0], ["roe", 7373]),
    seen._Dates: lambda: seen_axis(seen._Dates, YEARS, ["4141-07-03", 8989]),
    report.AxisFound: lambda: report.AxisFound("jane_roe", {"roe": 7373}, {}, 4141),
    # what was chosen in public, no points
    table.Reading: lambda: table.Reading("EPSG:4326", "calls", ","),
    draw.Terms: lambda: draw.Terms(5, Fraction(1), 1, "replace", noise.discrete_laplace),
    parts.Refusal: lambda: parts.Refusal("a sentence"),
    ledger.Ledger: lambda: dp.Ledger(Path("ledger.sqlite")),
    ledger.Entry: lambda: ledger.Entry(1, "", "a", Fraction(1), "point", "replace", "", "sort"),
}


def private_classes() -> set[type]:
    found = set()
    for name in ("dpsort_geo.core.private", "dpsort_geo.geo.private"):
        package = import_module(name)
        for module in pkgutil.iter_modules(package.__path__, f"{name}."):
            for kind in vars(import_module(module.name)).values():
                if inspect.isclass(kind) and kind.__module__ == module.name:
                    found.add(kind)
    return found


def test_every_class_of_a_private_folder_is_looked_at_here() -> None:
    said = {
        kind
        for kind in private_classes()
        if not getattr(kind, "_is_protocol", False) and not issubclass(kind, BaseException)
    }
    # what a dry run found is for the publisher's eyes: `print` shows it, see test_check
    assert said == {*MADE, report.Check}


@pytest.mark.parametrize("kind", MADE, ids=lambda kind: kind.__name__)
def test_private_things_show_no_data(kind: type) -> None:
    made = MADE[kind]()
    for text in (repr(made), str(made), f"{made}", repr([made])):
        assert not [secret for secret in SECRETS if secret in text.lower()], text


def test_a_notebook_that_ends_with_counted_cells_shows_the_grid_alone() -> None:
    assert repr(make_cells()) == "<Cells: private counts on a grid of 2^12 x 2^12 cells>"
    assert not hasattr(make_cells(), "_repr_html_")


def test_the_address_of_a_database_shows_no_user_password_or_table() -> None:
    made = dp.PostGIS("postgresql://roe:7373@host/4141", table="roe")
    for text in (repr(made), str(made), f"{made}", repr([made])):
        assert not [secret for secret in SECRETS if secret in text.lower()], text
