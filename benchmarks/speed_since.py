"""How fast it stayed: the rows of speed.py that an earlier commit has too, old and new in turn.

Each tree runs its own benchmarks/speed.py, without the peers; rounds of the two alternate, and the
least processor time of each counts. The table goes to docs/architecture.md.

    git worktree add ../before 8b7f9e2
    python benchmarks/speed_since.py ../before            # about four minutes
    python benchmarks/speed_since.py ../before --seconds 2 --only isotonic
"""

from __future__ import annotations

import argparse
import itertools
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Optional

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "architecture.md"
MARKS = "<!-- since -->\n", "<!-- end of since -->"
#: how the rows begin that both have, and the benchmark that each is of
ROWS = {
    "Hilbert positions, order 16, 1e+06 cells": "hilbert",
    "Hilbert positions, order 16, 1e+07 cells": "hilbert",
    "positions of 1e+06 coordinates": "positions",
    "discrete Laplace, 1e+05 draws": "noise",
    "isotonic regression, 1e+06 values": "isotonic",
    "projection of 1e+06 points to LAEA": "projection",
    "publish 1e+07 coordinates (positions, table, release)": "publish",
    "WKB GeoParquet of 1e+07 points to release": "stream",
    "release to F and 1e+06 points": "read",
    "count in 1,000 polygons": "read",
    "GeoJSON of 1e+06 points": "write",
    "GeoParquet of 1e+06 points": "write",
}


def serve(root: str) -> None:
    """Time one row of the tree's own speed.py for each line of the input that names it."""
    sys.path.insert(0, str(Path(root, "benchmarks")))
    import speed  # of that tree: it puts its own package first

    assert Path(speed.dp.__file__).is_relative_to(Path(root).resolve())
    latest: list[Callable[[], float]] = []

    def keep_work(*works: Callable[[], Any], rounds: int = 0) -> list[float]:
        latest[:] = [lambda: _time(works[0])]
        return [1.0] * len(works)

    run_alone = speed._in_a_process

    def keep_process(what: str, path: Path) -> dict[str, float]:
        if what == "stream":
            latest[:] = [lambda: run_alone(what, path)["cpu"]]
        return {"cpu": 1.0, "peak": 1.0}

    speed.clock, speed._in_a_process = keep_work, keep_process
    row, rows = "", iter(())
    for line in sys.stdin:
        if line.strip() != row:
            bench = ROWS[line.strip()]
            rows = rows if row and ROWS[row] == bench else speed.BENCHES[bench](1)
            row = line.strip()
            next(result for result in rows if result.name.startswith(row))
        print(latest[0](), flush=True)


def _time(work: Callable[[], Any]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


class Tree:
    """A process that runs the code of one tree."""

    def __init__(self, root: Path) -> None:
        command = [sys.executable, __file__, str(root), "--serve"]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def time(self, row: str) -> float:
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(row + "\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())


def compare(old: Tree, new: Tree, row: str, seconds: float) -> tuple[float, float]:
    """Least processor time of each; who comes first alternates, five rounds at least."""
    best = {old: float("inf"), new: float("inf")}
    spent = old.time(row) + new.time(row)  # caches and tables are warm
    begin = spent
    for k in itertools.count():
        for tree in (old, new) if k % 2 else (new, old):
            taken = tree.time(row)
            best[tree], spent = min(best[tree], taken), spent + taken
        if k >= 4 and spent - begin > seconds:
            return best[old], best[new]


def main(arguments: Optional[list[str]] = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("root", type=Path, help="a checkout of the earlier commit")
    parser.add_argument("--seconds", type=float, default=8, help="of processor time for each row")
    parser.add_argument("--only", nargs="+", choices=sorted({*ROWS.values()}), help="store nothing")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.serve:
        return serve(options.root)
    old, new = Tree(options.root), Tree(ROOT)
    lines = ["| row | before | today | today / before |", "|---|--:|--:|--:|"]
    for row, bench in ROWS.items():
        if options.only is None or bench in options.only:
            before, today = compare(old, new, row, options.seconds)
            times = f"{before * 1e3:.3g} ms | {today * 1e3:.3g} ms | {today / before:.2f}"
            lines.append(f"| {row} | {times} |")
            print(lines[-1], flush=True)
    if options.only is None:
        text = PAGE.read_text("utf-8")
        head, rest = text.split(MARKS[0])
        PAGE.write_text(
            head + MARKS[0] + "\n".join(lines) + "\n" + MARKS[1] + rest.split(MARKS[1])[1]
        )


if __name__ == "__main__":
    main()
