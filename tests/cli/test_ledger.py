"""The ledger in the shell, and rows, persons and windows in the same words; a real process."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import dpsort_geo
from dpsort_geo.core.private.ledger import Ledger
from dpsort_geo.core.private.ledger_file import default_path
from dpsort_geo.core.release import load

ROOT = str(Path(dpsort_geo.__file__).parents[1])
BOX = ["--bounds", "0", "0", "1000", "1000", "--crs", "EPSG:3857"]
ADD_REMOVE = ["--neighbours", "add-remove"]


@pytest.fixture
def place(tmp_path):
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {"x": rng.uniform(-100, 1100, 3000), "y": rng.uniform(0, 1000, 3000),
         "rider": rng.integers(0, 400, 3000),
         "when": (np.datetime64("2026-01-01") + rng.integers(0, 90, 3000)).astype(str)},
    )  # fmt: skip
    frame.to_csv(tmp_path / "calls.csv", index=False)
    return tmp_path


def environment(place):
    return {**os.environ, "PYTHONPATH": ROOT, "DPSORT_GEO_LEDGER": str(place / "book.sqlite")}


def run(place, *words, code=0):
    command = [sys.executable, "-m", "dpsort_geo", *map(str, words)]
    done = subprocess.run(
        command, cwd=place, env=environment(place), capture_output=True, text=True, timeout=120
    )
    assert done.returncode == code, done.stderr
    return done


def publish(place, out="out.json", *words, points="calls.csv", code=0, epsilon="0.5"):
    return run(place, "publish", points, out, "-e", epsilon, *BOX, *words, code=code)


def test_months_cost_the_largest_of_them_and_the_ledger_shows_where_each_went(place):
    run(place, "ledger", "limit", "calls", "0.8")
    for month in (1, 2, 3):
        window = f"2026-0{month}-01", f"2026-0{month + 1}-01"
        publish(place, f"{month}.json", *ADD_REMOVE, "--date", "when", "--window", *window)
        assert load(place / f"{month}.json").window == window
    shown = run(place, "ledger", "show").stdout
    assert "calls: spent 0.5 of 0.8, 0.3 left" in shown and "by year: 20" in shown
    assert "largest sum over releases that share an instant" in shown
    assert f"went to {place / '2.json'}" in shown and "2026-02-01 until 2026-03-01" in shown
    facts = json.loads(run(place, "ledger", "show", "CALLS", "--json").stdout)["datasets"][0]
    assert facts["left"] == "0.3" and list(facts["by_year"].values()) == ["0.5"]
    assert [row["release"] for row in facts["releases"]] == [
        str(place / f"{month}.json") for month in (1, 2, 3)
    ]
    refused = publish(place, "4.json", *ADD_REMOVE, code=2)
    assert "0.3 is left" in refused.stderr and not (place / "4.json").exists()


def test_persons_points_and_outside_are_said_in_the_shells_words(place):
    publish(place, "a.json", *ADD_REMOVE, "--person", "rider", "--max-points", "4")
    publish(place, "b.json", "--person", "rider,when")
    publish(place, "c.json", "--person", "rider", "--person", "when")
    publish(place, "d.json", *ADD_REMOVE, "--outside", "drop")
    assert load(place / "a.json").max_points == 4
    for name in ("b.json", "c.json"):
        assert load(place / name).person == ("rider", "when")
    assert load(place / "d.json").outside == "drop"
    for name in "abcd":
        run(place, "verify", f"{name}.json")
    for words, told in (
        (["--person", "rider", "--max-points", "4"], "--neighbours add-remove"),
        (["--outside", "drop"], "--neighbours add-remove"),
        (["--window", "2026-01-01", "2026-02-01"], "--date COLUMN"),
        (["--max-points", "4"], "--person"),
    ):
        refused = publish(place, "e.json", *words, code=2).stderr
        assert told in refused and refused.count("\n") == 1
    assert len(Ledger(place / "book.sqlite").entries()) == 4


def test_a_copy_under_another_name_is_refused_where_nobody_can_be_asked(place):
    publish(place)
    (place / "copy.csv").write_bytes((place / "calls.csv").read_bytes())
    (place / "link.csv").symlink_to(place / "calls.csv")
    for name in ("copy.csv", "link.csv"):
        refused = publish(place, "two.json", points=name, code=2)
        assert "The ledger knows these points, or a copy of them, as 'calls'" in refused.stderr
        assert "--another-name" in refused.stderr and refused.stderr.count("\n") == 1
    publish(place, "two.json", "--dataset", "CALLS", points="copy.csv")
    publish(place, "three.json", "--another-name", points="copy.csv")
    book = Ledger(place / "book.sqlite")
    assert (book.spent("calls"), book.spent("copy")) == (1, 0.5)


@pytest.mark.parametrize("answer, debits", [("y", 2), ("n", 1)])
def test_a_person_at_a_terminal_is_asked_about_a_copy(place, answer, debits):
    publish(place)
    (place / "copy.csv").write_bytes((place / "calls.csv").read_bytes())
    command = [sys.executable, "-m", "dpsort_geo", "publish", "copy.csv", "two.json", "-e", "1"]
    ours, theirs = pty.openpty()
    child = subprocess.Popen(
        [*command, *BOX], cwd=place, env=environment(place), stdin=theirs, stdout=theirs,
        stderr=theirs,
    )  # fmt: skip
    os.close(theirs)
    seen = b""
    while b"[y/N]" not in seen:
        seen += os.read(ours, 1000)
    os.write(ours, answer.encode() + b"\n")
    code = child.wait(120)
    os.close(ours)
    assert b"as 'calls'" in seen
    assert (code == 0) == (answer == "y") and (place / "two.json").exists() == (answer == "y")
    assert len(Ledger(place / "book.sqlite").entries()) == debits


def test_path_export_verify_and_populations(place, monkeypatch):
    run(place, "ledger", "limit", "residents", "0.9", "--population")
    publish(place, "a.json", "--population", "Residents")
    assert "population" in publish(place, "b.json", "--population", "Residents", code=2).stderr
    assert "population residents: spent 0.5 of 0.9, 0.4 left" in run(
        place, "ledger", "show"
    ).stdout.replace("Residents", "residents")
    monkeypatch.setenv("DPSORT_GEO_LEDGER", str(place / "book.sqlite"))
    assert run(place, "ledger", "path").stdout.strip() == str(default_path())
    run(place, "ledger", "export", "all.json")
    told = json.loads((place / "all.json").read_text())
    assert len(told["entries"]) == 1 and told["limits"][0]["name"] == "residents"
    assert "1 entries and 1 changes" in run(place, "ledger", "verify").stdout
    refused = run(place, "ledger", "export", "calls.csv", code=2)
    assert "was not written by dpsort-geo" in refused.stderr
