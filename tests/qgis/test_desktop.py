"""The menu and the dialogs, driven with real keystrokes on a virtual screen.

The pictures stay in ``build/qgis-tour`` (or in ``DPSORT_TOUR_FOLDER``): look at them.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.qgis.desktop import tour
from tests.qgis.fresh_profile import environment_says_skip, tour_folder
from tests.qgis.tour_claims import CLAIMS


@pytest.fixture(scope="module")
def found(city: tuple[Path, Path]) -> dict[str, Any]:
    missing = environment_says_skip()
    if missing:
        pytest.skip(missing)
    points, boundary = city
    # a release of an earlier tour would rightly not be overwritten
    shutil.rmtree(tour_folder(), ignore_errors=True)
    seen = tour(points, boundary, tour_folder())
    assert "error" not in seen, seen["error"]
    return seen


@pytest.mark.parametrize("name", CLAIMS)
def test_in_the_window(name: str, found: dict[str, Any]) -> None:
    CLAIMS[name](found)
