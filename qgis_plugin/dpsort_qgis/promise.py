"""The privacy statement of a release in the user's language; in English it is the library's own."""

from .i18n import count_text, exact_text, tr

PROMISE = (
    "Differentially private with epsilon = {epsilon}: {change}, any result would have been at most "
    "exp({epsilon}) times as likely or unlikely."
)


def statement_text(release):
    """The privacy statement in one paragraph."""
    if not release.private:
        return tr("NOT PRIVATE: drawn with a seed, for tests and research. Do not publish.")
    parts = [
        tr(
            "Differentially private with epsilon = {epsilon}: {change}, any result would have been "
            "at most exp({epsilon}) times as likely or unlikely."
        ).format(epsilon=exact_text(release.epsilon), change=_change(release)),
    ]
    if release.unit == "point":
        parts.append(tr("One point is protected, not all points of one person."))
    if release.person:
        words = tr("One such combination is protected, not all points of one {name}.")
        parts.append(words.format(name=release.person[0]))
    parts += _scope(release)
    if not release.ledger:
        parts.append(
            tr("No ledger was debited: nobody adds this release up with others of the same data.")
        )
    return " ".join(parts)


def _change(release):
    words = _elsewhere(release) if release.neighbours == "replace" else _missing(release)
    return words.format(names=_names(release))


def _elsewhere(release):
    if release.unit == "point":
        if release.axes:
            return tr("if one point had been somewhere else or different")
        return tr("if one point had been somewhere else")
    if release.person:
        if release.axes:
            return tr(
                "if one combination of {names}, with all of its points, had been somewhere else or "
                "different"
            )
        return tr("if one combination of {names}, with all of its points, had been somewhere else")
    if release.axes:
        return tr(
            "if one person, with all of that person's points, had been somewhere else or different"
        )
    return tr("if one person, with all of that person's points, had been somewhere else")


def _missing(release):
    if release.unit == "point":
        return tr("if one point had not been there at all")
    if release.person:
        return tr(
            "if one combination of {names}, with all of its points, had not been there at all"
        )
    return tr("if one person, with all of that person's points, had not been there at all")


def _names(release):
    if not release.person:
        return ""
    *first, last = release.person
    return tr("{first} and {last}").format(first=", ".join(first), last=last)


def _scope(release):
    """What else is said, only where it is so."""
    said = []
    if release.max_points is not None:
        words = tr("Up to {count} points of each person are counted, chosen at random.")
        if release.person:
            words = tr(
                "Up to {count} points of each combination of {names} are counted, chosen at random."
            )
        said.append(words.format(count=count_text(release.max_points), names=_names(release)))
    if release.window is not None:
        words = tr("It holds points from {start} until {stop} only.")
        if release.neighbours == "replace":
            words = tr(
                "It holds points from {start} until {stop}; their number is public, and whether a "
                "point lies in that time is not protected."
            )
        said.append(words.format(start=release.window[0], stop=release.window[1]))
    if release.outside == "drop":
        said.append(tr("Points outside of the area were left out."))
    return said
