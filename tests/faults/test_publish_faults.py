"""What is left when publishing goes wrong: no half-written file, and no release without its debit.

Everything runs the real command in a process of its own. The audit kills it 100 times.
"""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import dpsort_geo
from dpsort_geo.core.private.ledger import Ledger
from dpsort_geo.core.release import Release

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals and limits are Unix matters")

ROOT = Path(dpsort_geo.__file__).parents[1]
BOX = ["--bounds", "0", "0", "1000", "1000", "--crs", "EPSG:3857"]
#: a release of this kind is larger than the ledger
LARGE = [*BOX, "--method", "sort", "--group-size", "1"]
KILLS = int(os.environ.get("DPSORT_GEO_KILLS", "20"))


def heeds_ctrl_c():
    """What a shell starts in the background ignores Ctrl-C, and so does all that it starts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Place:
    """A folder with private points, a ledger and room for releases."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.points, self.out = path / "points.csv", path / "out.release.json"
        self.ledger = Ledger(path / "ledger.sqlite")

    def command(self, *options, points=None, out=None, dataset="calls"):
        files = [str(points or self.points), str(out or self.out)]
        start = [sys.executable, "-m", "dpsort_geo", "publish", *files, "-e", "3"]
        return [*start, "--dataset", dataset, "--another-name", *(options or BOX)]

    def environment(self):
        # counting lines writes files too, and has its own words for a full disk
        known = {k: v for k, v in os.environ.items() if not k.startswith("COV")}
        return {
            **known,
            "PYTHONPATH": str(ROOT),
            "PYTHONDONTWRITEBYTECODE": "1",
            "DPSORT_GEO_LEDGER": str(self.ledger.path),
        }

    def run(self, *options, points=None, out=None, **more):
        return subprocess.run(
            self.command(*options, points=points, out=out), env=self.environment(),
            capture_output=True, text=True, timeout=300, **more,
        )  # fmt: skip

    def start(self, dataset, points=None, **more):
        return subprocess.Popen(
            self.command(dataset=dataset, points=points), env=self.environment(),
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, preexec_fn=heeds_ctrl_c, **more,
        )  # fmt: skip

    def debits(self, dataset="calls"):
        return len(self.ledger.entries(dataset))

    def leftovers(self):
        known = {self.points.name, self.out.name, self.ledger.path.name}
        return sorted(name for name in os.listdir(self.path) if name not in known)


@pytest.fixture
def place(tmp_path):
    made = Place(tmp_path)
    rng = np.random.default_rng(3)
    np.savetxt(
        made.points, rng.normal(500, 90, (20_000, 2)), "%.3f", ",", header="x,y", comments=""
    )
    made.ledger.limit("another", 1)
    return made


def is_whole(path):
    """Whether a file is a release from the first to the last byte, made as the rule says."""
    return bool(Release.from_json(path.read_text()).verify())


def one_sentence(text):
    """The error is one line for people: no traceback, none of the coordinates."""
    lines = [line for line in text.strip().splitlines() if not line.startswith("Note: ")]
    assert len(lines) == 1 and lines[0].startswith("dpsort-geo: "), text
    assert lines[0].endswith((".", ")")) and "Traceback" not in text
    return lines[0]


def wait_for_debit(place, before, child):
    """Return as soon as the ledger's file changes, or the process has ended."""
    while child.poll() is None and place.ledger.path.stat().st_mtime_ns == before:
        time.sleep(0.001)


def test_kill_9_at_any_moment_leaves_no_half_file_and_no_release_without_its_debit(place):
    """Half of the kills come at any moment, half within milliseconds of the debit."""
    start = time.monotonic()
    assert place.run().returncode == 0
    usual = time.monotonic() - start
    place.out.unlink()
    randomly = random.Random(5)
    seen = set()
    for turn in range(KILLS):
        name, before = f"trial-{turn}", place.ledger.path.stat().st_mtime_ns
        child = place.start(name)
        if turn % 2:
            time.sleep(randomly.uniform(0, 1.1 * usual))
        else:
            wait_for_debit(place, before, child)
            time.sleep(randomly.uniform(0, 0.05))
        child.send_signal(signal.SIGKILL)
        child.communicate()
        debits, written = place.debits(name), place.out.exists()
        assert debits <= 1
        if written:
            assert debits == 1 and is_whole(place.out)
            place.out.unlink()
        seen.add((debits, written))
        for left in place.leftovers():  # what a killed process could not take away
            assert left.startswith("."), "a part of a file has a name that others may take for it"
            (place.path / left).unlink()
    assert len(seen) > 1, "every kill came at the same stage: this shows little"


def test_an_older_release_stays_whole_when_its_successor_is_killed(place):
    assert place.run().returncode == 0
    older = place.out.read_bytes()
    for turn in range(3):
        before = place.ledger.path.stat().st_mtime_ns
        child = place.start(f"trial-{turn}")
        wait_for_debit(place, before, child)
        child.kill()
        child.communicate()
        assert place.out.read_bytes() == older or is_whole(place.out)


