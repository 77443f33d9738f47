"""Files of version 3: what they say besides, only where it is so, and nothing that cannot be."""

from __future__ import annotations

import dataclasses
import json
from importlib.resources import files

import jsonschema
import numpy as np
import pytest

from dpsort_geo.core import release_json
from dpsort_geo.core.curve.grid import Grid
from dpsort_geo.core.errors import BadInputError, NotVerifiedError
from dpsort_geo.core.private import sort
from dpsort_geo.core.private.adaptive import publish
from dpsort_geo.core.private.cells import count_cells
from dpsort_geo.core.release import Release
from dpsort_geo.core.statement import NO_LEDGER
from tests.persons import count_persons

GRID = Grid(0.0, 0.0, 1.0, 3)
AT = np.arange(8.0)
MARCH = ("2026-03-01", "2026-04-01")
POINTS = publish(count_cells(GRID, AT, AT), "1", neighbours="add-remove")
PERSONS = publish(count_persons(GRID, AT, AT, AT // 2), "1", unit="person")
FEW = publish(count_cells(GRID, AT, AT), "1", unit="person", max_points=3, neighbours="add-remove")
SAID = {
    "window": dataclasses.replace(POINTS, window=MARCH),
    "outside": dataclasses.replace(POINTS, outside="drop"),
    "person": dataclasses.replace(PERSONS, person=("rider", "date")),
    "max_points": FEW,
}


@pytest.mark.parametrize("name", SAID)
def test_a_file_says_what_is_so_and_reads_back(name):
    release = SAID[name]
    document = json.loads(release.to_json())
    assert document["version"] == 3 and name in document
    assert set(SAID) & set(document) == {name}
    again = Release.from_json(release.to_json())
    assert again == release and getattr(again, name) == getattr(release, name)
    again.verify()
    schema = json.loads((files("dpsort_geo.core") / "release.schema.json").read_text("utf-8"))
    jsonschema.validate(document, schema)


def rewritten(release, **changes):
    document = json.loads(release.to_json())
    document.pop("digest")
    for name, value in changes.items():
        if value is None:
            document.pop(name)
        else:
            document[name] = value
    return release_json.write(document)


@pytest.mark.parametrize(
    "name, changes",
    [
        ("window", {"window": ["2026-04-01", "2026-03-01"]}), ("window", {"window": "2026-03"}),
        ("window", {"window": ["2026-03", "2026-04"]}), ("window", {"window": MARCH[:1]}),
        ("window", {"window": [1, 2]}), ("window", {"version": 1}), ("window", {"version": 2}),
        ("window", {"window": None}), ("outside", {"outside": "nearest"}),
        ("outside", {"outside": "clip"}), ("outside", {"outside": 1}),
        ("outside", {"neighbours": "replace"}), ("person", {"person": ["rider"]}),
        ("person", {"person": ["rider", "rider"]}), ("person", {"person": ["rider", ""]}),
        ("person", {"person": "rider"}), ("person", {"person": [1, 2]}),
        ("person", {"unit": "point"}), ("person", {"person": [str(i) for i in range(9)]}),
        ("max_points", {"max_points": 0}), ("max_points", {"max_points": 1001}),
        ("max_points", {"max_points": True}), ("max_points", {"max_points": 2.0}),
        ("max_points", {"neighbours": "replace"}), ("max_points", {"unit": "point"}),
        ("max_points", {"max_points": 2}),
    ],
)  # fmt: skip
def test_what_no_publisher_writes_is_refused(name, changes):
    with pytest.raises(BadInputError):
        Release.from_json(rewritten(SAID[name], **changes)).verify()


def test_more_points_a_person_than_were_paid_for_do_not_verify():
    """The statement follows the claim, but the scale is that of another number of points."""
    few = sort.publish(
        count_cells(GRID, AT, AT), "1", unit="person", max_points=3, neighbours="add-remove"
    )
    document = json.loads(few.to_json())
    lie = dataclasses.replace(few, max_points=1)
    document["max_points"], document["statement"] = 1, json.loads(lie.to_json())["statement"]
    document.pop("digest")
    with pytest.raises(NotVerifiedError, match="noise scale"):
        Release.from_json(release_json.write(document)).verify()


def test_a_release_without_a_ledger_says_so_where_it_is_read_and_files_stay_as_they_were():
    assert NO_LEDGER in POINTS.statement()["summary"] and POINTS.statement()["ledger"] is False
    kept = dataclasses.replace(POINTS, ledger=True)
    assert NO_LEDGER not in kept.statement()["summary"] and kept.statement()["ledger"] is True
    for release in (POINTS, kept):
        document = json.loads(release.to_json())
        assert document["version"] == 1 and "ledger" not in document["statement"]
        assert NO_LEDGER not in document["statement"]["summary"]
