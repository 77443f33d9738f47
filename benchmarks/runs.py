"""Long benchmarks in short runs: what is done is kept in a log and not done again."""

from __future__ import annotations

import json
import os
import time
from multiprocessing import Pool
from pathlib import Path
from typing import Any, Callable, List, Optional, Sequence

for _threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_threads, "1")  # one process a core is faster than many threads


def carry_on(
    log: Path,
    tasks: Sequence[Any],
    work: Callable[[Any], Any],
    minutes: Optional[float] = None,
    jobs: int = 2,
) -> List[Any]:
    """What `work` returns for each of the tasks that are done so far, this run's included.

    A task is anything that JSON can hold; so is what `work` returns. After so many minutes no new
    task is begun; run the benchmark again to go on.
    """
    log.parent.mkdir(exist_ok=True)
    lines = log.read_text().splitlines() if log.exists() else []
    done = {json.dumps(task): found for task, found in map(json.loads, lines)}
    todo = [task for task in tasks if json.dumps(task) not in done]
    stop = time.time() + 60 * minutes if minutes is not None else float("inf")
    waiting = (task for task in todo if time.time() < stop)
    with Pool(jobs) as pool, log.open("a") as out:
        while batch := [task for _, task in zip(range(4 * jobs), waiting)]:
            for task, found in zip(batch, pool.imap(work, batch)):
                done[json.dumps(task)] = found
                out.write(json.dumps([task, found]) + "\n")
                out.flush()
    here = [json.dumps(task) for task in tasks]
    finished = [done[key] for key in here if key in done]
    print(f"{len(finished)} of {len(tasks)} tasks are done")
    return finished
