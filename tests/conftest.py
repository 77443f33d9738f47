"""Shared by all tests: the same examples every day, none timed; what `make quick` leaves out.

`make test` passes or fails for the change and not for the day: hypothesis takes the same examples,
and a release that is made in the process of a test gets the same noise. Random searching belongs to
`make audit` (--hypothesis-profile=searching); what it finds becomes an @example of its test.
"""

from __future__ import annotations

import os
import shutil
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import settings

from dpsort_geo.core.private import entropy

# machines are busy at times, so that no example has a deadline
settings.register_profile("steady", deadline=None, derandomize=True, database=None)
settings.register_profile("searching", deadline=None, max_examples=2000, database=None)
settings.load_profile("steady")

HERE = Path(__file__).parent
#: a program for hand use, with packages of its own
collect_ignore = ["privacy/auditorium.py"]

#: tests that start QGIS stand in a folder of their own; others are known by what they ask for
_BROWSER = {"browser", "chromium"}
#: folders and files of which `make quick` runs nothing: statistics, kills, clusters, processes by
#: the dozen, thousands of examples
_SLOW = (
    "benchmarks/",
    "cli/",
    "compare/",
    "core/private/test_tally.py",
    "core/public/test_intervals.py",
    "core/test_label.py",
    "docs/",
    "faults/",
    "geo/private/test_cluster.py",
    "geo/test_many_points.py",
    "geo/test_prior.py",
    "geo/test_reference.py",
    "privacy/test_blackbox.py",
    "privacy/test_every_door.py",
    "privacy/test_fuzz.py",
    "privacy/test_mutants.py",
    "privacy/test_new_doors.py",
    "privacy/test_offline.py",
    "privacy/test_several_points.py",
    "privacy/test_view_claims.py",
    "privacy/test_worker_logs.py",
    "webmap/",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what `make quick` leaves out."""
    for item in items:
        if HERE not in item.path.parents:
            continue
        below = item.path.relative_to(HERE).as_posix()
        if below.startswith("qgis/"):
            item.add_marker("qgis")
        if _BROWSER & set(getattr(item, "fixturenames", ())):
            item.add_marker("browser")
        if below.startswith(_SLOW):
            item.add_marker("slow")


#: claims about randomness ask the operating system; each states how rarely it fails by chance
_RANDOM = ("core/private/test_noise.py", "faults/", "privacy/")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Give all other tests the entropy of their own name, before any fixture of theirs is made."""
    below = item.path.relative_to(HERE).as_posix() if HERE in item.path.parents else ""
    searching = item.config.getoption("--hypothesis-profile") == "searching"
    if searching or below.startswith(_RANDOM):
        source: Any = os
    else:
        rng = np.random.default_rng(zlib.crc32(item.nodeid.encode()))
        source = SimpleNamespace(urandom=rng.bytes)
    vars(entropy)["os"] = source  # its own name alone: nobody else's os.urandom changes


@pytest.fixture
def seeded() -> Callable[[int], Callable[..., Any]]:
    """Noise of the real law from a numpy generator: what it makes is not private and says so."""
    from dpsort_geo.compare.ours import seeded_noise

    return lambda seed: seeded_noise(np.random.default_rng(seed))


@pytest.fixture(scope="session")
def chromium() -> Iterator[Callable[..., Any]]:
    """Starts Chromium with further options; one Playwright, as a process has room for no second."""
    names = ("chromium", "chromium-browser", "google-chrome")
    path = next(filter(None, map(shutil.which, names)), None)
    if path is None:
        pytest.skip("no Chromium on this machine")
    sync_api = pytest.importorskip("playwright.sync_api")
    started = []
    with sync_api.sync_playwright() as playwright:

        def start(*options: str) -> Any:
            args = ["--no-sandbox", *options]
            started.append(playwright.chromium.launch(executable_path=path, args=args))
            return started[-1]

        yield start
        for each in started:
            each.close()


@pytest.fixture(scope="session")
def browser(chromium: Callable[..., Any]) -> Any:
    """A real browser."""
    return chromium()


@pytest.fixture(scope="session")
def database() -> Iterator[str]:
    """The address of a PostgreSQL with PostGIS; skips, saying why, where it cannot be had."""
    from tests.database import serve

    with serve() as url:
        yield url
