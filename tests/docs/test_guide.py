"""The guide's Python runs from top to bottom, as a reader would run it."""

import re
import warnings
from pathlib import Path

GUIDE = Path(__file__).parents[2] / "docs" / "guide.md"


def test_the_guides_code_runs_in_order(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.S)
    assert len(blocks) >= 7
    names = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        for block in blocks:
            exec(compile(block, "guide.md", "exec"), names)
    assert len(names["points"]) == len(names["repeated"]) == 20_000
    own = ["estimate", "low", "high", "reliable", "covered"]
    assert list(names["counted"].columns) == ["name", "geometry", "population", *own]
    assert {path.suffix for path in tmp_path.iterdir()} >= {".json", ".html", ".gpkg", ".tif"}
    assert "50,000 points, epsilon = 1" in capsys.readouterr().out


def test_every_command_of_the_guide_exists():
    from dpsort_geo.cli import cli

    text = GUIDE.read_text(encoding="utf-8")
    for command in re.findall(r"^\s*(?:\| )?dpsort-geo ([a-z]+)", text, re.M):
        assert command in cli.commands
