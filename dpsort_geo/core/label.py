"""A label for people who decide: what is protected, from whom, how strongly, and what is not.

Everything is read from a release, which is public. Nothing here is an estimate: of how many guesses
an attacker gets right, the label says what no attacker can exceed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from html import escape
from typing import TYPE_CHECKING, List, Optional, Tuple

from .statement import counted_words, unit_words

if TYPE_CHECKING:
    from .release import Release

#: how often a guesser is right before the release is seen, of 100 guesses
BEFORE = (50, 10, 1)


@dataclass(frozen=True)
class Spent:
    """What all releases of one data set cost together, by a ledger."""

    dataset: str
    epsilon: Fraction
    releases: int


@dataclass(frozen=True)
class Label:
    """One page: `text` for a terminal or a mail, `html` for a browser and for print."""

    title: str
    private: bool
    #: right guesses of 100 before and after, for this release and for all of the data set
    odds: Tuple[Tuple[str, Tuple[Tuple[int, float], ...]], ...]
    #: heading, and sentences
    parts: Tuple[Tuple[str, Tuple[str, ...]], ...]

    @property
    def text(self) -> str:
        """The label as plain text."""
        lines = [self.title, "=" * len(self.title), ""]
        for head, sentences in self.parts:
            lines += [head, *(f"  - {sentence}" for sentence in sentences), ""]
        return "\n".join(lines)

    @property
    def html(self) -> str:
        """The label as one page without scripts, which prints on one sheet of A4."""
        sections = "".join(_section(head, sentences) for head, sentences in self.parts)
        alarm = "" if self.private else '<p class="alarm">NOT PRIVATE. Do not publish.</p>'
        return _PAGE.format(
            title=escape(self.title), alarm=alarm, odds=_pictures(self.odds), sections=sections
        )

    def _repr_html_(self) -> str:
        sections = "".join(_section(head, sentences) for head, sentences in self.parts)
        return f"<h3>{escape(self.title)}</h3>{_pictures(self.odds)}{sections}"

    def __str__(self) -> str:
        return self.text


def right_guesses(epsilon: float, before: float) -> float:
    """Of 100 guesses, how many are right at most after a release; rounded up to a tenth.

    Who is right in a share p of all cases before is right in at most p e^eps / (1 - p + p e^eps)
    after, whatever the guess is about, as long as it is about what the release protects.

    >>> right_guesses(1, 50), right_guesses(0.1, 50), right_guesses(1, 1)
    (73.2, 52.5, 2.7)
    """
    share = before / 100
    after = share / (share + (1 - share) * math.exp(-epsilon))
    return min(math.ceil(1000 * after - 1e-9) / 10, 100.0)


def make_label(
    release: Release,
    accuracy: str,
    title: Optional[str] = None,
    spent: Optional[Spent] = None,
) -> Label:
    """The label of a release; ``accuracy`` says in words how far off its points are."""
    if not release.private:
        words = "This release was drawn with a seed: it protects nobody. Do not publish it."
        return Label(title or "Privacy label", False, (), (("Not private", (words,)),))
    odds = [("This release", _odds(release.exact_epsilon))]
    if spent is not None:
        odds.append(("All releases of this data", _odds(spent.epsilon)))
    parts = (
        ("What is protected", _list_protected(release)),
        ("From whom", (
            "From everybody who sees this release or anything made from it, now and later: with "
            "any computer, and whatever else they know about all other people.",
        )),
        ("How strongly", _strength(release, odds[0][1])),
        ("What is not protected", _list_unprotected(release)),
        ("How wrong the numbers are", (
            accuracy,
            "Every count comes with an interval, made so that nine of ten hold the true count. "
            "Counts that are marked as not reliable should not be used alone.",
            "Single dots mean nothing: no dot is the place of a real person.",
        )),
        ("Spent on this data in total", _total(release, spent, odds)),
        ("How to check", (
            f"Mechanism: {release.kind}, exact discrete Laplace noise; {_software(release)}. "
            "'dpsort-geo verify' recomputes from the file that epsilon was not exceeded. That the "
            "noise was drawn honestly is the publisher's word.",
        )),
    )  # fmt: skip
    return Label(title or f"Privacy label: {_what(release)}", True, tuple(odds), parts)


def _software(release: Release) -> str:
    return str(release.statement()["software"])


def _what(release: Release) -> str:
    about = "about " if release.neighbours == "add-remove" else ""
    return f"{about}{release.size:,} {counted_words(release, release.size)}"


def _odds(epsilon: Fraction) -> Tuple[Tuple[int, float], ...]:
    return tuple((before, right_guesses(float(epsilon), before)) for before in BEFORE)


def _list_protected(release: Release) -> Tuple[str, ...]:
    whom = unit_words(release)
    whole = ", with all of its points" if release.unit == "person" else ""
    if release.neighbours == "replace":
        more = " and what else the release says of it" if release.axes else ""
        first = f"Where {whom}{whole} really is{more}."
    else:
        first = f"Whether {whom}{whole} is in the data at all, and so where it is."
    return (first, "Names, other columns and the order of the points are not in the release.")


def _strength(release: Release, odds: Tuple[Tuple[int, float], ...]) -> Tuple[str, ...]:
    about = (
        f"which of two places {unit_words(release)} is at"
        if release.neighbours == "replace"
        else f"whether {unit_words(release)} is in the data"
    )
    before, after = odds[0]
    lines = [
        f"Somebody guesses {about}, and would be right {before} of 100 times. With this release "
        f"at hand they are right at most {after:g} of 100 times."
    ]
    lines += [
        f"Who would be right {before} of 100 times is right at most {after:g} of 100 times."
        for before, after in odds[1:]
    ]
    return (
        *lines,
        f"This is differential privacy with epsilon = {release.epsilon}, which holds by proof.",
    )


def _list_unprotected(release: Release) -> Tuple[str, ...]:
    lines: List[str] = []
    if release.neighbours == "replace":
        lines.append(f"How many there are: {release.size:,} is the exact number, and public.")
    if release.unit == "point":
        ten = right_guesses(10 * float(release.exact_epsilon), BEFORE[0])
        lines.append(
            "All points of one person together. Each point is protected by itself: of a person "
            f"with ten points, {BEFORE[0]} right guesses may become {ten:g} of 100."
        )
    elif release.person:
        lines.append(f"All combinations of one {release.person[0]} together.")
    lines.append(
        "The area covered" + "".join(f", the list of {a.name}" for a in release.axes) + "."
    )
    if release.window is not None and release.neighbours == "replace":
        lines.append("Whether a point lies in the time that the release is about.")
    lines.append(
        "What is true of many people at once, such as that a street is busy: that is what the "
        "release is for. Nor does it protect the original data where they are kept."
    )
    return tuple(lines)


def _total(
    release: Release,
    spent: Optional[Spent],
    odds: "List[Tuple[str, Tuple[Tuple[int, float], ...]]]",
) -> Tuple[str, ...]:
    if spent is None:
        debited = "was" if release.ledger else "was not"
        return (
            "Releases of the same people add up, and this label knows of this one alone: give it "
            f"the publisher's ledger to say the total. This release {debited} entered in a ledger.",
        )
    before, after = odds[-1][1][0]
    return (
        f"The ledger holds {_many(spent.releases)} of '{spent.dataset}', with a total epsilon "
        f"of {_decimal(spent.epsilon)}. Who has all of them, and would be right {before} of 100 "
        f"times without, is right at most {after:g} of 100 times.",
    )


def _many(releases: int) -> str:
    return "1 release" if releases == 1 else f"{releases:,} releases"


def _decimal(value: Fraction) -> str:
    return f"{float(value):.12g}"


def _section(head: str, sentences: Tuple[str, ...]) -> str:
    lines = "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences)
    return f"<section><h2>{escape(head)}</h2><ul>{lines}</ul></section>"


def _pictures(odds: Tuple[Tuple[str, Tuple[Tuple[int, float], ...]], ...]) -> str:
    """Of 100 guesses, drawn as 100 dots: right before, right after at most, wrong."""
    found = []
    for name, rows in odds:
        before, after = rows[0]
        words = f"{name}: of 100 guesses {before} are right before, at most {after:g} after"
        found.append(
            f'<figure><svg viewBox="0 0 206 106" role="img" aria-label="{escape(words)}">'
            f"{_dots(0, before, before)}{_dots(106, before, after)}</svg>"
            f"<figcaption><b>{escape(name)}</b><br>Of 100 guesses {before} are right without it "
            f"(left), <b>at most {after:g}</b> with it (right).</figcaption></figure>"
        )
    return f'<div class="odds">{"".join(found)}</div>' if found else ""


def _dots(left: int, before: int, after: float) -> str:
    """Ten rows of ten, from so far to the right."""
    found = []
    for number in range(100):
        x, y = left + 5 + number % 10 * 10, 5 + number // 10 * 10
        colour = (
            "#1d6fa5" if number < before else "#e0812b" if number < math.ceil(after) else "none"
        )
        found.append(f'<circle cx="{x}" cy="{y}" r="3.6" fill="{colour}" stroke="#8895a5"/>')
    return "".join(found)


_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark;
  --ink: #1c2733; --paper: #fff; --line: #cfd7e0; --soft: #52606f; }}
@media (prefers-color-scheme: dark) {{
  :root {{ --ink: #e6ebf1; --paper: #14191f; --line: #35404c; --soft: #a5b1be; }}
}}
* {{ box-sizing: border-box; }}
body {{ margin: 0 auto; padding: 28px 24px; max-width: 820px;
  background: var(--paper); color: var(--ink);
  font: 15px/1.45 -apple-system, "Segoe UI", Inter, "Helvetica Neue", "Nimbus Sans", Arial,
    sans-serif; }}
h1 {{ font-size: 25px; line-height: 1.2; margin: 0 0 14px; padding-bottom: 10px;
  border-bottom: 3px solid var(--ink); }}
h2 {{ font-size: 16px; margin: 0 0 3px; }}
section {{ padding: 9px 0; border-top: 1px solid var(--line); break-inside: avoid; }}
ul {{ margin: 0; padding-left: 18px; }}
li {{ margin: 2px 0; }}
.odds {{ display: flex; flex-wrap: wrap; gap: 20px 36px; margin: 4px 0 14px; }}
figure {{ margin: 0; width: 250px; }}
figcaption {{ font-size: 14px; color: var(--soft); }}
.alarm {{ padding: 10px 14px; background: #b3261e; color: #fff; font-weight: 700; }}
@media print {{
  @page {{ size: A4; margin: 13mm 15mm; }}
  :root {{ --ink: #000; --paper: #fff; --line: #bbb; --soft: #333; color-scheme: light; }}
  body {{ max-width: none; padding: 0; font-size: 9.6pt; line-height: 1.33; }}
  h1 {{ font-size: 16pt; }} h2 {{ font-size: 11pt; }} figcaption {{ font-size: 9pt; }}
  figure {{ width: 52mm; }} section {{ padding: 1.6mm 0; }}
  circle {{ print-color-adjust: exact; -webkit-print-color-adjust: exact; }}
}}
</style>
</head>
<body>
<main>
<h1>{title}</h1>
{alarm}{odds}
{sections}
</main>
</body>
</html>
"""
