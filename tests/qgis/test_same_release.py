"""QGIS and geopandas are two faces of one thing: same release, same points, same grid."""

from __future__ import annotations

import ast
import json
import zlib
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from dpsort_geo.core.frame.area import ledger_text

geopandas = pytest.importorskip("geopandas")
shapely = pytest.importorskip("shapely")
from dpsort_geo.geo.crs import crs_name, crs_text

INSIDE = Path(__file__).parent / "inside"
#: the claim whose release is made again here
DECLARED = "test_declared_zones_get_the_table_that_geopandas_users_get"


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
        expected = row.estimate, row.low, row.high, row.covered
        np.testing.assert_allclose(found[name], expected, rtol=1e-6, atol=1e-3, err_msg=name)
    assert found["far"][3] == 0 < found["half"][3] < found["metres"][3] < 1
    assert np.isnan(found["far"][0]) and 0 < found["half"][0] < release.n


def test_both_faces_make_the_same_release_with_declared_zones(
    compared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import dpsort_geo as dp
    from dpsort_geo.core.private import entropy

    shapes, rows, counted = json.loads((compared / "declared.json").read_text())
    theirs = dp.read_release(compared / "declared.release.json")
    # the noise that the claim had inside QGIS, from its first byte on
    seed = zlib.crc32(f"claims_declared.Declaring.{DECLARED}".encode())
    rng = np.random.default_rng(seed)
    monkeypatch.setattr(entropy, "os", SimpleNamespace(urandom=rng.bytes))
    x, y, kind, day = zip(*rows)
    points = geopandas.GeoDataFrame(
        {"type": kind, "day": day}, geometry=geopandas.points_from_xy(x, y, crs="EPSG:4326")
    )
    city = geopandas.GeoSeries.from_wkt([limit()], crs="EPSG:4326")
    zones = geopandas.GeoSeries.from_wkt(shapes, crs="EPSG:4326")
    months = dp.TimeAxis("day", start="2026-01-01", stop="2026-07-01", every="1 month")
    ours = dp.publish(
        points, 3, city, by={"type": ["burglary", "theft", "other"]}, time=months, zones=zones
    )
    assert theirs.release.zones is not None and ours.release.zones is not None
    for part in ("edge", "zone"):
        found, expected = (getattr(one.release.zones, part) for one in (theirs, ours))
        np.testing.assert_array_equal(found, expected)
    (found, expected) = (json.loads(one.to_json())["measurements"] for one in (theirs, ours))
    assert found == expected
    table = theirs.count_within(zones, by=["type", "day"])
    expected = table[["estimate", "low", "high"]].to_numpy()
    np.testing.assert_allclose(counted, expected, rtol=1e-6, atol=0.06)  # QGIS writes tenths


def limit() -> str:
    """The city limit of ``inside/city.py``."""
    tree = ast.parse((INSIDE / "city.py").read_text(encoding="utf-8"))
    known = {
        node.targets[0].id: ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    (x0, y0), corners = known["CENTRE"], known["LIMIT"]
    return "Polygon ((" + ", ".join(f"{x0 + x} {y0 + y}" for x, y in (*corners, corners[0])) + "))"
