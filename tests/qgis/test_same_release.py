"""QGIS and geopandas are two faces of one thing: same release, same points, same grid."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.qgis.fresh_profile import Installed

geopandas = pytest.importorskip("geopandas")
shapely = pytest.importorskip("shapely")
CORNERS = ((-0.2, -0.12), (0.2, -0.12), (0.22, 0.1), (0.05, 0.02), (-0.05, 0.12), (-0.21, 0.1))


def folder_of(claims: dict[str, str], installed: Installed) -> Path:
    made = installed.folder / "same.release.json"
    assert made.is_file(), claims[""]
    return installed.folder


@pytest.mark.parametrize("name", ["same", "box", "repeated"])
def test_a_release_from_qgis_decodes_to_the_same_points_in_geopandas(
    name: str, claims: dict[str, str], installed: Installed
) -> None:
    import dpsort_geo as dp

    folder = folder_of(claims, installed)
    frame = dp.read_release(folder / f"{name}.release.json").points(diffuse=name != "repeated")
    theirs = np.array(json.loads((folder / f"{name}.points.json").read_text()))
    ours = np.column_stack([frame.geometry.x, frame.geometry.y])
    assert ours.shape == theirs.shape
    # a millimetre: the latitude of PROJ before 9.6 is 0.3 mm off in an equal-area projection
    assert np.abs(ours - theirs).max() < 1e-8


def test_a_release_from_qgis_has_the_same_density_in_geopandas(
    claims: dict[str, str], installed: Installed
) -> None:
    import dpsort_geo as dp

    rasterio = pytest.importorskip("rasterio")
    folder = folder_of(claims, installed)
    with rasterio.open(folder / "same.tif") as file:
        theirs, cell = file.read(1), file.transform.a
        assert np.isnan(file.nodata)
    dp.read_release(folder / "same.release.json").density(cell).to_raster(folder / "ours.tif")
    with rasterio.open(folder / "ours.tif") as file:
        ours = file.read(1)
    assert np.isnan(ours).any() and np.nanmax(ours) > 0
    np.testing.assert_allclose(theirs, ours, rtol=1e-5, atol=1e-6)


def test_both_faces_make_the_same_grid_of_the_same_area(
    claims: dict[str, str], installed: Installed
) -> None:
    import dpsort_geo as dp

    folder = folder_of(claims, installed)
    city = shapely.Polygon([(13.4 + x, 52.5 + y) for x, y in CORNERS])
    domains = {
        "same": dp.Domain.from_polygon(city, crs="EPSG:4326"),
        "box": dp.Domain.from_bounds((13.1, 52.3, 13.7, 52.7), crs="EPSG:4326"),
    }
    for name, domain in domains.items():
        grid = dp.read_release(folder / f"{name}.release.json").grid
        assert grid.order == domain.grid.order
        assert np.allclose(
            (grid.x0, grid.y0, grid.cell), (domain.grid.x0, domain.grid.y0, domain.grid.cell),
            rtol=1e-9, atol=1e-6,
        )  # fmt: skip
        assert grid.n_cells == pytest.approx(domain.grid.n_cells, rel=1e-4)
