"""The plugin, built and installed once into a fresh profile for all tests of this folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.qgis import fresh_profile
from tests.qgis.fresh_profile import Installed

pytest.register_assert_rewrite("tests.qgis.tour_claims")

#: these run inside QGIS, where pytest is not
collect_ignore_glob = ["inside/*", "tour.py", "desktop.py", "newer.py"]


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    if not fresh_profile.has_qgis():
        pytest.skip("QGIS is not installed here")
    home = tmp_path_factory.mktemp("qgis_home")
    archive = fresh_profile.install(fresh_profile.default_plugins(home), home / "dist")
    folder = home / "results"
    folder.mkdir()
    return Installed(home, folder, archive)


def try_claims(installed: Installed, *names: str) -> str:
    """What QGIS says about the claims of these names, or about all of them."""
    done = fresh_profile.run_python(
        Path(__file__).parent / "inside" / "claims.py",
        installed.home,
        *names,
        DPSORT_PLUGINS=str(fresh_profile.default_plugins(installed.home)),
        DPSORT_FOLDER=str(installed.folder),
    )
    return done.stderr[-40000:] + done.stdout[-2000:]


@pytest.fixture(scope="session")
def claims(installed: Installed) -> dict[str, str]:
    """What became of every test inside QGIS, by name: "ok" or the whole output."""
    told = try_claims(installed)
    passed = {
        line.split()[0]: "ok"
        for line in told.replace("\n", "\0").replace(")\0", ") ").split("\0")
        if line.startswith("test_") and line.rstrip().endswith((" ok", "... skipped"))
    }
    return {**passed, "": told}


@pytest.fixture(scope="session")
def compared(installed: Installed) -> Path:
    """The folder of what QGIS makes of the inputs that geopandas gets too."""
    told = try_claims(installed, "that_geopandas_users_get")
    assert (installed.folder / "same.release.json").is_file(), told
    return installed.folder


@pytest.fixture(scope="session")
def city(installed: Installed) -> tuple[Path, Path]:
    """Files with the made-up city: points and boundary."""
    done = fresh_profile.run_python(
        Path(__file__).parent / "inside" / "city_files.py",
        installed.home,
        str(installed.folder),
        DPSORT_PLUGINS=str(fresh_profile.default_plugins(installed.home)),
    )
    points, boundary = installed.folder / "calls.gpkg", installed.folder / "city.gpkg"
    assert points.is_file() and boundary.is_file(), done.stderr
    return points, boundary
