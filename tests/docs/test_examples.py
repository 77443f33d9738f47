"""The notebooks of the gallery run, show a picture, and are kept without outputs."""

from __future__ import annotations

import re

import nbformat
import pytest

from tests.docs.building import ROOT, load_script

NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))
pytestmark = pytest.mark.slow


def test_there_are_six_stories_and_the_gallery_links_each() -> None:
    gallery = (ROOT / "docs" / "gallery" / "index.md").read_text("utf-8")
    assert len(NOTEBOOKS) == 6
    assert {path.stem for path in NOTEBOOKS} == set(
        re.findall(r"\*\*\[.*?\]\((\w+)\.md\)", gallery)
    )


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_ends_with_a_picture_and_how_to_read_it(path, tmp_path) -> None:
    done = load_script("docs/building/stories.py").run(path, tmp_path)
    *_, last_code = (cell for cell in done.cells if cell.cell_type == "code")
    shown = [output for output in last_code.outputs if "image/png" in output.get("data", {})]
    assert shown
    assert done.cells[-2] is last_code and done.cells[-1].cell_type == "markdown"
    assert done.cells[-1].source.startswith("## What to read from it")
    said = [output for cell in done.cells for output in cell.get("outputs", ())]
    assert not [output for output in said if output.get("name") == "stderr"], "it warns"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_kept_without_outputs_and_seeds_nothing_but_its_people(path) -> None:
    cells = nbformat.read(path, as_version=4).cells
    code = [cell for cell in cells if cell.cell_type == "code"]
    assert all(not cell.outputs and cell.execution_count is None for cell in code)
    text = "\n".join(cell.source for cell in code)
    assert re.findall(r"(\w+) = np\.random\.default_rng\(\d+\)", text) == ["people"]
    assert text.count("np.random") == 1 and "seed" not in text
