"""The paper's experiments again, figure by figure: writes docs/paper.md and its pictures.

    python benchmarks/paper.py            # all of it, some minutes
    python benchmarks/paper.py --runs 5   # fewer repetitions, noisier numbers

Every number on the page is computed by this run.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import datasets
import numpy as np
from paper_error import (
    best_k,
    bias,
    error_against_k,
    expected_error,
    generalisation,
    ratio_across_eps,
    slips,
)
from paper_page import ROOT, Page, available
from paper_printed import printed, steps
from paper_uses import density, median, ranges

EXPERIMENTS = (
    expected_error,
    ratio_across_eps,
    error_against_k,
    generalisation,
    best_k,
    bias,
    density,
    ranges,
    median,
    slips,
    printed,
    steps,
)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=25, help="repetitions, more is less noise")
    runs = parser.parse_args().runs
    page = Page()
    page.text(
        "# The paper's experiments, run again",
        '"Publishing Location Dataset Differential Privately with Isotonic Regression" (C. Fang '
        "and "
        "E.-C. Chang), figure by figure, with this library's code. Written by `python "
        "benchmarks/paper.py`, numbers and verdicts included. Printed numbers are from "
        "the paper's source; what it shows in pictures only is not compared. This page: "
        f"{runs} repetitions.",
        "Data: equally spaced points, a repeated value, and "
        + ", ".join(f"{name} ({len(datasets.places(name)):,} points)" for name in available())
        + ". Tweets are counts of the western USA on 256 x 256 cells (DPBench), the nearest to the "
        "paper's first set that can be had; the room is a tenth of its second (Kaluza et al. "
        "2010); "
        "residents are the invented ones of `dpsort-geo demo`. "
        '"sort, paper" has the paper\'s decoder and its recipe for k; "sort, default" ours; '
        '"adaptive" is the library\'s default release on the same cells, for orientation.',
    )
    for seed, step in enumerate(EXPERIMENTS):
        began = time.time()
        step(page, runs, np.random.default_rng([2012, seed]))
        spent = time.time() - began
        print(f"{seed + 1}/{len(EXPERIMENTS)} in {spent:.0f} s", file=sys.stderr, flush=True)
    (ROOT / "docs" / "paper.md").write_text("\n".join(page.lines))
    print("written to docs/paper.md")


if __name__ == "__main__":
    main()
