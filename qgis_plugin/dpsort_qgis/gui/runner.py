"""Run an algorithm of the provider as a background task and load what it made."""

from qgis.core import (
    QgsApplication,
    QgsProcessingAlgRunnerTask,
    QgsProcessingContext,
    QgsProcessingFeedback,
    QgsProcessingUtils,
    QgsProject,
)
from qgis.PyQt.QtCore import QObject, pyqtSignal

from ..compat import remember
from ..i18n import tr

#: runs go on when their window is closed, so somebody has to hold them
_RUNNING = set()


class _Feedback(QgsProcessingFeedback):
    """Keeps the sentences of errors and warnings for the window."""

    def __init__(self):
        super().__init__(False)
        self.errors, self.warnings = [], []
        #: the algorithm says here that epsilon is spent
        self.paid = False

    def reportError(self, error, fatalError=False):
        self.errors.append(error)
        super().reportError(error, fatalError)

    def pushWarning(self, warning):
        self.warnings.append(warning)
        super().pushWarning(warning)


class Run(QObject):
    """One run; ``finished`` carries the results, or None and a sentence when there are none."""

    progressed = pyqtSignal(float)
    finished = pyqtSignal(object, str)

    def __init__(self, algorithm_id, parameters):
        super().__init__()
        registry = QgsApplication.processingRegistry()
        self.algorithm = registry.createAlgorithmById(algorithm_id)
        self.parameters = parameters
        self.context = QgsProcessingContext()
        self.context.setProject(QgsProject.instance())
        self.feedback = _Feedback()
        self.context.setFeedback(self.feedback)
        self.task = None

    def problem(self):
        """Why the parameters cannot be used; empty when they can."""
        usable, why = self.algorithm.checkParameterValues(self.parameters, self.context)
        return "" if usable else why

    def start(self):
        """Start the task."""
        _RUNNING.add(self)
        remember(self.algorithm, self.parameters, self.context)
        self.task = QgsProcessingAlgRunnerTask(
            self.algorithm, self.parameters, self.context, self.feedback
        )
        self.task.executed.connect(self._executed)
        self.task.progressChanged.connect(self.progressed)
        QgsApplication.taskManager().addTask(self.task)

    def cancel(self):
        """Ask the task to stop; it looks several times a second. What is paid for is finished."""
        if self.task is not None and not self.feedback.paid:
            self.task.cancel()

    def _executed(self, successful, results):
        _RUNNING.discard(self)
        self.task = None
        if self.feedback.isCanceled():
            # QGIS's own list of tasks can cancel a paid run too; its last warning says what is left
            late = bool(results) and bool(self.feedback.warnings)
            self.finished.emit(None, self.feedback.warnings[-1] if late else tr("Cancelled."))
        elif not successful:
            why = self.feedback.errors[-1] if self.feedback.errors else tr("It did not work.")
            self.finished.emit(None, why)
        else:
            self._load()
            self.finished.emit(results, "")

    def _load(self):
        for target, details in self.context.layersToLoadOnCompletion().items():
            layer = QgsProcessingUtils.mapLayerFromString(
                target, self.context, typeHint=details.layerTypeHint
            )
            if layer is None:
                continue
            details.setOutputLayerName(layer)
            taken = self.context.temporaryLayerStore().takeMapLayer(layer)
            styler = details.postProcessor()
            layer = details.project.addMapLayer(taken or layer, styler is None)
            if styler is not None:
                group = self._group(details.project, styler.group)
                group.insertLayer(0, layer)
                styler.postProcessLayer(layer, self.context, self.feedback)
                for shown in (False, True):  # a group that was empty opens with its first layer
                    group.setExpanded(shown)

    def _group(self, project, name):
        """The group of results of this name, at the top."""
        root = project.layerTreeRoot()
        return root.findGroup(name) or root.insertGroup(0, name)
