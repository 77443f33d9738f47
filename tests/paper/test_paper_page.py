"""What docs/paper.md quotes stands in the paper's source, and all that it names exists."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

import dpsort_geo
from dpsort_geo.core.rules.group_size import paper_group_size
from dpsort_geo.geo.release import Release

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "paper.md").read_text("utf-8")
SOURCE = ROOT.parent / "shared" / "paper.tex"
CARRIERS = PAGE[PAGE.index("## Every step and remark") :]


def resolve(name: str) -> object:
    """The module, or what a module holds, under a dotted name."""
    parts = name.split(".")
    for many in range(len(parts), 0, -1):
        try:
            found: object = importlib.import_module(".".join(parts[:many]))
        except ImportError:
            continue
        for part in parts[many:]:
            found = getattr(found, part)
        return found
    raise AttributeError(name)


def test_all_that_carries_a_step_of_the_paper_exists() -> None:
    names = set(re.findall(r"`((?:core|compare|dp|release|benchmarks)[./][\w./]+)", CARRIERS))
    assert len(names) > 25
    for name in sorted(names):
        if name.startswith("release."):
            assert hasattr(Release, name[len("release.") :]), name
        elif name.startswith("dp."):
            assert hasattr(dpsort_geo, name[len("dp.") :]), name
        elif name.startswith("benchmarks") and name.endswith(".py"):
            assert (ROOT / name).is_file(), name
        else:
            name = name.replace("/", ".")
            assert resolve(name if name.startswith("benchmarks") else f"dpsort_geo.{name}"), name


@pytest.mark.skipif(not SOURCE.is_file(), reason="the paper's source is not here")
def test_table_1_has_the_20_printed_entries() -> None:
    text = SOURCE.read_text("utf-8", errors="replace")
    rows = re.findall(r"n=\s*([\d,]+)((?:\s*&\s*\d+){4})", text)
    assert len(rows) == 5
    for n, row in rows:
        printed = [int(k) for k in re.findall(r"\d+", row)]
        size = int(n.replace(",", ""))
        assert [paper_group_size(size, eps) for eps in (0.5, 1.0, 2.0, 3.0)] == printed
        listed = re.findall(rf"^\| {n} \|(.*)\|$", PAGE, re.MULTILINE)[-1]
        assert [int(entry.split("/")[0]) for entry in listed.split("|")] == printed


@pytest.mark.skipif(not SOURCE.is_file(), reason="the paper's source is not here")
def test_the_table_of_densities_and_the_stated_numbers_are_the_printed_ones() -> None:
    text = SOURCE.read_text("utf-8", errors="replace")
    for printed in ("1.38", "1.19", "0.25", "0.20", "0.05/5", "-0.0163", "0.0162", "0.0138"):
        assert printed in text and printed.replace("/", " / ") in PAGE
