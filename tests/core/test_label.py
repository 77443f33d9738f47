"""The label of a release, and its records for registries and portals."""

from __future__ import annotations

import json
import math
import subprocess
import sys

import numpy as np
import pytest
import yaml  # type: ignore[import-untyped]
from hypothesis import given
from hypothesis import strategies as st

import dpsort_geo as dp
from dpsort_geo.compare.ours import seeded_noise
from dpsort_geo.core.curve.grid import Grid
from dpsort_geo.core.label import make_label, right_guesses
from dpsort_geo.core.private.adaptive import publish as publish_adaptive
from dpsort_geo.core.private.cells import count_cells

DOMAIN = dp.Domain.from_bounds((-74.3, 40.5, -73.7, 40.95), crs="EPSG:4326")
POINTS = np.random.default_rng(1).uniform((-74.3, 40.5), (-73.7, 40.95), (3000, 2))
#: the groups of the registry's schema, and what it asks of each record
GROUPS = {
    "basic", "dp_variant", "privacy_loss", "deployment_model", "accounting", "implementation",
    "administrative",
}  # fmt: skip
REQUIRED = {
    "name", "data_curators", "description", "intended_use", "data_product_type",
    "data_product_region", "publication_date",
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("label")
    book = dp.Ledger(path / "ledger.sqlite")
    for epsilon in ("1", "0.5"):
        release = dp.publish(POINTS, epsilon, DOMAIN, ledger=book, dataset="calls")
    release.save(path / "r.json")
    return path


@given(st.floats(0.001, 20), st.sampled_from([1.0, 10.0, 50.0, 90.0]))
def test_no_attacker_exceeds_the_right_guesses_that_the_label_says(epsilon, before):
    # randomised response is as telling as anything can be at this epsilon: Bayes' rule
    p = before / 100
    truth = math.exp(epsilon) / (1 + math.exp(epsilon))
    exact = 100 * p * truth / (p * truth + (1 - p) * (1 - truth))
    said = right_guesses(epsilon, before)
    assert exact - 1e-6 <= said <= exact + 0.1 + 1e-6


def test_a_label_says_who_is_protected_how_strongly_and_what_is_not(folder):
    release = dp.read_release(folder / "r.json")
    text = release.label().text
    assert "right at most 62.3 of 100 times" in text  # e^0.5 / (1 + e^0.5)
    assert "3,000 is the exact number, and public" in text
    assert "All points of one person together" in text
    assert release.error_words() in text
    assert "this one alone" in text


def test_a_label_with_a_ledger_says_what_all_releases_cost(folder):
    book = dp.Ledger(folder / "ledger.sqlite")
    label = dp.read_release(folder / "r.json").label(ledger=book, dataset="calls")
    assert "2 releases of 'calls', with a total epsilon of 1.5" in label.text
    assert "at most 81.8 of 100" in label.text
    with pytest.raises(dp.BadInputError, match="no release of 'nobody'"):
        dp.read_release(folder / "r.json").label(ledger=book, dataset="nobody")
    with pytest.raises(dp.BadInputError, match="both"):
        dp.read_release(folder / "r.json").label(ledger=book)


def test_persons_and_noisy_numbers_have_other_words():
    who = np.arange(3000) // 3
    frame = {"lon": POINTS[:, 0], "lat": POINTS[:, 1], "who": who}
    import pandas as pd

    release = dp.publish(
        pd.DataFrame(frame), 1, DOMAIN, columns=("lon", "lat"), person="who",
        neighbours="add-remove",
    )  # fmt: skip
    text = release.label().text
    assert "Whether one person" in text and "exact number" not in text
    assert "All points of one person together" not in text


def test_a_release_drawn_with_a_seed_has_a_label_that_warns():
    cells = count_cells(Grid(0.0, 0.0, 1.0, 4), *np.random.default_rng(1).uniform(0, 16, (2, 99)))
    core = publish_adaptive(cells, 1, noise=seeded_noise(np.random.default_rng(2)))
    label = make_label(core, "")
    assert "NOT PRIVATE" in label.html and "protects nobody" in label.text
    assert "right at most" not in label.text


def test_titles_cannot_bring_markup_into_the_page(folder):
    label = dp.read_release(folder / "r.json").label(title="<script>alert(1)</script>")
    assert "<script" not in label.html and "<script" not in label._repr_html_()
    assert "default-src 'none'" in label.html


def test_the_registry_record_has_the_groups_and_fields_of_the_schema(folder):
    release = dp.read_release(folder / "r.json")
    text = release.registry_record(title='A "name": with colons')
    record = yaml.safe_load(text)
    assert set(record) == {"url_slug", "status", "tier", "deployment"}
    assert set(record["deployment"]) == GROUPS
    assert set(record["deployment"]["basic"]) >= REQUIRED
    assert record["deployment"]["basic"]["name"] == 'A "name": with colons'
    assert record["deployment"]["privacy_loss"]["privacy_parameters"] == {"epsilon": 0.5}
    assert record["deployment"]["dp_variant"]["variant_name"] == "Pure DP"
    # every blank is marked, and nothing else is
    blanks = [line for line in text.splitlines() if "''" in line]
    assert blanks and all(line.endswith("# to fill in") for line in blanks)
    assert text.count("to fill in") == len(blanks)


def test_the_shell_writes_page_text_and_records(folder):
    command = [sys.executable, "-m", "dpsort_geo", "label", "r.json"]
    more = ["--ledger", "ledger.sqlite", "--dataset", "calls", "--title", "Calls"]
    records = ["--registry", "r.yaml", "--dcat", "d.jsonld"]
    subprocess.run([*command, "l.html", *more, *records], cwd=folder, check=True)
    assert "81.8 of 100" in (folder / "l.html").read_text()
    assert "epsilon = 1.5" in (folder / "r.yaml").read_text()
    portal = json.loads((folder / "d.jsonld").read_text())
    assert portal["@type"] == "dcat:Dataset" and portal["dct:title"] == "Calls"
    assert portal["dct:spatial"]["dcat:bbox"]["@value"].startswith("POLYGON")
    shown = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout
    assert shown.startswith("Privacy label")
    for bad in (["l.pdf"], ["--ledger", "ledger.sqlite"], ["--dataset", "x", "--ledger", "none"]):
        done = subprocess.run([*command, *bad], cwd=folder, capture_output=True, text=True)
        assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr
