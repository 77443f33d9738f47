"""The windows on Qt 6, which is what QGIS 4 runs on: real PyQt6, a shim of the QGIS modules."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.qgis import fresh_profile

SCRIPT = Path(__file__).parent / "inside" / "qt6_windows.py"


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    if importlib.util.find_spec("PyQt6") is None:
        pytest.skip("PyQt6 is not installed")
    folder = tmp_path_factory.mktemp("qt6")
    fresh_profile.install(folder / "plugins", folder / "dist")
    done = subprocess.run(
        [sys.executable, str(SCRIPT), str(folder / "plugins"), str(folder)],
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen", "HOME": str(folder)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr[-5000:]
    # an exception in a slot does not end PyQt6's event loop on every platform, but it is told
    assert "Traceback" not in done.stderr, done.stderr[-5000:]
    return dict(json.loads(done.stdout.splitlines()[-1]))


def test_every_module_of_the_windows_loads_on_qt_6(seen: dict[str, Any]) -> None:
    assert seen["qt"].startswith("6.")
    there = (fresh_profile.ROOT / "qgis_plugin" / "dpsort_qgis" / "gui").glob("*.py")
    assert len(seen["modules"]) == len(list(there)) > 10


def test_the_card_follows_epsilon_and_the_layer(seen: dict[str, Any]) -> None:
    assert seen["figure"].startswith("≈") and seen["figure"] != seen["figure at 4"]
    assert seen["figure of fewer"].startswith("≈") and seen["figure of fewer"] != seen["figure"]
    assert "above 3" in seen["notes at 4"]
    assert seen["without a layer"] == "–"


def test_return_pays_nowhere_and_the_button_does(seen: dict[str, Any]) -> None:
    assert seen["can run"] and seen["pixels"]
    assert not seen["return asks"] and not seen["return pays"]
    assert seen["the button pays"]
    assert ["Epsilon", "4"] in seen["rows"]


def test_an_epsilon_can_be_typed_with_a_point_or_a_comma(seen: dict[str, Any]) -> None:
    assert seen["typed"] == [[0.5, True], [0.5, True], [12.0, True]] * 2


def test_declared_zones_can_be_chosen_with_a_category_and_have_their_price(
    seen: dict[str, Any],
) -> None:
    assert seen["zones can be chosen"]
    assert "declared zones take their part" in seen["price of zones"]


def test_a_wanted_error_becomes_an_epsilon_and_is_handed_on(seen: dict[str, Any]) -> None:
    assert seen["planned"] == "≈ 400\u00a0m"
    assert seen["handed on"]


def test_a_plan_knows_what_axes_cost_and_hands_them_on(seen: dict[str, Any]) -> None:
    assert seen["axes need more epsilon"]
    assert "take their part" in seen["price of axes"]
    assert seen["taken"] == [True, "burglary, theft, other"]


def test_missing_dates_can_have_a_stretch_and_it_is_handed_on(seen: dict[str, Any]) -> None:
    assert seen["stretches"][0] == "other" and seen["stretches"][1].endswith("-12")
    assert seen["stretches with missing dates"] == ["other", "other"]
    enabled, given, words = seen["missing dates"]
    assert enabled and given is True and words.endswith("missing dates too")


def test_the_ledger_shows_limits_and_exports(seen: dict[str, Any]) -> None:
    assert seen["ledger"] == ["calls", "1", "0.5", "2", "1.5"]
    assert seen["exported"] == "calls"


def test_a_file_that_is_no_release_cannot_be_opened(seen: dict[str, Any]) -> None:
    words, enabled = seen["release"]
    assert words and not enabled
    assert seen["png"] == "PNG"


def test_a_release_can_be_dropped_on_the_window_and_on_the_map(seen: dict[str, Any]) -> None:
    assert seen["dropped"] == [True, "dropped.release.json"]
    assert seen["drops"] == [True, False]
    assert seen["opened"] == ["a.release.json"] and seen["drop key"]
