"""The parameters of what and when: categories and a time, with their public values."""

from qgis.core import (
    QgsProcessingParameterBoolean,
    QgsProcessingParameterDateTime,
    QgsProcessingParameterEnum,
    QgsProcessingParameterField,
    QgsProcessingParameterString,
)

from .._vendor.dpsort_geo.errors import BadInputError
from .._vendor.dpsort_geo.rules import mechanism_of
from ..axis_fields import declared_axes, step_words
from ..i18n import tr
from .making_parameters import MakingParameters

#: a release has up to three categories, or one and a time
_ENDINGS = ("", "_2", "_3")


class AxisParameters(MakingParameters):
    """Axes as a user declares them; those of a plan have values and no fields."""

    CATEGORY = "CATEGORY"
    CATEGORIES = "CATEGORIES"
    TIME = "TIME"
    START = "TIME_START"
    STOP = "TIME_STOP"
    STEP = "TIME_STEP"
    UNDATED = "TIME_OTHER"
    #: the parameter of the layer whose fields the axes are, if there is one
    FIELDS_OF = ""

    def add_field(self, name, title, help_text, advanced=False):
        """A field of the private layer."""
        field = QgsProcessingParameterField(
            name, title, parentLayerParameterName=self.FIELDS_OF, optional=True
        )
        self.add(field, help_text, advanced)

    def add_axes(self):
        """Categories, and when."""
        fields = tr("Category: field"), tr("Second category: field"), tr("Third category: field")
        values = (
            tr("Category: public values"),
            tr("Second category: public values"),
            tr("Third category: public values"),
        )
        for ending, field, known in zip(_ENDINGS, fields, values):
            if self.FIELDS_OF:
                words = tr(
                    "What: the published points get a category too, within the same epsilon."
                )
                self.add_field(self.CATEGORY + ending, field, words, advanced=bool(ending))
            self.add(
                QgsProcessingParameterString(self.CATEGORIES + ending, known, optional=True),
                tr(
                    "All values that may be published, separated by commas. They must be known "
                    "without the points; 'other' takes all that is not in the list."
                ),
                advanced=bool(ending),
            )
        self._add_time()

    def _add_time(self):
        timed = bool(self.FIELDS_OF)
        if timed:
            words = tr("When: the published points get a time too, within the same epsilon.")
            self.add_field(self.TIME, tr("Time: field"), words)
        step = QgsProcessingParameterEnum(
            self.STEP, tr("Time: cut into"), step_words(), False, 0 if timed else None, not timed
        )
        self.add(
            step, tr("How long a stretch of time is. Hours of the week need no begin and end.")
        )
        day = QgsProcessingParameterDateTime.Type.Date
        for name, title in ((self.START, tr("Time: begin")), (self.STOP, tr("Time: end"))):
            self.add(
                QgsProcessingParameterDateTime(name, title, day, optional=True),
                tr(
                    "The range must be known without the points; the end is the first day that is "
                    "outside of it. Dates outside go to the nearest stretch."
                ),
            )
        self.add(
            QgsProcessingParameterBoolean(
                self.UNDATED, tr("Time: a stretch for missing dates"), False
            ),
            tr(
                "A stretch of its own for points whose date is missing or cannot be read; without "
                "it they are refused."
            ),
        )

    def axes(self, parameters, context):
        """The axes that the parameters declare."""
        time = "time" if parameters.get(self.STEP) not in (None, "") else ""
        if self.FIELDS_OF:
            time = self.parameterAsString(parameters, self.TIME, context)
        return declared_axes(
            self._categories(parameters, context),
            time,
            self.parameterAsDateTime(parameters, self.START, context).date(),
            self.parameterAsDateTime(parameters, self.STOP, context).date(),
            self.parameterAsEnum(parameters, self.STEP, context) if time else 0,
            self.parameterAsBool(parameters, self.UNDATED, context),
        )

    def _categories(self, parameters, context):
        """Name and typed values of each category."""
        found = []
        for ending in _ENDINGS:
            values = self.parameterAsString(parameters, self.CATEGORIES + ending, context)
            name = f"category{ending}" if values else ""
            if self.FIELDS_OF:
                name = self.parameterAsString(parameters, self.CATEGORY + ending, context)
            if name:
                found.append((name, values))
        return found


def check_method(axes, method):
    """Refuse axes for a mechanism that knows none."""
    try:
        mechanism_of(method, bool(axes))
    except BadInputError:
        raise BadInputError(
            tr("Only the adaptive method knows categories and times; choose that one.")
        ) from None
