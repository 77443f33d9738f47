"""What a release proves about itself, in the user's language; the library speaks English."""

import re

from .i18n import exact_text, pattern_of, said, tr


def _templates():
    """The library's sentences, English and translated."""
    return [
        (
            "The grid has {a} allowed cells; its mask is sorted and disjoint.",
            tr("The grid has {a} allowed cells; its mask is sorted and disjoint."),
        ),
        (
            "Epsilon is exactly {a} and protects one point.",
            tr("Epsilon is exactly {a} and protects one point."),
        ),
        (
            "Epsilon is exactly {a} and protects one person.",
            tr("Epsilon is exactly {a} and protects one person."),
        ),
        (
            "All {a} counts are what the public rule asks for, at the rates that it asks for.",
            tr("All {a} counts are what the public rule asks for, at the rates that it asks for."),
        ),
        (
            "No path spends more than its budget (at most {a} of {b} units).",
            tr("No path spends more than its budget (at most {a} of {b} units)."),
        ),
        (
            "No cell of any slice spends more than its budget, all views together (at most {a} of "
            "{b} units).",
            tr(
                "No cell of any slice spends more than its budget, all views together (at most {a} "
                "of {b} units)."
            ),
        ),
        (
            "{a} groups of balanced size add up to n = {b}.",
            tr("{a} groups of balanced size add up to n = {b}."),
        ),
        (
            "The noise scale {a} is the sensitivity over epsilon, exactly.",
            tr("The noise scale {a} is the sensitivity over epsilon, exactly."),
        ),
        (
            "{a} blocks of level {b} have a count, as n and epsilon ask.",
            tr("{a} blocks of level {b} have a count, as n and epsilon ask."),
        ),
        (
            "{a} sums inside the blocks follow from the noisy counts.",
            tr("{a} sums inside the blocks follow from the noisy counts."),
        ),
        (
            "A count spends {a} and all sums spend {b} of {c} units of epsilon, as the rule "
            "divides it.",
            tr(
                "A count spends {a} and all sums spend {b} of {c} units of epsilon, as the rule "
                "divides it."
            ),
        ),
    ]


def proof_text(sentence):
    """A sentence of ``Release.verify`` for the user."""
    for english, translated in _templates():
        found = re.fullmatch(pattern_of(english), sentence)
        if found:
            return translated.format(**{k: exact_text(v) for k, v in found.groupdict().items()})
    return said(sentence)
