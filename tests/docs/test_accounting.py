"""The page about accounting: its Python runs, and its commands and the tests it names exist."""

import re
import warnings
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "accounting.md").read_text(encoding="utf-8")


def test_the_pages_code_runs_in_order(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        for block in re.findall(r"```python\n(.*?)```", PAGE, re.S):
            exec(compile(block, "accounting.md", "exec"), names)
    assert "one person-day" in capsys.readouterr().out
    assert len(names["plan"].choices) == 4 and (tmp_path / "trips-2026-01.release.json").exists()


def test_every_command_and_option_of_the_page_exists():
    from dpsort_geo.cli import cli

    text = PAGE.replace("\\\n", " ")
    for line in re.findall(r"^\s+dpsort-geo (.*)$", text, re.M):
        command = cli
        for word in line.split():
            if word in getattr(command, "commands", {}):
                command = command.commands[word]
        known = {option for part in command.params for option in part.opts}
        assert set(re.findall(r"(?:^|\s)(--[a-z-]+)", line)) <= known, line


def test_every_test_that_the_proofs_of_windows_name_is_there():
    proofs = (DOCS / "proofs.md").read_text(encoding="utf-8")
    section = proofs[proofs.index("## 9. Several points a person") :]
    tests = Path(__file__).parents[1]
    written = "".join(path.read_text(encoding="utf-8") for path in tests.rglob("test_*.py"))
    named = re.findall(r"`(test_[a-z_]+?)(?:_\.\.\.)?`", section)
    assert len(named) > 10
    for name in named:
        assert f"def {name}" in written, name
