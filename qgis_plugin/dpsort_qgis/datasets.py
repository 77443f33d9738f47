"""Which data set a layer is: its name in the ledger, where its data lies, what was spent on it.

Data in a file or a database has a lasting place, which is its name. A memory layer, a virtual layer
or a query has none: the user names it once, and the layer keeps the name in its custom properties.
"""

import hashlib
from pathlib import Path

from qgis.core import QgsApplication, QgsProviderRegistry, QgsVectorLayer

from ._vendor.dpsort_geo.errors import BadInputError
from ._vendor.dpsort_geo.private.ledger import Entry, Ledger, composed, default_path
from ._vendor.dpsort_geo.private.ledger_names import LONGEST_NAME
from ._vendor.dpsort_geo.rules.budget import exact_epsilon
from .i18n import everywhere, tr
from .origins import file_of, is_query, layers_behind, table_of
from .promise import PROMISE

#: custom properties of layers
_NAME = "dpsort/dataset"
_PUBLISHED = "dpsort/published"


def ledger():
    """The user's own ledger, the same as the shell's and Python's.

    Earlier versions kept one in the QGIS profile; what it holds is taken over.
    """
    book = Ledger(default_path())
    before = Path(QgsApplication.qgisSettingsDirPath()) / "dpsort" / "ledger.sqlite"
    if before.is_file() and before.resolve() != book.path.resolve():
        book.take_over(before)
    return book


def source_of(layer):
    """Where the data of a layer lies, without passwords; nothing when it has no lasting place.

    The same whichever way the data was opened: filters and other options do not count.
    """
    provider = layer.providerType()
    if provider == "memory" or is_query(layer):
        return ""
    where = QgsProviderRegistry.instance().decodeUri(provider, layer.source())
    parts = [
        str(where[part])
        for part in ("host", "port", "dbname", "schema", "table")
        if where.get(part)
    ]
    if where.get("path"):
        parts.append(file_of(layer))
        parts += filter(None, [table_of(layer)])
    return _shortened(" ".join(parts) or layer.publicSource())


def _shortened(source):
    if len(source) <= LONGEST_NAME:
        return source
    return source[:120] + " " + hashlib.sha256(source.encode()).hexdigest()[:40]


def dataset_of(layer, given=""):
    """The name of a layer's data set: as given now, as given before, or where its data lies.

    Nothing when it has none of these.
    """
    return given.strip() or str(layer.customProperty(_NAME) or "") or source_of(layer)


def needed_dataset(layer, given=""):
    """The same; refuses a layer whose releases nobody could add up."""
    name = dataset_of(layer, given)
    if not name:
        raise BadInputError(
            tr(
                "This layer has no lasting place, so that the ledger cannot know it again; give "
                "its data set a name, the same name whenever these points are published."
            )
        )
    return name


def name_dataset(layer, name):
    """Keep the name of a layer's data set with the layer, so that nobody is asked twice.

    Layers behind it that have no lasting place are those points, too.
    """
    if name.strip() and name.strip() != source_of(layer):
        layer.setCustomProperty(_NAME, name.strip())
    for one in layers_behind(layer):
        if not dataset_of(one):
            one.setCustomProperty(_NAME, name.strip())


def check_kept_names(layer, name):
    """Refuse a layer that was published under another name, or one behind it that was."""
    book, behind = ledger(), layers_behind(layer)
    kept = [str(one.customProperty(_NAME) or "") for one in (layer, *behind)]
    kept += [source_of(one) for one in behind]
    _refuse([one for one in kept if one and book.entries(one) not in ([], book.entries(name))])


def check_files(files, name):
    """Refuse files and tables that the ledger knows under another name, and copies of files.

    A file may have been debited as a whole, too.
    """
    whole = [one.partition("|layername=")[0] for one in files]
    _refuse(ledger().other_names([*dict.fromkeys([*files, *whole])], name) if files else [])


def _refuse(others):
    """Points with two names in the ledger: their losses would not add up."""
    if others:
        words = tr(
            "The ledger knows these points, or a copy of them, as {name}; give that as the name of "
            "the data set, so that what is spent adds up."
        )
        raise BadInputError(words.format(name=others[0]))


def spent(name):
    """What all releases of a data set cost together; nothing for a data set without a name."""
    return composed(ledger().entries(name)) if name else composed([])


def total_after(name, epsilon, neighbours, unit="point"):
    """What they will have cost with one release more."""
    before = ledger().entries(name) if name else []
    return composed([*before, Entry(0, "", name, exact_epsilon(epsilon), unit, neighbours, "", "")])


def mark_published(layer):
    """Remember that a layer is a published one."""
    layer.setCustomProperty(_PUBLISHED, True)


def is_published(layer):
    """Whether a layer came out of this plugin: by its mark, or by the statement in its file."""
    if not isinstance(layer, QgsVectorLayer):
        return False
    words = layer.metadata().abstract()
    begins = {text.split("{")[0] for text in everywhere(PROMISE)}
    return bool(layer.customProperty(_PUBLISHED)) or words.startswith(tuple(begins))
