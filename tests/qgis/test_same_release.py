"""QGIS and geopandas are two faces of one thing: same release, same points, same grid."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from dpsort_geo.core.frame.area import ledger_text

geopandas = pytest.importorskip("geopandas")
shapely = pytest.importorskip("shapely")
from dpsort_geo.geo.crs import crs_name, crs_text

INSIDE = Path(__file__).parent / "inside"


@pytest.mark.parametrize("name", ["same", "box", "repeated"])
def test_a_release_from_qgis_decodes_to_the_same_points_in_geopandas(
    name: str, compared: Path
) -> None:
    import dpsort_geo as dp

    frame = dp.read_release(compared / f"{name}.release.json").points(diffuse=name != "repeated")
    theirs = np.array(json.loads((compared / f"{name}.points.json").read_text()))
    ours = np.column_stack([frame.geometry.x, frame.geometry.y])
    assert ours.shape == theirs.shape
    # a millimetre: the latitude of PROJ before 9.6 is 0.3 mm off in an equal-area projection
    assert np.abs(ours - theirs).max() < 1e-8


@pytest.mark.parametrize(("name", "cell"), [("same", None), ("same200", 200.0)])
def test_a_release_from_qgis_has_the_same_density_in_geopandas(
    name: str, cell: float | None, compared: Path
) -> None:
    import dpsort_geo as dp

    rasterio = pytest.importorskip("rasterio")
    dp.read_release(compared / "same.release.json").density(cell).to_raster(compared / "ours.tif")
    with (
        rasterio.open(compared / f"{name}.tif") as theirs,
        rasterio.open(compared / "ours.tif") as ours,
    ):
        assert np.isnan(theirs.nodata) and theirs.shape == ours.shape
        np.testing.assert_allclose(theirs.transform, ours.transform, rtol=1e-12)
        found, expected = theirs.read(1), ours.read(1)
    assert np.isnan(expected).any() and np.nanmax(expected) > 0
    # where next to nothing lies, the last digits are those of sums of all points before
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-12 * np.nanmax(expected))


def test_both_faces_make_the_same_grid_of_the_same_area(compared: Path) -> None:
    import dpsort_geo as dp

    found = json.loads((compared / "same.grids.json").read_text())
    for name, (crs, given) in json.loads((INSIDE / "same_areas.json").read_text()).items():
        if isinstance(given, str):
            domain = dp.Domain.from_polygon(shapely.from_wkt(given), crs=crs)
        else:
            domain = dp.Domain.from_bounds(given, crs=crs)
        theirs, grid = found[name], domain.grid
        assert theirs["grid"][3:] == [grid.order, grid.n_cells], name
        assert theirs["runs"] == (None if grid.runs is None else grid.runs.tolist()), name
        # micrometres: the last digits of coordinates are those of two versions of PROJ
        corner = grid.x0, grid.y0, grid.cell
        np.testing.assert_allclose(theirs["grid"][:3], corner, rtol=1e-12, atol=1e-6, err_msg=name)
        assert theirs["metres"] == pytest.approx(domain.metres, rel=1e-9), name
        where = ledger_text(domain.bounds, crs_name(domain.crs), grid.order)
        assert theirs["ledger"] == where, name
        if name != "other datum":  # QGIS writes its datum as PROJ's text, pyproj as WKT
            ours = crs_text(domain.working_crs).replace(" +type=crs", "")
            assert theirs["working"].replace(" +no_defs", "") == ours, name


def test_both_faces_count_the_same_in_the_same_zones(compared: Path) -> None:
    import dpsort_geo as dp

    release = dp.read_release(compared / "same.release.json")
    found = json.loads((compared / "same.counts.json").read_text())
    for name, (crs, wkt) in json.loads((INSIDE / "same_zones.json").read_text()).items():
        zone = geopandas.GeoSeries([shapely.from_wkt(wkt)], crs=crs)
        row = release.count_within(zone).iloc[0]
        # a thousandth of a point: versions of PROJ differ by a millimetre between two datums
        expected = row.estimate, row.low, row.high
        np.testing.assert_allclose(found[name], expected, rtol=1e-6, atol=1e-3, err_msg=name)
    assert np.isnan(found["far"][0]) and 0 < found["half"][0] < release.n
