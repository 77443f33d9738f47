"""The language of the user: English in the code, other languages from ``i18n/<code>.json``.

English has such a file for sentences of the library that speak of Python's arguments.

Qt would want a compiled .qm file; the plugin repository wants no compiled files. A catalogue is
a JSON object from the English text to its translation, so anybody can read and send one.
"""

import functools
import json
import math
import re
import string
from pathlib import Path

from qgis.core import QgsApplication
from qgis.PyQt.QtCore import QLocale

_FOLDER = Path(__file__).parent / "i18n"


def tr(text):
    """The text in the user's language, or in English where there is no translation."""
    return _catalogue(_language()).get(text, text)


def said(error):
    """The sentence of an error in the user's language; the library's own are English.

    Where those hold names or numbers, the catalogue has {a}, {b} and so on in their places.
    """
    sentence, known = str(error), _catalogue(_language())
    if sentence in known:
        return known[sentence]
    for pattern, translation in _patterns(_language()):
        found = re.fullmatch(pattern, sentence)
        if found:
            parts = {name: _as_written(part) for name, part in found.groupdict().items()}
            return translation.format(**parts)
    return sentence


def _as_written(part):
    """A number of the library as the user writes it; any other text as it is."""
    if re.fullmatch(r"\d{1,3}(,\d{3})+", part):
        return count_text(part.replace(",", ""))
    return exact_text(part) if re.fullmatch(r"\d+\.\d+", part) else part


def everywhere(text):
    """A text in all languages that there are."""
    codes = sorted(path.stem for path in _FOLDER.glob("*.json"))
    return [text, *(_catalogue(code).get(text, text) for code in codes)]


def number_text(value):
    """A number as the user writes it: 0.5 in English, 0,5 in German; six digits at most."""
    return f"{float(value):.6g}".replace(".", user_locale().decimalPoint())


def exact_text(decimal):
    """Decimal text with all of its digits, as the user writes it."""
    return str(decimal).replace(".", user_locale().decimalPoint())


def count_text(count):
    """A whole number as the user writes it, in groups of three digits."""
    return f"{int(count):,}".replace(",", _separator())


def length(metres):
    """A length for people.

    Two digits: an expected error is not known better than that.
    """
    if not math.isfinite(metres):
        return "-"
    digits = 1 - math.floor(math.log10(metres)) if metres > 0 else 0
    rounded = round(metres, digits)
    if rounded >= 1000:
        return f"{number_text(rounded / 1000)}\u00a0km"
    return f"{number_text(rounded)}\u00a0m"


def _language():
    return QgsApplication.locale()[:2].lower()


def user_locale():
    """How the user writes numbers."""
    return QLocale(QgsApplication.locale())


def _separator():
    mark = user_locale().groupSeparator()
    return mark if mark.strip() else "\u00a0"


@functools.cache
def _catalogue(language):
    path = _FOLDER / f"{language}.json"
    if not language.isalpha() or not path.is_file():
        path = _FOLDER / "en.json"
    return json.loads(path.read_text(encoding="utf-8"))


def pattern_of(template):
    """What matches the sentences that a template with {a}, {b} and so on stands for."""
    parts = []
    for text, name, _, _ in string.Formatter().parse(template):
        parts.append(re.escape(text))
        if name:
            parts.append(f"(?P<{name}>.+?)")
    return "".join(parts)


@functools.cache
def _patterns(language):
    """Patterns of the library's sentences with something in them, and their translations."""
    known = _catalogue(language).items()
    return [(pattern_of(text), words) for text, words in known if "{a}" in text]
