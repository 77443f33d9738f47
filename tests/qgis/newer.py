"""Claims, doors and tour in the QGIS of the machine it runs on, which ``newer.sh`` makes.

python3 -m tests.qgis.newer FOLDER
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any, Callable

from tests.qgis import desktop, fresh_profile
from tests.qgis.tour_claims import CLAIMS

INSIDE = Path(__file__).parent / "inside"


def main(folder: Path) -> int:
    """Try all claims, take the tour, write down what came of them; how many claims do not hold."""
    home = folder / "home"
    plugins = fresh_profile.default_plugins(home)
    fresh_profile.install(plugins, home / "dist")
    made = folder / "made"
    made.mkdir()
    given = {"DPSORT_PLUGINS": str(plugins), "DPSORT_FOLDER": str(made)}
    done = fresh_profile.run_python(INSIDE / "claims.py", home, **given)
    (folder / "claims.txt").write_text(done.stderr + done.stdout, encoding="utf-8")
    failed = re.findall(r"^(?:FAIL|ERROR): (\w+)", done.stderr, re.MULTILINE)
    version = fresh_profile.run_python(INSIDE / "version.py", home).stdout.strip()
    print(version, "claims:", *done.stderr.strip().splitlines()[-3:], *failed, sep="\n")
    doors = fresh_profile.run_python(INSIDE / "doors.py", home, **given)
    (folder / "doors.txt").write_text(doors.stderr + doors.stdout, encoding="utf-8")
    seen = json.loads(doors.stdout.splitlines()[-1]) if doors.returncode == 0 else {}
    entangled = [name for name, door in seen.items() if door["changed"]]
    print(f"doors: {len(seen)}, of which one row decides for others:", *entangled, sep="\n")
    fresh_profile.run_python(INSIDE / "city_files.py", home, str(made), **given)
    found = desktop.tour(made / "calls.gpkg", made / "city.gpkg", folder / "tour")
    missed = [name for name, claim in CLAIMS.items() if not _holds(claim, found)]
    print(f"tour: {len(CLAIMS)} claims", *missed, found.get("error", ""), sep="\n")
    return len(failed + missed + entangled) or done.returncode or doors.returncode


def _holds(claim: Callable[[dict[str, Any]], None], found: dict[str, Any]) -> bool:
    try:
        claim(found)
    except (AssertionError, KeyError):
        return False
    return True


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
