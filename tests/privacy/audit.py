"""The long audit: every privacy claim on more cases than the tests take, in one table.

python -m tests.privacy.audit            a million black-box runs, a hundred kills: take a walk
python -m tests.privacy.audit --quick    a few minutes
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

import numpy as np

from dpsort_geo.core.curve.grid import Grid
from dpsort_geo.core.private.adaptive import publish as publish_adaptive
from dpsort_geo.core.private.cells import count_cells
from dpsort_geo.core.private.noise import discrete_laplace
from tests.privacy import test_claims
from tests.privacy.claims import (
    adaptive_tape,
    as_adaptive,
    as_hybrid,
    as_sort,
    budgets_on_paths,
    exhaustive,
    hybrid_tape,
    non_interference,
    person_exhaustive,
    sort_tape,
)
from tests.privacy.replay import DEEP, MASKED, MIDDLE, SMALL, table
from tests.privacy.test_blackbox import HYBRIDS, MECHANISMS, shown, smaller

ROOT = Path(__file__).resolve().parents[2]
RELATIONS = ("replace", "add-remove")
VARIANTS = ("width-depth", "depth-width")


def adaptive_everywhere(quick):
    cases = 0
    for neighbours in RELATIONS:
        for grid, n in (
            (SMALL, 3),
            (SMALL, 4),
            (SMALL, 5),
            (MASKED, 3),
            (MIDDLE, 1 if quick else 2),
        ):
            for epsilon in ("0.1", "1", "30", "0.3333333333333333"):
                publish = as_adaptive(epsilon, neighbours)
                cases += exhaustive(publish, grid, n, epsilon, neighbours, 6 if quick else 12)
    # every data set of up to five points in 16 cells
    for neighbours, n in (
        *(("replace", n) for n in (3, 4, 5)),
        *(("add-remove", n) for n in (3, 4)),
    ):
        if not quick:
            cases += exhaustive(as_adaptive("1", neighbours), MIDDLE, n, "1", neighbours, 6)
    return cases


def adaptive_deep(quick):
    return sum(
        exhaustive(as_adaptive(epsilon), DEEP, 1, epsilon, "replace", 12 if quick else 200)
        for epsilon in ("40", "200", "900")
    )


def sort_everywhere(quick):
    cases = 0
    for neighbours in RELATIONS:
        for grid, n in ((SMALL, 3), (SMALL, 5), (MASKED, 3), (MIDDLE, 1 if quick else 2)):
            for size in [*range(1, n + 2), None, "paper"]:
                publish = as_sort("0.7", neighbours, size)
                cases += exhaustive(publish, grid, n, "0.7", neighbours, 6)
    for size in () if quick else (1, 2, 3):
        cases += exhaustive(as_sort("0.7", "replace", size), MIDDLE, 3, "0.7", "replace", 6)
    return cases


def hybrid_everywhere(quick):
    cases = 0
    for variant in VARIANTS:
        for neighbours in RELATIONS:
            for size in (1, 2, None):
                publish = as_hybrid("300", variant, neighbours, size)
                cases += exhaustive(publish, MASKED, 2, "300", neighbours, 6 if quick else 24)
                cases += exhaustive(publish, MIDDLE, 1 if quick else 2, "300", neighbours, 6)
    return cases


def persons_everywhere(quick):
    cases = 0
    for neighbours in RELATIONS:
        for kind in ("adaptive", "sort"):
            cases += person_exhaustive(kind, SMALL, 2, "1", neighbours, 6 if quick else 60)
        for kind in VARIANTS:
            cases += person_exhaustive(
                kind, MASKED, 1 if quick else 2, "300", neighbours, 6 if quick else 12
            )
    return cases


def questions(quick):
    cases, grid = 0, Grid(0.0, 0.0, 0.25, 8)
    x, y = test_claims.city(3000 if quick else 30_000)
    tables = [count_cells(grid, x, y), table(grid, [0] * x.size), table(grid, [9999] * x.size)]
    for neighbours in RELATIONS:
        for epsilon in ("0.1", "1", "8"):
            for publish in (
                as_adaptive(epsilon, neighbours),
                as_sort(epsilon, neighbours),
                *(as_hybrid(epsilon, variant, neighbours) for variant in VARIANTS),
            ):
                cases += non_interference(publish, tables, seed=7)
    return cases


def tapes(quick):
    cases, grid = 0, Grid(0.0, 0.0, 0.25, 8)
    for seed in range(2 if quick else 20):
        for neighbours in RELATIONS:
            x, y = test_claims.city(2000 + 1000 * seed, seed)
            for epsilon in ("0.1", "1", "8"):
                cases += adaptive_tape(grid, x, y, epsilon, neighbours, seed)
            for size in (1, 17, None, "paper"):
                cases += sort_tape(grid, x, y, "1", neighbours, size, seed)
            for variant in VARIANTS:
                cases += hybrid_tape(grid, x, y, "8", variant, neighbours, None, seed)
    return cases


def paths(quick):
    cases, grid = 0, Grid(0.0, 0.0, 0.125 / 2, 10)
    for seed in range(1 if quick else 5):
        cells = count_cells(grid, *test_claims.city(200_000, seed))
        for epsilon in ("0.01", "0.1", "1", "10", "3.1415926535"):
            for neighbours in RELATIONS:
                cases += budgets_on_paths(publish_adaptive(cells, epsilon, neighbours=neighbours))
    return cases


def honest_box(name, quick):
    most = {"adaptive": 1_000_000, "width-depth": 50_000, "depth-width": 50_000}
    runs = 5000 if quick else most.get(name, 200_000)
    least = shown(name, discrete_laplace, runs)
    assert least <= 1, f"at least {least:.3f} was shown of a mechanism that promises 1"
    return f"2 x {runs:,} runs: eps >= {least:.3f}"


def caught_box(name, quick):
    runs = 5000 if quick else 20_000
    least = shown(name, smaller(4 if name in HYBRIDS else 2), runs)
    assert least > 1, "too little noise went unnoticed"
    return f"2 x {runs:,} runs: eps >= {least:.3f}"


def properties(quick):
    """All property tests on examples that nobody has seen; what they find becomes an @example."""
    return tests_of(".", quick, "-m", "hypothesis", "--hypothesis-profile=searching")


def in_qgis(quick):
    """The same doors in QGIS: who and where the rows of each provider are."""
    return tests_of("qgis/test_doors.py", quick, "-k", "decides_its_own")


def tests_of(path, quick, *options):
    """Files of tests, with more kills and more fuzz than they have by themselves."""
    command = [sys.executable, "-m", "pytest", "-x", *options, str(ROOT / "tests" / path)]
    names = {"KILLS": "100", "FUZZ": "1000", "DOORS": "400", "WATCHED": "40"}
    more = {} if quick else {f"DPSORT_GEO_{name}": many for name, many in names.items()}
    run = subprocess.run(
        command, capture_output=True, text=True, cwd=ROOT, env={**os.environ, **more}
    )
    assert run.returncode == 0, re.findall("(?m)^(?:FAILED|ERROR).*", run.stdout)
    return int(re.findall(r"(\d+) passed", run.stdout)[-1])


CLAIMS = [
    ("adaptive: loss <= eps, attained", "claims.exhaustive", adaptive_everywhere, ()),
    ("adaptive, several steps: loss <= eps", "claims.exhaustive", adaptive_deep, ()),
    ("sort: loss <= eps for every group size", "claims.exhaustive", sort_everywhere, ()),
    ("hybrids: loss <= eps, attained", "claims.exhaustive", hybrid_everywhere, ()),
    ("persons: loss <= eps, all their points", "claims.person_exhaustive", persons_everywhere, ()),
    ("questions follow from answers only", "claims.non_interference", questions, ()),
    ("published = truth + noise, none redrawn", "claims.*_tape", tapes, ()),
    ("no path spends more than its budget", "claims.budgets_on_paths", paths, ()),
    *((f"black box, eps = 1: {name}", "blackbox.shown_epsilon", honest_box, (name,))
      for name in MECHANISMS),
    *((f"too little noise is caught: {name}", "blackbox.shown_epsilon", caught_box, (name,))
      for name in MECHANISMS),
    *((claim, path, tests_of, (path,)) for claim, path in (
        ("every known bug is caught", "privacy/test_mutants.py"),
        ("each person counts once", "privacy/test_persons.py"),
        ("no seeds, no floats, nothing wraps around", "privacy/test_claims.py"),
        ("ledger: exact, atomic, durable", "privacy/test_ledger.py"),
        ("the debit comes before any noise", "privacy/test_debit.py"),
        ("any input: an answer or one sentence", "privacy/test_fuzz.py"),
        ("kill -9, full disk, Ctrl-C: all or nothing", "faults/test_publish_faults.py"),
        ("one record decides its own, at every door", "privacy/test_every_door.py"),
        ("the same at newer doors", "privacy/test_new_doors.py"),
        ("the same in a database", "privacy/test_database_doors.py"),
        ("the same on dask", "privacy/test_engine_doors.py"),
        ("the same on Spark", "privacy/test_spark_doors.py"),
        ("far points are not told by warnings", "privacy/test_far_places.py"),
        ("nothing but the release leaves", "privacy/test_nothing_else_leaves.py"),
        ("categories and dates: loss <= eps", "privacy/test_view_claims.py"),
        ("several points a person: loss <= eps", "privacy/test_several_points.py"),
    )),
    ("one row decides its own, in QGIS", "qgis/inside/doors.py", in_qgis, ()),
    ("properties, on new examples", "tests with @given", properties, ()),
]  # fmt: skip


def judged(number, quick):
    """Run one claim; give its cases, what came out, and how long it took."""
    _, _, check, arguments = CLAIMS[number]
    start = time.perf_counter()
    try:
        cases, result = check(*arguments, quick), "holds"
    except Exception as error:  # a crash is a finding too
        cases, result = "", f"FAILS: {type(error).__name__}: {error}"
    return number, cases, result, time.perf_counter() - start


def row(number, cases, result, seconds):
    """A line of the table."""
    claim, test, *_ = CLAIMS[number]
    shown = f"{cases:,}" if isinstance(cases, int) else cases
    return f"{claim:<48} {test:<32} {shown:>32}  {result}, {seconds:.0f} s"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="fewer cases")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    options = parser.parse_args()
    rows = {}
    with ProcessPoolExecutor(options.jobs) as pool:
        waiting = [pool.submit(judged, number, options.quick) for number in range(len(CLAIMS))]
        for done in as_completed(waiting):
            number, *found = done.result()
            rows[number] = found
            line = row(number, *found)
            print(f"{len(rows)} of {len(CLAIMS)}: {line}", file=sys.stderr, flush=True)
    print(f"{'claim':<48} {'test':<32} {'cases':>32}  result")
    for number, found in sorted(rows.items()):
        print(row(number, *found))
    return int(any(result != "holds" for _, result, _ in rows.values()))


if __name__ == "__main__":
    np.seterr(all="raise", under="ignore")
    sys.exit(main())
