"""The page about the plan of the tree tells how large it is: what it says is counted."""

from __future__ import annotations

import re

import lines
import pytest


@pytest.mark.parametrize("name", [*lines.PARTS, "together"])
def test_the_page_says_how_large_each_part_is_within_a_tenth(name: str) -> None:
    row = rf"^\| {name} \| [^|]+ \| ([\d,]+) \(([\d,]+)\) \|"
    (found,) = re.findall(row, lines.PAGE.read_text("utf-8"), re.MULTILINE)
    told = [int(number.replace(",", "")) for number in found]
    assert told == pytest.approx(lines.count_parts()[name][:2], rel=0.1)


def test_rewriting_the_page_changes_numbers_only() -> None:
    page = lines.PAGE.read_text("utf-8")
    assert re.sub(r"[\d,]+", "", lines.rewrite(page)) == re.sub(r"[\d,]+", "", page)
