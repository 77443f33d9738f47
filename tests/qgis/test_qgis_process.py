"""The algorithms from the shell: ``qgis_process`` on the installed zip in a fresh profile."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.qgis.fresh_profile import Installed, run_process


@pytest.fixture(scope="module")
def enabled(installed: Installed) -> Installed:
    done = run_process(installed.home, "plugins", "enable", "dpsort_qgis")
    assert "nabled" in done.stdout + done.stderr, done.stderr
    return installed


def run(enabled: Installed, name: str, **parameters: object) -> dict[str, str]:
    words = [f"{key}={value}" for key, value in parameters.items()]
    done = run_process(enabled.home, "run", f"dpsort:{name}", "--json", *("--", *words))
    start = done.stdout.find("{")
    assert done.returncode == 0 and start >= 0, done.stdout + done.stderr
    return dict(json.loads(done.stdout[start:])["results"])


def test_the_provider_lists_its_six_algorithms(enabled: Installed) -> None:
    done = run_process(enabled.home, "list")
    assert done.stdout.count("dpsort:") == 6, done.stdout


def test_help_explains_every_parameter(enabled: Installed) -> None:
    done = run_process(enabled.home, "help", "dpsort:publishpoints")
    for word in ("EPSILON", "AREA", "PERSON", "NEIGHBOURS", "ledger"):
        assert word in done.stdout


def test_points_are_published_from_the_shell(enabled: Installed, city: tuple[Path, Path]) -> None:
    points, boundary = city
    folder = enabled.folder
    release, layer, report = (folder / f"shell.{end}" for end in ("release.json", "gpkg", "html"))
    given = {"INPUT": points, "AREA": boundary, "EPSILON": 1}
    published = run(enabled, "publishpoints", **given, OUTPUT=layer, RELEASE=release, REPORT=report)
    assert "epsilon = 1" in published["STATEMENT"]
    assert json.loads(release.read_text(encoding="utf-8"))["n"] == 6000
    assert layer.stat().st_size > 1000 and report.stat().st_size > 1000


def test_a_model_publishes_and_reads_the_release_in_every_way(
    enabled: Installed, city: tuple[Path, Path]
) -> None:
    points, boundary = city
    ends = {
        "publish": "release.json", "points": "gpkg", "density": "tif", "counts": "geojson",
        "inspection": "html",
    }  # fmt: skip
    made = {name: enabled.folder / f"model_{name}.{end}" for name, end in ends.items()}
    words = [f"points={points}", f"area={boundary}"]
    words += [f"{name}:result={path}" for name, path in made.items()]
    model = str(points.with_name("publish_and_read.model3"))
    done = run_process(enabled.home, "run", model, "--", *words)
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(made["publish"].read_text(encoding="utf-8"))["n"] == 6000
    (zone,) = json.loads(made["counts"].read_text(encoding="utf-8"))["features"]
    assert zone["properties"]["estimate"] == pytest.approx(6000, rel=0.05)
    for path in made.values():
        assert path.stat().st_size > 400, path


def test_plan_reads_no_layer_of_points(enabled: Installed) -> None:
    planned = run(enabled, "plan", EXTENT="13.1,13.7,52.3,52.7 [EPSG:4326]", N=50000, EPSILON=1)
    assert 10 < float(planned["EXPECTED_ERROR"]) < 5000


def test_the_private_extent_is_refused(enabled: Installed, city: tuple[Path, Path]) -> None:
    points, _ = city
    words = [f"INPUT={points}", f"EXTENT={points}", "EPSILON=1", "OUTPUT=TEMPORARY_OUTPUT"]
    done = run_process(
        enabled.home, "run", "dpsort:publishpoints", "--", *words, "RELEASE=TEMPORARY_OUTPUT"
    )
    assert done.returncode != 0
    assert "outermost" in done.stdout + done.stderr
