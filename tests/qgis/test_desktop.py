"""The menu and the dialogs, driven with real keystrokes on a virtual screen.

The pictures stay in ``build/qgis-tour`` (or in ``DPSORT_TOUR_FOLDER``): look at them.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.qgis.desktop import tour
from tests.qgis.fresh_profile import environment_says_skip, tour_folder

PICTURES = (
    "menu", "dialog_empty", "refused", "dialog", "running", "result", "cancel", "open_release",
    "density", "plan", "toolbox", "algorithm", "unloaded", "reloaded",
)  # fmt: skip


@pytest.fixture(scope="module")
def found(city: tuple[Path, Path]) -> dict[str, Any]:
    missing = environment_says_skip()
    if missing:
        pytest.skip(missing)
    points, boundary = city
    seen = tour(points, boundary, tour_folder())
    assert "error" not in seen, seen["error"]
    return seen


def test_the_menu_opens_the_dialog_with_keys_alone(found: dict[str, Any]) -> None:
    assert found["plugin loaded"]
    assert found["boundary chosen with a key"]
    assert found["epsilon typed"] == 0.5


def test_the_dialog_waits_for_a_public_area_and_refuses_the_private_box(
    found: dict[str, Any],
) -> None:
    assert found["run waits for an area"]
    assert found["a private extent is refused"]


def test_the_expected_error_follows_epsilon(found: dict[str, Any]) -> None:
    assert found["error falls with epsilon"]
    assert re.fullmatch(r"≈ [\d.]+\s(m|km)", found["plan"])


def test_publishing_adds_a_layer_with_the_statement_and_tells_it(found: dict[str, Any]) -> None:
    assert found["layers made"] == ["Private points"]
    assert "epsilon = 1" in found["abstract"]
    assert found["message bar"] and found["report written"]
    assert "epsilon 1" in found["spent shown"]


def test_cancel_ends_the_task_and_leaves_no_layer(found: dict[str, Any]) -> None:
    assert found["cancel leaves no layer"]
    print(f"cancelled after {found['cancel seconds']:.1f} s; a second is what we want")


def test_a_release_opens_as_points_and_density(found: dict[str, Any]) -> None:
    assert found["opened"] == ["Private density", "Private points"]


def test_unload_takes_everything_back_and_reload_brings_it_again(found: dict[str, Any]) -> None:
    assert found["unloaded"] and found["menu gone"] and found["reloaded"]
    assert found["open dialogs"] == []


def test_every_picture_was_taken(found: dict[str, Any]) -> None:
    for name in PICTURES:
        assert (tour_folder() / f"{name}.png").stat().st_size > 5000
