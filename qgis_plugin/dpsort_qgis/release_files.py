"""Where a release is kept: it was paid for, so its file is real, told, and never overwritten."""

import datetime
import os
import re
from pathlib import Path

from qgis.core import QgsApplication, QgsProcessing, QgsProcessingUtils, QgsProject
from qgis.PyQt.QtCore import QStandardPaths

from ._vendor.dpsort_geo.errors import BadInputError
from .i18n import tr
from .outputs import same_file

ENDING = ".release.json"


def suggest_path(layer_name, epsilon, project=None, folder=None):
    """A free name in a folder, beside the project, or among the user's documents."""
    stem = re.sub(r"[^\w.-]+", "_", layer_name).strip("._")[:60] or "points"
    day = datetime.date.today().isoformat()
    return free_path(Path(folder or _folder(project)) / f"{stem}_eps{epsilon}_{day}{ENDING}")


def _folder(project):
    beside = (project or QgsProject.instance()).absolutePath()
    documents = QStandardPaths.StandardLocation.DocumentsLocation
    for place in (beside, QStandardPaths.writableLocation(documents)):
        if place and Path(place).is_dir():
            return Path(place)
    return Path.home()


def free_path(path):
    """The path itself, or with the first number at which nothing lies yet."""
    path, number = Path(path), 1
    ending = ENDING if path.name.endswith(ENDING) else path.suffix
    stem = path.name[: len(path.name) - len(ending)]
    free = path
    while os.path.lexists(free):
        number += 1
        free = path.parent / f"{stem}_{number}{ending}"
    return free


def is_temporary(value, path):
    """Whether an output is one that QGIS would delete when it ends."""
    if not path or value in (None, "", QgsProcessing.TEMPORARY_OUTPUT):
        return True
    folder = os.path.realpath(QgsProcessingUtils.tempFolder())
    return os.path.realpath(path).startswith(folder + os.sep)


def check_free(path):
    """Refuse a file that is there: it may be a release that was paid for."""
    if os.path.lexists(path):
        words = tr(
            "{path} is there already, and what was paid for is never overwritten; {free} is free."
        )
        raise BadInputError(words.format(path=path, free=free_path(path)))


def spare_releases(outputs, read=""):
    """Refuse to write anything over a release, be it the one that is ``read`` or another."""
    for path in filter(None, outputs):
        known = path.lower().endswith(ENDING) or (read and same_file(path, read))
        if known and os.path.lexists(path):
            words = tr("{path} is a release; choose another file for what is made of it.")
            raise BadInputError(words.format(path=path))


def save_release(release, path):
    """Write a release that is paid for, at another place if it must be; gives the place."""
    spare = Path(QgsApplication.qgisSettingsDirPath()) / "dpsort"
    for folder in (Path(path).parent, _folder(None), Path.home()):
        free = free_path(folder / Path(path).name)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            release.save(free)
        except (BadInputError, OSError):
            continue
        return str(free)
    free = free_path(spare / Path(path).name)
    release.save(free)
    return str(free)


def title_of(path):
    """What a release is called: its file's name without what `suggest_path` adds to it."""
    stem = re.sub(r"(\.release)?\.json$", "", Path(path).name)
    return re.sub(r"_eps[\d.]+_\d{4}-\d\d-\d\d(_\d+)?$", "", stem) or stem
