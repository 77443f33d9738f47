"""The table of docs/series.md says what the benchmark measured."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROWS = {
    "thefts, by quarter": "thefts by quarter",
    "earthquakes, by four years": "earthquakes",
    "taxi rides, dealt": "taxi rides",
    "accidents, dealt": "accidents",
    "thefts, by month": "thefts by month",
}


@pytest.mark.parametrize("row", ROWS)
def test_a_row_of_the_series_page_is_what_ten_seeds_gave(row):
    found = json.loads((ROOT / "benchmarks/results/series.json").read_text())["cases"][ROWS[row]]
    page = (ROOT / "docs/series.md").read_text().splitlines()
    told = next(line for line in page if line.startswith(f"| {row} |")).strip("|").split("|")[1:]
    cells = [
        found[how][epsilon] for how in ("add-remove", "replace") for epsilon in ["0.1", "1", "3"]
    ]
    assert {cell["seeds"] for cell in cells} == {10}
    ratios = [cell["chained"]["emd"] / cell["alone"]["emd"] for cell in cells]
    assert [float(value) for value in told] == [round(ratio, 2) for ratio in ratios]
