"""Nothing but the release leaves: what publishing does to the machine, watched from outside.

Two neighbouring data sets are published under strace, with PROJ's network switched on and in a
network namespace that has no network. All sockets, all files that are opened for writing, made,
renamed or removed, and all words that are printed must be the same for both. One record of the
second data set lies where PROJ would want a datum grid, has an odd name, and is far away.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

_CALLS = (
    "network,open,openat,creat,rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,link,linkat,"
    "symlink,symlinkat,truncate,ftruncate,mknod,mknodat,execve"
)
#: NAD27 to WGS 84 needs a datum grid in North America
_CRS = "EPSG:4267"
_BOUNDS = ["--bounds", "-125", "25", "-65", "50", "--crs", "EPSG:4326"]

LEAKING = """
import sys, pathlib, json
import geopandas as gpd, pyproj.network
{leak}
from dpsort_geo.cli import main
main(sys.argv[1:])
"""
#: what such software has done: a cache, a log, a request, a name that holds something of the points
LEAKS = {
    "a cache named after the places": (
        "x = gpd.read_file(sys.argv[2]).geometry.x\n"
        "pathlib.Path(sys.argv[3]).with_name(f'{x.max():.4f}.cache').write_text('')"
    ),
    "a log with a number in it": (
        "x = gpd.read_file(sys.argv[2]).geometry.x\nprint(f'read {x.mean():.6f}', file=sys.stderr)"
    ),
    "a request for what is near": (
        "import socket\nx = gpd.read_file(sys.argv[2]).geometry.x\n"
        "socket.socket().connect_ex(('127.0.0.1', 1024 + int(abs(x.max() * 100))))"
    ),
}


def _can_watch() -> bool:
    if not shutil.which("strace") or not shutil.which("unshare"):
        return False
    probe = ["unshare", "--net", "strace", "-f", "-e", "trace=execve", "true"]
    return subprocess.run(probe, capture_output=True).returncode == 0


pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not _can_watch(), reason="needs root, strace and network namespaces"),
]


def write_points(path: Path, last: tuple[float, float, str]) -> None:
    import geopandas as gpd
    import shapely

    rows = [(-100 - i % 7 / 3, 35 + i % 11 / 2, f"p{i % 50}") for i in range(300)] + [last]
    frame = gpd.GeoDataFrame(
        {"who": [who for _, _, who in rows]},
        geometry=shapely.points([row[:2] for row in rows]),
        crs=_CRS,
    )
    frame.to_file(path)


def watched(
    folder: Path,
    last: tuple[float, float, str],
    options: list[str],
    start: list[str],
    ends: int = 0,
):
    """What publishing did: calls that leave a trace, without what is different in every run."""
    folder.mkdir()
    points, out = folder / "calls.gpkg", folder / "calls.release.json"
    write_points(points, last)
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "PYTHONPATH": str(ROOT),
        "PYTHONDONTWRITEBYTECODE": "1",
        # nothing that depends on how many cores are idle
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "PROJ_NETWORK": "ON",
        "PROJ_USER_WRITABLE_DIRECTORY": str(folder / "proj"),
        "DPSORT_GEO_LEDGER": str(folder / "ledger.sqlite"),
    }
    log = folder.parent / f"{folder.name}.strace"
    done = subprocess.run(
        ["unshare", "--net", "strace", "-f", "-qq", "-s", "256", "-e", f"trace={_CALLS}",
         "-e", "signal=none", "-o", str(log),
         *start, "publish", str(points), str(out), "-e", "1", *_BOUNDS, *options],
        env=environment, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == ends, done.stderr
    assert out.exists() == (ends == 0)
    traces = {line for call in log.read_text().splitlines() if (line := _trace(call, folder))}
    left = sorted(str(p.relative_to(folder)) for p in folder.rglob("*"))
    return traces, left, _plain(done.stdout, folder), _plain(done.stderr, folder)


def _trace(call: str, folder: Path) -> str:
    """A call that leaves something behind; nothing for files that are only read."""
    call = re.sub(r"^\d+ +", "", call)
    if call.startswith(("open", "creat")) and not re.search(r"O_WRONLY|O_RDWR|O_CREAT", call):
        return ""
    if "resumed>" in call or "unfinished" in call and not call.startswith(("socket", "connect")):
        call = call.replace(" <unfinished ...>", "")
    return _plain(re.sub(r"\)?\s+= .*$", "", call), folder)


def _plain(text: str, folder: Path) -> str:
    """Without what is new in every run: the folder, random names of unfinished parts, pids."""
    text = text.replace(str(folder), "FOLDER")
    text = re.sub(r"-[0-9a-f]{8}\b", "-*", text)
    return re.sub(r"\b(0x[0-9a-f]+|pid=\d+|\d+\.\d+ s)\b", "*", text)


ONE = (-101.123, 38.456, "alone")
OTHERS = {
    "place": (-80.987654, 27.123456, "alone"),
    "far place": (100.0, -80.0, "alone"),
    "name": (-101.123, 38.456, "2024-01-01T00:00:00Z' ; \u2603"),
}
#: the audit watches more of them, all over the world
for _i in range(int(os.environ.get("DPSORT_GEO_WATCHED", "0"))):
    OTHERS[f"place {_i}"] = (-180 + 360 * (_i * 0.618 % 1), -89 + 178 * (_i * 0.382 % 1), f"{_i}")
COMMAND = [sys.executable, "-m", "dpsort_geo"]


@pytest.mark.parametrize("options", [[], ["--person", "who"]], ids=["points", "persons"])
def test_one_record_changes_nothing_that_can_be_seen_from_outside(tmp_path, options):
    before = watched(tmp_path / "one", ONE, options, COMMAND)
    for number, last in enumerate(OTHERS.values()):
        after = watched(tmp_path / f"other{number}", last, options, COMMAND)
        for what, one, other in zip(("calls", "files", "output", "messages"), before, after):
            assert one == other, what


#: a version of ours that would leave PROJ's network as it finds it
ONLINE = "pyproj.network.set_network_enabled = lambda *_: None"


def asked_of_others(calls: set[str]) -> list[str]:
    """Calls that ask for something on another machine."""
    return [call for call in calls if call.startswith(("connect", "sendto")) and "INET" in call]


def test_no_socket_is_opened_but_to_this_machine(tmp_path):
    assert not asked_of_others(watched(tmp_path / "one", OTHERS["place"], [], COMMAND)[0])
    script = tmp_path / "online.py"
    script.write_text(LEAKING.format(leak=ONLINE))
    online = [sys.executable, str(script)]
    # nobody answers, so that the grid is missing and nothing is published; but somebody was asked
    assert asked_of_others(watched(tmp_path / "other", OTHERS["place"], [], online, ends=2)[0])


@pytest.mark.parametrize("leak", LEAKS, ids=repr)
def test_a_leak_would_be_seen(tmp_path, leak):
    script = tmp_path / "leaking.py"
    script.write_text(LEAKING.format(leak=LEAKS[leak]))
    start = [sys.executable, str(script)]
    runs = [watched(tmp_path / k, v, [], start) for k, v in (("a", ONE), ("b", OTHERS["place"]))]
    assert runs[0] != runs[1]
