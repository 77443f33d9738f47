"""Series: windows in a folder, once each; read by anybody, in Python and in the shell."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, List

import geopandas as gpd
import numpy as np
import pandas as pd
import pytest
import shapely

import dpsort_geo as dp
from dpsort_geo.core.private.ledger import Ledger

BOX = (0, 0, 8000, 8000)
CRS = "EPSG:27700"
MONTHS = ("2026-01", "2026-02", "2026-03")


def calls(seed: int = 1, n: int = 20_000) -> gpd.GeoDataFrame:
    """Points of a quarter of a year, more in March; so many that no noisy n is below one."""
    rng = np.random.default_rng(seed)
    at = np.clip(rng.normal((3000, 5000), 900, (n, 2)), 0, 7999)
    day = rng.choice(90, n, p=np.r_[np.full(59, 1), np.full(31, 3)] / 152)
    when = np.datetime64("2026-01-01") + day
    return gpd.GeoDataFrame({"when": when.astype(str)}, geometry=gpd.points_from_xy(*at.T), crs=CRS)


@pytest.fixture(scope="module")
def domain() -> dp.Domain:
    return dp.Domain.from_bounds(BOX, crs=CRS)


@pytest.fixture(scope="module")
def zones() -> gpd.GeoDataFrame:
    halves = [shapely.box(0, 0, 3000, 8000), shapely.box(3000, 0, 8000, 8000)]
    return gpd.GeoDataFrame({"zone": ["west", "east"]}, geometry=halves, crs=CRS)


def make(folder: Path, domain: dp.Domain, **more: Any) -> dp.Series:
    return dp.Series(folder, domain, every="1 month", epsilon="0.5", date="when", **more)


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory, domain: dp.Domain) -> Path:
    home = tmp_path_factory.mktemp("series")
    series = make(home / "calls", domain, ledger=home / "ledger.sqlite")
    for month in MONTHS:
        series.append(calls(), month)
    return home


def test_a_month_holds_its_own_points_and_is_add_remove(published: Path) -> None:
    series = dp.read_series(published / "calls")
    assert list(series.releases) == list(MONTHS)
    assert all(release.neighbours == "add-remove" for release in series.releases.values())
    truth = calls()["when"].str[:7].value_counts()
    for month, release in series.releases.items():
        assert abs(release.n - truth[month]) < 2500  # noise of scale 100 beyond e^-25
    assert series.releases["2026-03"].release.window == ("2026-03-01", "2026-04-01")


def test_months_do_not_add_up_in_the_ledger(published: Path) -> None:
    book = Ledger(published / "ledger.sqlite")
    assert len(book.entries("calls")) == 3
    assert book.spent("calls") == pytest.approx(0.5)
    assert [Path(entry.release).name for entry in book.entries("calls")] == [
        f"{month}.release.json" for month in MONTHS
    ]


def test_each_is_read_against_those_before_unless_switched_off(published: Path) -> None:
    chained, alone = (dp.read_series(published / "calls", chained=on) for on in (True, False))
    first, *later = chained.releases.values()
    assert first.prior is None
    assert all(release.prior is not None for release in later)
    assert later[1].prior.releases == (first, later[0])  # type: ignore[union-attr]
    assert all(release.prior is None for release in alone.releases.values())
    assert [r.to_json() for r in chained.releases.values()] == [
        r.to_json() for r in alone.releases.values()
    ]


def test_points_and_counts_say_their_month(published: Path, zones: gpd.GeoDataFrame) -> None:
    series = dp.read_series(published / "calls")
    points = series.points()
    assert points["month"].value_counts().to_dict() == {
        month: release.size for month, release in series.releases.items() if release.size
    }
    table = series.count_within(zones)
    assert list(table["zone"]) == ["west"] * 3 + ["east"] * 3
    assert list(table["month"]) == list(MONTHS) * 2
    assert (table["low"] <= table["estimate"]).all() and (table["estimate"] <= table["high"]).all()


def test_changes_are_differences_with_wider_limits(
    published: Path, zones: gpd.GeoDataFrame
) -> None:
    series = dp.read_series(published / "calls", chained=False)
    change = series.change(zones, "2026-02", "2026-03")
    before, after = (series.releases[month].count_within(zones) for month in MONTHS[1:])
    assert np.allclose(change["estimate"], after["estimate"] - before["estimate"])
    reach = change["high"] - change["low"]
    assert (reach >= (after["high"] - after["low"]) - 1e-9).all()
    assert (reach <= (after["high"] - after["low"]) + (before["high"] - before["low"])).all()
    with pytest.raises(dp.BadInputError, match="no release of '2025-01'"):
        series.change(zones, "2025-01", "2026-03")


def test_a_month_is_published_once_and_nothing_is_spent_on_the_second_try(
    published: Path, domain: dp.Domain
) -> None:
    path = published / "calls" / "2026-02.release.json"
    before, book = path.read_bytes(), Ledger(published / "ledger.sqlite")
    series = make(published / "calls", domain, ledger=book)
    with pytest.raises(dp.BadInputError, match="published once"):
        series.append(calls(), "2026-02")
    weekly = dp.Series(
        published / "calls", domain, every="1 week", epsilon="0.5", date="when", ledger=book
    )
    with pytest.raises(dp.BadInputError, match="shares time with 2026-02"):
        weekly.append(calls(), "2026-02-26")
    assert path.read_bytes() == before and len(book.entries("calls")) == 3


def test_the_ledger_remembers_a_month_whose_file_is_gone(tmp_path: Path, domain: dp.Domain) -> None:
    book = Ledger(tmp_path / "ledger.sqlite")
    series = make(tmp_path / "calls", domain, ledger=book)
    series.append(calls(), "2026-03")
    (tmp_path / "calls" / "2026-03.release.json").unlink()
    with pytest.raises(dp.BadInputError, match="again=True"):
        make(tmp_path / "calls", domain, ledger=book).append(calls(), "2026-03")
    assert len(book.entries("calls")) == 1
    make(tmp_path / "calls", domain, ledger=book).append(calls(), "2026-03", again=True)
    assert len(book.entries("calls")) == 2
    assert repr(dp.read_series(tmp_path / "calls")) == "<Series 'calls': 1 release, 2026-03>"


def test_a_file_that_somebody_else_is_writing_is_left_alone(
    tmp_path: Path, domain: dp.Domain
) -> None:
    (tmp_path / "calls").mkdir()
    taken = tmp_path / "calls" / "2026-03.release.json"
    taken.touch()
    book = Ledger(tmp_path / "ledger.sqlite")
    with pytest.raises(dp.BadInputError, match="there already"):
        make(tmp_path / "calls", domain, ledger=book).append(calls(), "2026-03")
    assert taken.read_bytes() == b"" and not book.entries()


def test_what_fails_before_the_debit_leaves_no_file(tmp_path: Path, domain: dp.Domain) -> None:
    series = make(tmp_path / "calls", domain, ledger=tmp_path / "ledger.sqlite")
    with pytest.raises(dp.BadInputError):
        series.append(calls().drop(columns="when"), "2026-03")
    assert not list((tmp_path / "calls").iterdir())
    assert not Ledger(tmp_path / "ledger.sqlite").entries()


def test_with_an_exact_n_the_series_says_what_it_does_not_protect(
    tmp_path: Path, domain: dp.Domain
) -> None:
    with pytest.warns(dp.PrivacyWarning, match="is not protected"):
        make(tmp_path / "calls", domain, neighbours="replace").append(calls(), "2026-03")


def test_a_copied_folder_is_the_same_series_and_loads_nothing_private(
    published: Path, tmp_path: Path
) -> None:
    shutil.copytree(published / "calls", tmp_path / "elsewhere")
    code = (
        "import sys, dpsort_geo as dp\n"
        f"s = dp.read_series({str(tmp_path / 'elsewhere')!r})\n"
        "print(list(s.releases), len(s.points()) > 0)\n"
        "bad = [m for m in sys.modules if m.startswith('dpsort_geo') and '.private' in m]\n"
        "sys.exit(', '.join(bad) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, f"{list(MONTHS)} True\n"), done.stderr


def shell(*words: Any) -> "subprocess.CompletedProcess[str]":
    command: List[str] = [sys.executable, "-c", "from dpsort_geo.cli import main; main()"]
    return subprocess.run([*command, *map(str, words)], capture_output=True, text=True)


def test_the_shell_publishes_counts_compares_and_draws(
    tmp_path: Path, zones: gpd.GeoDataFrame
) -> None:
    calls().to_file(tmp_path / "calls.gpkg")
    zones.to_file(tmp_path / "zones.gpkg")
    book = ("--ledger", tmp_path / "ledger.sqlite")
    folder = tmp_path / "monthly"
    append = ("-e", "0.5", "--date", "when", "--bounds", *BOX, "--crs", CRS, *book)
    for month in MONTHS[1:]:
        done = shell("series", "append", folder, tmp_path / "calls.gpkg", month, *append)
        assert done.returncode == 0, done.stderr
    again = shell("series", "append", folder, tmp_path / "calls.gpkg", "2026-03", *append)
    assert again.returncode == 2 and "published once" in again.stderr
    assert len(Ledger(tmp_path / "ledger.sqlite").entries("monthly")) == 2
    done = shell("series", "count", folder, tmp_path / "zones.gpkg", "-", "--json")
    assert [row["month"] for row in json.loads(done.stdout)["zones"]] == list(MONTHS[1:]) * 2
    out = tmp_path / "change.csv"
    done = shell("series", "change", folder, tmp_path / "zones.gpkg", *MONTHS[1:], out)
    assert done.returncode == 0, done.stderr
    assert {"zone", "estimate", "low", "high"} <= set(pd.read_csv(out).columns)
    done = shell("series", "map", folder, tmp_path / "map.html")
    page = (tmp_path / "map.html").read_text()
    assert done.returncode == 0 and all(month in page for month in MONTHS[1:])
    missing = shell("series", "count", tmp_path / "nowhere", tmp_path / "zones.gpkg", "-")
    assert missing.returncode == 2 and "no folder" in missing.stderr


def test_what_the_shell_advises_can_be_done_in_the_shell(tmp_path: Path) -> None:
    """Another name, a window whose file was lost, and persons: each refusal names an option."""
    frame = calls()
    frame["who"] = np.arange(len(frame)) // 3
    frame.to_file(tmp_path / "calls.gpkg")
    book = ("--ledger", tmp_path / "ledger.sqlite")
    append = ("-e", "0.5", "--date", "when", "--bounds", *BOX, "--crs", CRS, *book)
    month = (tmp_path / "calls.gpkg", "2026-03", *append)
    assert shell("series", "append", tmp_path / "calls", *month).returncode == 0
    other = shell("series", "append", tmp_path / "other", *month)
    assert other.returncode == 2 and "--another-name" in other.stderr
    assert "--dataset 'calls'" in other.stderr
    done = shell("series", "append", tmp_path / "other", *month, "--another-name")
    assert done.returncode == 0, done.stderr
    (tmp_path / "calls" / "2026-03.release.json").unlink()
    lost = shell("series", "append", tmp_path / "calls", *month)
    assert lost.returncode == 2 and "--again" in lost.stderr and "again=" not in lost.stderr
    whose = ("--person", "who", "--max-points", 2, "--population", "residents")
    done = shell(
        "series", "append", tmp_path / "calls", *month, "--again", "--another-name", *whose
    )
    assert done.returncode == 0, done.stderr
    release = dp.read_series(tmp_path / "calls").releases["2026-03"]
    assert release.protects == "person" and release.release.max_points == 2
    last = Ledger(tmp_path / "ledger.sqlite").entries("calls")[-1]
    assert (last.unit, last.population) == ("person", "residents")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"every": "sometimes"}, "every='1 month'"),
        ({"epsilon": "-1"}, "psilon"),
    ],
)
def test_settings_are_checked_at_once(tmp_path: Path, arguments: Any, sentence: str) -> None:
    with pytest.raises(dp.BadInputError, match=sentence):
        dp.Series(tmp_path / "calls", **arguments)


def test_a_window_begins_where_its_step_does(tmp_path: Path, domain: dp.Domain) -> None:
    with pytest.raises(dp.BadInputError, match="begins with a month"):
        make(tmp_path / "calls", domain).append(calls(), "2026-03-14")
