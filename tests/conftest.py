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
from fnmatch import fnmatchcase
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
    "geo/test_hexes.py",
    "geo/test_many_points.py",
    "geo/test_prior.py",
    "geo/test_reference.py",
    "geo/test_thinned.py",
    "paper/",
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
#: tests that take a second or more of a processor, in files that `make quick` runs
_SLOW_TESTS = (
    "core/private/test_hybrid.py::test_the_loss_of_every_*16 cells*",
    "core/private/test_hybrid.py::test_the_loss_of_every_*add-remove*",
    "core/private/test_hybrid.py::test_the_loss_of_every_pair_of_persons_*",
    "core/private/test_noise.py::test_all_paths_*",
    "core/private/test_noise.py::test_opendp_draws_from_the_same_law",
    "core/private/test_sort.py::test_adding_or_removing_one_point_moves_*",
    "core/private/test_sort.py::test_replacing_one_point_moves_*",
    "core/public/test_against.py::test_intervals_hold_*",
    "core/public/test_counts.py::test_a_fine_picture_is_the_coarse_one_cut_up",
    "core/public/test_counts.py::test_the_whole_domain_of_a_sort_release_holds_n",
    "core/public/test_views.py::test_intervals_by_hour_*",
    "core/test_release.py::test_the_largest_honest_releases_can_be_read",
    "geo/private/test_odd_files.py::test_the_base_install_*",
    "geo/private/test_publish.py::test_points_come_back_where_they_were_in_every_crs*",
    "geo/test_release_geo.py::test_points_with_x_and_y_swapped_are_noted",
    "geo/test_series.py::test_a_copied_folder_*",
    "geo/test_series.py::test_the_shell_*",
    "geo/test_zones.py::test_domains_anywhere_on_the_globe_are_read_back_and_mapped*",
    "privacy/test_bounds.py::test_a_box_in_degrees_that_points_of_another_crs_fill_is_taken*",
    "privacy/test_bounds.py::test_a_box_that_knows_nothing_of_the_points_is_taken",
    "privacy/test_bounds.py::test_a_polygon_with_many_digits_that_points_fill_is_taken",
    "privacy/test_claims.py::test_*_loss_is_at_most_epsilon_*add-remove*",
    "privacy/test_claims.py::test_hybrid_*",
    "privacy/test_claims.py::test_replacing_all_points_of_a_person_*",
    "privacy/test_debit.py::test_the_command_*",
    "privacy/test_ledger.py::test_processes_at_once_*",
    "privacy/test_nobody.py::test_the_shell_*",
)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """What `make quick` runs nothing of need not be imported by it."""
    if HERE not in collection_path.parents:
        return None
    below, asked = collection_path.relative_to(HERE).as_posix(), config.option.markexpr
    left_out = (
        *(_SLOW if "not slow" in asked else ()),
        *(["qgis/"] if "not qgis" in asked else ()),
    )
    return True if {below, f"{below}/"} & {*left_out} else None


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
        name = f"{below}::{item.name}"
        if below.startswith(_SLOW) or any(fnmatchcase(name, slow) for slow in _SLOW_TESTS):
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
        source = _steady(item.nodeid)
    vars(entropy)["os"] = source  # its own name alone: nobody else's os.urandom changes


@pytest.hookimpl(hookwrapper=True)
def pytest_fixture_setup(fixturedef: Any) -> Iterator[None]:
    """What several tests share has a name of its own: it must not matter which of them is first."""
    before = vars(entropy)["os"]
    shared = before is not os and fixturedef.scope != "function"
    if shared:
        vars(entropy)["os"] = _steady(f"{fixturedef.baseid}::{fixturedef.argname}")
    yield
    if shared:
        vars(entropy)["os"] = before


def _steady(name: str) -> Any:
    return SimpleNamespace(urandom=np.random.default_rng(zlib.crc32(name.encode())).bytes)


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
