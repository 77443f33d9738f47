"""Files of each version stay readable, are written byte for byte, and follow from the same cells.

``python -m tests.golden.test_golden`` writes the golden files anew: only for a new format version.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any, Callable, Dict

import numpy as np
import pytest
import shapely

import dpsort_geo as dp
from dpsort_geo.core.curve.grid import Grid
from dpsort_geo.core.private.adaptive import publish as publish_adaptive
from dpsort_geo.core.private.cells import count_cells
from dpsort_geo.core.private.hybrid import publish as publish_hybrid
from dpsort_geo.core.private.sort import publish as publish_sorted
from dpsort_geo.core.public.counts import count_within
from dpsort_geo.core.public.decode import decode
from dpsort_geo.core.public.points import points_at
from dpsort_geo.core.release import Release, load
from tests.persons import count_person_points, count_persons

HERE = Path(__file__).parent
RELEASES = (
    "adaptive", "adaptive-masked", "adaptive-add-remove", "adaptive-persons", "sort",
    "sort-add-remove", "sort-persons", "hybrid", "hybrid-depth", "hybrid-persons",
    "adaptive-few-add-remove",
)  # fmt: skip


def tape() -> Callable[..., Any]:
    """Whole numbers that look like noise and are the same everywhere; a release says so."""
    drawn = 0

    def noise(numerator: Any, denominator: Any, size: Any = None) -> Any:
        nonlocal drawn
        t = np.broadcast_to(np.asarray(numerator, object), size).reshape(-1).tolist()
        s = np.broadcast_to(np.asarray(denominator, object), size).reshape(-1).tolist()
        values = []
        for a, b in zip(t, s):
            word = hashlib.sha256(str(drawn).encode()).digest()
            values.append(
                (int.from_bytes(word[:4], "big") % 4001 - 2000) * int(a) // (1000 * int(b))
            )
            drawn += 1
        return np.array(values, np.int64)

    return noise


def some_points(n: int = 600) -> Any:
    word = b"".join(hashlib.sha256(str(i).encode()).digest() for i in range(n // 4))
    share = np.frombuffer(word, "<u4")[: 2 * n].reshape(2, n) / 2.0**32
    return 64 * share[0] ** 2, 64 * share[1]


def made(name: str) -> Release:
    grid = Grid(0.0, 0.0, 1.0, 6)
    if name == "adaptive-masked":
        grid = Grid(0.0, 0.0, 1.0, 6, np.array([[100, 1500], [1600, 1601], [2000, 4000]]))
    x, y = some_points()
    who = np.arange(x.size) // 3
    neighbours = "add-remove" if "add-remove" in name else "replace"
    if name == "adaptive-persons":
        return publish_adaptive(count_persons(grid, x, y, who), "0.5", unit="person", noise=tape())
    if name == "adaptive-few-add-remove":  # a file of version 3
        few = publish_adaptive(
            count_cells(grid, x, y), "1", unit="person", max_points=3, neighbours=neighbours,
            noise=tape(),
        )  # fmt: skip
        window = ("2026-03-01", "2026-04-01")
        return replace(few, outside="drop", person=("rider", "date"), window=window)
    if name.startswith("adaptive"):
        return publish_adaptive(count_cells(grid, x, y), "1", neighbours=neighbours, noise=tape())
    cells, unit = count_cells(grid, x, y), "point"
    if name.endswith("persons"):
        cells, unit = count_person_points(grid, x, y, who), "person"
    if name.startswith("sort"):
        return publish_sorted(cells, "2", neighbours=neighbours, unit=unit, noise=tape())
    variant = "depth-width" if name == "hybrid-depth" else "width-depth"
    return publish_hybrid(
        cells, "2.5", variant=variant, neighbours=neighbours, unit=unit, noise=tape()
    )


def answers(release: Release) -> Dict[str, Any]:
    decoded = decode(release)
    zones = [
        [np.array([[5, 5], [40, 9], [33, 60.5]])],
        [np.array([[0, 0], [64, 0], [64, 64], [0, 64.0]])],
    ]
    x, y = points_at(decoded, np.arange(decoded.n))  # along the curve, whatever order they come in
    return {
        "counts": [part.tolist() for part in count_within(decoded, zones)],
        "points": [float(x.sum()), float(y.sum()), float(x[::50].sum()), float(y[::50].sum())],
    }


def domains() -> Dict[str, Any]:
    city = shapely.Polygon(
        [(13.2, 52.38), (13.6, 52.38), (13.62, 52.6), (13.45, 52.52), (13.19, 52.6)]
    )
    hole = shapely.Polygon(
        [(0, 0), (900, 0), (900, 500), (0, 700)], [[(100, 100), (300, 90), (200, 300)]]
    )
    fiji = shapely.MultiPolygon(
        [shapely.box(177, -19, 180, -16), shapely.box(-180, -18, -178, -15)]
    )
    return {
        "city box": dp.Domain.from_bounds((-74.3, 40.5, -73.7, 40.95), crs="EPSG:4326"),
        "antimeridian box": dp.Domain.from_bounds((177, -20, -178, -15), crs="EPSG:4326"),
        "world": dp.Domain.from_bounds((-180, -90, 180, 90), crs="EPSG:4326", order=9),
        "pole": dp.Domain.from_bounds((-180, 60, 180, 90), crs="EPSG:4326", order=9),
        "mercator box": dp.Domain.from_bounds((0, 0, 64_000, 32_000), crs="EPSG:3857"),
        "square": dp.Domain.from_bounds((0, 0, 640, 640), crs="EPSG:27700"),
        "other datum": dp.Domain.from_bounds((9, 47, 10, 48), crs="EPSG:4258"),
        "feet": dp.Domain.from_bounds((900_000, 120_000, 1_070_000, 280_000), crs="EPSG:2263"),
        "city": dp.Domain.from_polygon(city, crs="EPSG:4326"),
        "hole": dp.Domain.from_polygon(hole, crs="EPSG:27700"),
        "fiji": dp.Domain.from_polygon(fiji, crs="EPSG:4326"),
    }  # fmt: skip


def described(domain: Any) -> Dict[str, Any]:
    grid = domain.grid
    return {
        "corner": [grid.x0, grid.y0], "cell": grid.cell, "order": grid.order,
        "cells": grid.n_cells, "runs": 0 if grid.runs is None else len(grid.runs),
        "working": domain.working_crs.name, "bounds": list(domain.bounds),
        "metres": domain.metres, "area": domain.area,
    }  # fmt: skip


@pytest.mark.parametrize("name", RELEASES)
def test_a_file_is_read_and_written_byte_for_byte(name: str) -> None:
    text = (HERE / f"{name}.release.json").read_text("utf-8")
    release = load(HERE / f"{name}.release.json")
    assert release.to_json() == text
    assert release.verify()


@pytest.mark.parametrize("name", RELEASES)
def test_the_same_cells_and_noise_give_the_same_file(name: str) -> None:
    assert made(name).to_json() == (HERE / f"{name}.release.json").read_text("utf-8")


@pytest.mark.parametrize("name", RELEASES)
def test_a_file_gives_the_same_answers(name: str) -> None:
    expected = json.loads((HERE / "answers.json").read_text("utf-8"))[name]
    found = answers(load(HERE / f"{name}.release.json"))
    np.testing.assert_allclose(found["counts"], expected["counts"], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(found["points"], expected["points"], rtol=1e-9, atol=1e-9)


def test_areas_give_the_same_grids() -> None:
    expected = json.loads((HERE / "grids.json").read_text("utf-8"))
    for name, domain in domains().items():
        found, golden = described(domain), expected[name]
        # whole numbers as they are; the last digits of coordinates are PROJ's
        for key in ("order", "working"):
            assert found[key] == golden[key], (name, key)
        for key in ("corner", "cell", "bounds", "metres", "area"):
            np.testing.assert_allclose(found[key], golden[key], rtol=1e-9, atol=1e-6, err_msg=name)
        np.testing.assert_allclose(found["cells"], golden["cells"], rtol=1e-6, err_msg=name)
        np.testing.assert_allclose(found["runs"], golden["runs"], rtol=1e-3, err_msg=name)


if __name__ == "__main__":
    for name in RELEASES:
        made(name).save(HERE / f"{name}.release.json")
    read = {name: answers(load(HERE / f"{name}.release.json")) for name in RELEASES}
    (HERE / "answers.json").write_text(json.dumps(read, indent=1) + "\n")
    grids = {name: described(domain) for name, domain in domains().items()}
    (HERE / "grids.json").write_text(json.dumps(grids, indent=1) + "\n")