def limited(size):
    """No file may grow beyond this size, as on a full disk."""
    import resource

    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def test_a_disk_that_fills_up_while_the_release_is_written_leaves_nothing_behind(place):
    done = place.run(*LARGE, preexec_fn=limited(48 << 10))
    assert done.returncode == 2
    assert "cannot be written" in one_sentence(done.stderr)
    assert not place.out.exists() and not place.leftovers()
    assert place.debits() == 1  # the noise was drawn: the debit stays


def test_a_disk_too_full_for_the_ledger_means_no_release(place):
    done = place.run(*LARGE, preexec_fn=limited(1 << 10))
    assert done.returncode == 2
    assert "nothing was published" in one_sentence(done.stderr)
    assert not place.out.exists() and place.debits() == 0


@contextlib.contextmanager
def small_disk(folder, size):
    folder.mkdir()
    mounted = shutil.which("mount") and os.geteuid() == 0
    options = ["mount", "-t", "tmpfs", "-o", f"size={size}", "none", str(folder)]
    if not mounted or subprocess.run(options, capture_output=True).returncode:
        pytest.skip("a small disk can be mounted by root only")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def test_a_real_disk_that_is_full_leaves_nothing_behind(place):
    with small_disk(place.path / "disk", "32k") as disk:
        done = place.run(*LARGE, out=disk / "out.release.json")
        assert done.returncode == 2
        assert "No space left" in one_sentence(done.stderr)
        assert os.listdir(disk) == []


def bound_by_permissions():
    """Root may write anywhere: take that right from the process that is about to start."""
    import ctypes

    drop_from_bounding_set, override, read_search = 24, 1, 2
    prctl = ctypes.CDLL(None).prctl
    if os.geteuid() == 0:
        for right in (override, read_search):
            prctl(drop_from_bounding_set, right, 0, 0, 0)


def test_a_folder_that_cannot_be_written_costs_no_epsilon(place):
    locked = place.path / "locked"
    locked.mkdir()
    locked.chmod(0o555)
    done = place.run(out=locked / "out.release.json", preexec_fn=bound_by_permissions)
    assert done.returncode == 2
    assert "cannot be written" in one_sentence(done.stderr)
    assert os.listdir(locked) == [] and place.debits() == 0


def test_points_that_cannot_be_read_cost_no_epsilon(place):
    place.points.chmod(0o000)
    done = place.run(preexec_fn=bound_by_permissions)
    assert done.returncode == 2
    assert "points.csv" in one_sentence(done.stderr)
    assert not place.out.exists() and place.debits() == 0


@pytest.mark.parametrize(
    "name, text",
    [("absent.csv", None), ("empty.csv", ""), ("header.csv", "x,y\n"), ("damaged.gpkg", "SQLite"),
     ("words.csv", "x,y\n123.4567,what\n"), ("nan.csv", "x,y\n123.4567,nan\n"),
     ("holes.csv", "x,y\n123.4567,\n"), ("cut.geojson", '{"type":"Feature","geometry":{"123.4567')],
)  # fmt: skip
def test_points_that_are_no_points_cost_no_epsilon_and_are_not_quoted(place, name, text):
    if text is not None:
        (place.path / name).write_text(text)
    done = place.run(points=place.path / name)
    assert done.returncode == 2
    assert "123.4567" not in one_sentence(done.stderr)
    assert not place.out.exists() and place.debits() == 0


def test_a_folder_that_does_not_exist_costs_no_epsilon(place):
    done = place.run(out=place.path / "nowhere" / "out.json")
    assert done.returncode == 2
    assert "no folder" in one_sentence(done.stderr)
    assert place.debits() == 0


def test_a_limit_that_is_reached_means_no_file(place):
    place.ledger.limit("calls", "2.5")
    done = place.run()
    assert done.returncode == 2
    assert "2.5 is left" in one_sentence(done.stderr)
    assert not place.out.exists() and place.debits() == 0


def test_ctrl_c_while_points_are_read_ends_with_130_and_one_sentence(place):
    child = place.start("calls", points="-", stdin=subprocess.PIPE)
    child.stdin.write(b"x,y\n" + b"1.0,2.0\n" * 50_000)  # more than a pipe holds: it is reading now
    child.stdin.flush()
    child.send_signal(signal.SIGINT)
    _, said = child.communicate(timeout=60)
    assert child.returncode == 130
    assert "Stopped" in one_sentence(said.decode())
    assert not place.out.exists() and not place.leftovers() and place.debits() == 0


def test_ctrl_c_around_the_debit_leaves_a_whole_release_or_none(place):
    randomly = random.Random(7)
    for turn in range(4):
        name, before = f"trial-{turn}", place.ledger.path.stat().st_mtime_ns
        child = place.start(name)
        wait_for_debit(place, before, child)
        time.sleep(randomly.uniform(0, 0.03))
        child.send_signal(signal.SIGINT)
        _, said = child.communicate(timeout=60)
        assert child.returncode in (0, 130), said.decode()
        assert not place.leftovers()
        if place.out.exists():
            assert place.debits(name) == 1 and is_whole(place.out)
            place.out.unlink()
        else:
            one_sentence(said.decode())
