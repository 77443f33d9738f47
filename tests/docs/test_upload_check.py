"""An upload is refused while the project does not say where it lives."""

from __future__ import annotations

import doctest
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.building import ROOT, load_script

upload_check = load_script("qgis_plugin/upload_check.py")
FILES = ("pyproject.toml", "CITATION.cff", upload_check.METADATA)
URLS = """
[project.urls]
Homepage = "https://maps.city.gov/dpsort"
Source = "https://code.city.gov/dpsort"
Issues = "https://code.city.gov/dpsort/issues"
"""


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    """A copy of the three files in which everything is filled in."""
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    with open(tmp_path / "pyproject.toml", "a") as file:
        file.write(URLS)
    with open(tmp_path / "CITATION.cff", "a") as file:
        file.write("repository-code: https://code.city.gov/dpsort\ndate-released: 2026-01-31\n")
    path = tmp_path / upload_check.METADATA
    text = path.read_text("utf-8").replace("email=\n", "email=maps@city.gov\n")
    for key in upload_check.PAGES:
        text = text.replace(f"{key}=\n", f"{key}=https://maps.city.gov/{key}\n")
    path.write_text(text, "utf-8")
    return tmp_path


def test_the_project_as_it_is_cannot_be_uploaded(tmp_path: Path) -> None:
    script = ROOT / "qgis_plugin" / "package.py"
    command = [sys.executable, str(script), "--out", str(tmp_path), "--upload"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1 and not list(tmp_path.iterdir())
    for word in ("homepage", "tracker", "repository", "email", "[project.urls]", "date-released"):
        assert word in done.stderr


def test_it_can_be_uploaded_when_all_is_filled_in(filled: Path) -> None:
    assert upload_check.find_blanks(filled) == []


@pytest.mark.parametrize(
    "file, full, blank",
    [
        (upload_check.METADATA, "email=maps@city.gov", "email=maps@example.org"),
        (upload_check.METADATA, "tracker=https://maps.city.gov/tracker", "tracker="),
        ("pyproject.toml", 'Source = "https://code.city.gov/dpsort"', 'Source = ""'),
        ("pyproject.toml", "[project.urls]", "[tool.urls]"),
        ("CITATION.cff", "date-released: 2026-01-31", "date-released:"),
        ("CITATION.cff", "https://code.city.gov/dpsort", "https://example.com/dpsort"),
    ],
)
def test_one_blank_or_made_up_address_is_enough_to_refuse(filled, file, full, blank) -> None:
    path = filled / file
    text = path.read_text("utf-8")
    assert full in text
    path.write_text(text.replace(full, blank), "utf-8")
    assert upload_check.find_blanks(filled)
    assert all(line.startswith(file) for line in upload_check.find_blanks(filled))


def test_no_address_of_the_plugin_is_made_up() -> None:
    text = (ROOT / upload_check.METADATA).read_text("utf-8")
    assert "example." not in text


def test_the_examples_of_the_check_hold() -> None:
    tried = doctest.testmod(upload_check)
    assert tried.attempted and not tried.failed
