"""The debit comes first: `publish` writes it down before the first random byte is drawn."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import dpsort_geo as dp
from dpsort_geo.core.errors import BudgetSpentError
from dpsort_geo.core.private import entropy
from dpsort_geo.core.private.ledger import Ledger
from dpsort_geo.core.release import Release

# there are few points in these tests
pytestmark = pytest.mark.filterwarnings("ignore::dpsort_geo.PrivacyWarning")

BOX = (0, 0, 1000, 1000)
POINTS = np.random.default_rng(1).uniform(0, 1000, (300, 2))
OWNERS = np.arange(300) // 3


class NoEntropy(Exception):
    """Raised in the place of random bytes."""


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "ledger.sqlite")


@pytest.fixture
def domain():
    return dp.Domain.from_bounds(BOX, crs="EPSG:3857", order=5)


@pytest.fixture
def debits_when_drawn(monkeypatch, ledger):
    """How many debits there were when random bytes were first asked for; there are none to have."""
    seen = []

    def refuse(*_):
        seen.append(len(ledger.entries()))
        raise NoEntropy

    # of noise alone: libraries draw bytes of their own when they are imported
    monkeypatch.setattr(entropy, "os", SimpleNamespace(urandom=refuse))
    return seen


@pytest.mark.parametrize("person", [None, OWNERS])
@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
@pytest.mark.parametrize("method", ["adaptive", "sort", "hybrid"])
def test_the_debit_is_there_before_any_noise(
    method, neighbours, person, ledger, domain, debits_when_drawn
):
    options = {"method": method, "neighbours": neighbours, "person": person}
    with pytest.raises(NoEntropy):
        dp.publish(POINTS, "0.5", domain, ledger=ledger, dataset="calls", **options)
    assert debits_when_drawn == [1]
    (entry,) = ledger.entries("calls")
    unit = "point" if person is None else "person"
    assert (entry.unit, entry.neighbours, entry.method) == (unit, neighbours, method)


def test_nothing_is_drawn_when_the_ledger_refuses(ledger, domain, debits_when_drawn):
    ledger.limit("calls", "0.4")
    with pytest.raises(BudgetSpentError):
        dp.publish(POINTS, "0.5", domain, ledger=ledger, dataset="calls")
    assert debits_when_drawn == []


def test_nothing_is_drawn_when_the_ledger_cannot_be_written(tmp_path, domain, debits_when_drawn):
    (tmp_path / "text").write_text("no ledger\n" * 500)
    with pytest.raises(dp.BadInputError, match="nothing was published"):
        dp.publish(POINTS, "0.5", domain, ledger=tmp_path / "text", dataset="calls")
    assert debits_when_drawn == []


def test_what_is_refused_costs_nothing(ledger, domain):
    for bad in (
        {"points": np.empty((0, 2))}, {"points": np.array([[1.0, np.nan]])}, {"epsilon": "0"},
        {"method": "best"}, {"neighbours": "any"}, {"group_size": 4}, {"person": OWNERS[:4]},
    ):  # fmt: skip
        options = {"points": POINTS, "epsilon": "0.5", "domain": domain, **bad}
        with pytest.raises(dp.BadInputError):
            dp.publish(**options, ledger=ledger, dataset="calls")
    assert ledger.entries() == []


def test_a_release_says_whether_a_ledger_was_debited(ledger, domain):
    assert dp.publish(POINTS, 1, domain, ledger=ledger, dataset="calls").ledger
    assert not dp.publish(POINTS, 1, domain).ledger


def test_the_command_debits_the_users_own_ledger_unless_told_not_to(tmp_path):
    np.savetxt(tmp_path / "calls.csv", POINTS, "%.3f", ",", header="x,y", comments="")
    ledger = Ledger(tmp_path / "own.sqlite")
    environment = {
        **os.environ,
        "PYTHONPATH": str(Path(dp.__file__).parents[1]),
        "DPSORT_GEO_LEDGER": str(ledger.path),
    }
    said = []
    for more in ([], ["--no-ledger"]):
        out = tmp_path / f"out{len(more)}.json"
        command = [sys.executable, "-m", "dpsort_geo", "publish", "calls.csv", str(out), "-e", "1"]
        box = ["--bounds", *map(str, BOX), "--crs", "EPSG:3857"]
        subprocess.run([*command, *box, *more], check=True, cwd=tmp_path, env=environment)
        said.append((Release.from_json(out.read_text()).ledger, len(ledger.entries("calls"))))
    assert said == [(True, 1), (False, 1)]
