"""The language of the user: English in the code, other languages from ``i18n/<code>.json``.

Qt would want a compiled .qm file; the plugin repository wants no compiled files. A catalogue is
a JSON object from the English text to its translation, so anybody can read and send one.
"""

import functools
import json
from pathlib import Path

from qgis.core import QgsApplication

_FOLDER = Path(__file__).parent / "i18n"


def tr(text):
    """The text in the user's language, or in English where there is no translation."""
    return _catalogue(QgsApplication.locale()[:2].lower()).get(text, text)


def said(error):
    """The sentence of an error in the user's language; the library's own are English."""
    sentence = str(error)
    return _catalogue(QgsApplication.locale()[:2].lower()).get(sentence, sentence)


@functools.cache
def _catalogue(language):
    path = _FOLDER / f"{language}.json"
    if not language.isalpha() or not path.is_file():
        return {}
    return json.loads(path.read_text(encoding="utf-8"))
