"""What a publisher should know before paying: said on the card, before paying, and in the log."""

from ._vendor.dpsort_geo.rules.budget import HIGH_EPSILON
from .i18n import number_text, tr


def doubts(filtered=False, selected=False, epsilon=0.0, total=0.0, queried=False):
    """Sentences about what the guarantee does not cover, or hardly."""
    found = []
    if selected:
        found.append(
            tr(
                "Only the selected features are published. If they were selected by looking at "
                "the data, the selection itself tells something that epsilon does not cover."
            )
        )
    if filtered:
        found.append(
            tr(
                "The layer has a filter. If it was chosen by looking at the data, the filter "
                "itself tells something that epsilon does not cover."
            )
        )
    if queried:
        found.append(
            tr(
                "The layer is a query. Epsilon covers its rows as they come out: where one row "
                "can let another in or out, or several become one, it promises less."
            )
        )
    if epsilon > HIGH_EPSILON:
        found.append(tr("An epsilon above 3 promises little privacy."))
    elif total > HIGH_EPSILON:
        words = tr(
            "With this release, epsilon {total} will have been spent on this data set in all, "
            "and above 3 there is little privacy left."
        )
        found.append(words.format(total=number_text(total)))
    return found


def suggest_boundary():
    """For an area that is a box."""
    return tr(
        "The area is a box. If points lie on land or within a city limit only, a boundary layer "
        "gives a better map for the same epsilon."
    )
